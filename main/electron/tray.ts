import { Menu, Tray } from 'electron';
import { join } from 'node:path';
import { type MenuActions, trayTemplate } from './menu.ts';

/** macOS colours a template image itself; `@2x` files are found by their names. */
const ICONS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'trayTemplate.png', win32: 'vivarium.ico' };

export interface StatusTray {
  /** Shows what is going on, in lines. */
  update(status: readonly string[]): void;
  remove(): void;
}

export function createTray(iconsDir: string, actions: MenuActions): StatusTray {
  const tray = new Tray(join(iconsDir, ICONS[process.platform] ?? 'tray.png'));
  tray.on('click', actions.showWindow);
  return {
    update(status) {
      tray.setToolTip(['Vivarium', ...status].join('\n'));
      tray.setContextMenu(Menu.buildFromTemplate(trayTemplate(status, actions)));
    },
    remove: () => tray.destroy(),
  };
}
