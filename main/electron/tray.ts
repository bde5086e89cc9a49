import { Menu, Tray } from 'electron';
import { join } from 'node:path';
import type { App } from '../app.ts';
import type { ChangeEvent } from '../contract/events.ts';
import { type MenuActions, trayStatus, trayTemplate } from './menu.ts';

/** macOS colours template images itself and finds `@2x` files by name. */
const ICONS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'trayTemplate.png', win32: 'vivarium.ico' };

export type StatusTray = ReturnType<typeof createTray>;

export function createTray(iconsDir: string, actions: MenuActions) {
  const tray = new Tray(join(iconsDir, ICONS[process.platform] ?? 'tray.png'));
  tray.on('click', actions.showWindow);
  return {
    /** Shows the status lines. */
    update(status: readonly string[]): void {
      tray.setToolTip(['Vivarium', ...status].join('\n'));
      tray.setContextMenu(Menu.buildFromTemplate(trayTemplate(status, actions)));
    },
    remove: (): void => tray.destroy(),
  };
}

/** Events after which the status may have changed. */
const STATUS_EVENTS: ReadonlySet<ChangeEvent['type']> = new Set([
  'ready',
  'lagged',
  'clock.changed',
  'settings.changed',
  'projects.changed',
  'domains.changed',
]);

/** Calls back with the status now and after every change, until `signal` aborts. */
export async function followStatus(
  { services }: Pick<App, 'services'>,
  signal: AbortSignal,
  tell: (status: readonly string[]) => void,
): Promise<void> {
  const context = { signal };
  for await (const { type } of await services.events.watch(undefined, context)) {
    if (signal.aborted) return;
    if (STATUS_EVENTS.has(type)) tell(trayStatus(await services.status.get(undefined, context)));
  }
}
