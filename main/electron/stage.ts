import { Menu, Tray } from 'electron';
import { join } from 'node:path';
import type { App } from '../app.ts';
import type { Log } from '../base/log.ts';
import type { ChangeEvent } from '../contract/status.ts';
import { type MenuActions, trayStatus, trayTemplate } from './menu.ts';
import type { MainWindow } from './window.ts';

/**
 * What a user sees of the engine: the tray from its first start on, and the window while it serves. A page that is
 * wanted earlier is shown then.
 */
export function createStage(options: {
  /** The page requested by a link of the system, or null. */
  page: string | null;
  iconsDir: string;
  window: Pick<MainWindow, 'show'>;
  actions: MenuActions;
  /** Begins to notify of the changes of the engine that serves. */
  notify: () => void;
  ended: AbortSignal;
  log: Log;
}) {
  const { iconsDir, window, actions, notify, ended, log } = options;
  let engine: App | null = null;
  let tray: StatusTray | null = null;
  let { page } = options;
  let isWanted = page !== null;

  function show(wanted: string | null): void {
    isWanted = engine === null;
    page = wanted;
    if (engine !== null) window.show(wanted);
  }

  return {
    engine: () => engine,
    hasTray: () => tray !== null,
    removeTray: () => tray?.remove(),
    show,
    /** Whether the window is shown once the engine serves, which `alsoNow` can only add. */
    want: (alsoNow: boolean): boolean => (isWanted ||= alsoNow),
    /** Shows what an engine does, from its start on. */
    follow(started: App): void {
      engine = started;
      const { http, https, dns, control } = started.runtime;
      log.info('Vivarium serves', { http: http.port, https: https.port, dns: dns.port, control: control.url });
      const shown = (tray ??= createTray(iconsDir, actions));
      followStatus(started, ended, (status) => shown.update(status)).catch((error: unknown) =>
        log.warn('The tray no longer follows', { error }),
      );
      notify();
      if (isWanted) show(page);
    },
    /** The engine failed, and another one starts. */
    lose(): void {
      engine = null;
      tray?.update(['Vivarium failed and is starting again']);
    },
  };
}

/** macOS colours template images itself and finds `@2x` files by name. */
const ICONS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'trayTemplate.png', win32: 'vivarium.ico' };

type StatusTray = ReturnType<typeof createTray>;

function createTray(iconsDir: string, actions: MenuActions) {
  const tray = new Tray(join(iconsDir, ICONS[process.platform] ?? 'tray.png'));
  tray.on('click', actions.showWindow);
  return {
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
async function followStatus(
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
