import type { Menu, MenuItem, MenuItemConstructorOptions, Tray } from 'electron';
import { existsSync } from 'node:fs';
import { requireReady } from './app.ts';
import { fault } from './driver.ts';
import { refuseUnknown, StrictEmitter, strictly, type Typed } from './strict.ts';

const ITEM_OPTIONS = ['label', 'role', 'type', 'submenu', 'click', 'accelerator', 'enabled', 'checked'];

/** The menu roles in use here; the system implements them. */
const ROLES = [
  ...['about', 'close', 'copy', 'cut', 'delete', 'help', 'hide', 'hideOthers', 'paste', 'redo', 'reload'],
  ...['resetZoom', 'selectAll', 'services', 'toggleDevTools', 'togglefullscreen', 'undo', 'unhide', 'windowMenu'],
  ...['zoomIn', 'zoomOut'],
];

/** As documented in "Keyboard Shortcuts"; Electron silently ignores others. */
const ACCELERATOR =
  /^((Command|Cmd|Control|Ctrl|CommandOrControl|CmdOrCtrl|Alt|Option|AltGr|Shift|Super|Meta)\+)*([\dA-Z]|F\d{1,2}|Plus|Space|Tab|Enter|Escape|Delete|Left|Right|[,./;'=[\]\\-])$/;

function build(template: readonly (MenuItemConstructorOptions | MenuItem)[]): Menu {
  const items = template.map((given) => {
    const options = given as MenuItemConstructorOptions;
    refuseUnknown('a menu item', options, ITEM_OPTIONS);
    const { label = '', role, type = 'normal', submenu, click, enabled = true, checked = false } = options;
    if (role !== undefined && !ROLES.includes(role)) fault(`does not know the role "${role}" of a menu item.`);
    if (label === '' && role === undefined && type !== 'separator') throw new Error('A menu item needs a label.');
    const accelerator = options.accelerator ?? null;
    if (accelerator !== null && !ACCELERATOR.test(accelerator)) fault(`does not know the keys "${accelerator}".`);
    if (role !== undefined && click !== undefined)
      fault(`calls no click of the role "${role}", as Electron calls none.`);
    const item = {
      label,
      role,
      type,
      enabled,
      checked,
      submenu: Array.isArray(submenu) ? build(submenu) : undefined,
      click() {
        // As documented: before the program is notified.
        if (type === 'checkbox') item.checked = !item.checked;
        (click as ((clicked: object) => void) | undefined)?.(item);
      },
    };
    return strictly('a menu item', item) as unknown as MenuItem;
  });
  const menu = strictly('a menu', { items, popup: () => void menus.push(menu) }) as unknown as Menu;
  return menu;
}

/** The menus that were shown at the pointer, for the test to inspect and click. */
export const menus: Menu[] = [];

let applicationMenu: Menu | null = null;

const ownMenu = strictly('Menu', {
  buildFromTemplate: build,
  setApplicationMenu(menu: Menu | null) {
    applicationMenu = menu;
  },
  getApplicationMenu: () => applicationMenu,
} satisfies Partial<typeof Menu>);
export { ownMenu as Menu };

/** The icons in the tray, for the test to inspect and click. */
export const trays: StandInTray[] = [];

class StandInTray extends StrictEmitter implements Typed<Tray, StandInTray> {
  toolTip = '';
  menu: Menu | null = null;
  #destroyed = false;

  constructor(icon: string) {
    super('Tray', ['click', 'double-click']);
    requireReady('Tray');
    if (!existsSync(icon)) throw new Error(`Failed to load image from path '${icon}'`);
    trays.push(this);
  }

  setToolTip(toolTip: string): void {
    this.toolTip = toolTip;
  }

  setContextMenu(menu: Menu | null): void {
    this.menu = menu;
  }

  destroy(): void {
    this.#destroyed = true;
    trays.splice(trays.indexOf(this), 1);
  }

  isDestroyed(): boolean {
    return this.#destroyed;
  }
}

const constructed = new Proxy(StandInTray, {
  construct: (target, [icon]: [string]) => strictly('Tray', new target(icon)),
});
export { constructed as Tray };
