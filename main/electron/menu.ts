import type { ContextMenuParams, EditFlags, MenuItemConstructorOptions, NavigationHistory } from 'electron';
import type { StatusReport } from '../contract/status.ts';
import { isPageUrl } from './rules.ts';

export interface MenuActions {
  showWindow: () => void;
  openInBrowser: () => void;
  showLogs: () => void;
  showDataFolder: () => void;
  prepareToRemove: () => void;
  showReleases: () => void;
  goBack: () => void;
  goForward: () => void;
  quit: () => void;
}

/** A setting that the menu switches on and off. */
export interface MenuChoice {
  label: string;
  isOn(): boolean;
  /** @throws Error when it cannot be changed */
  set(on: boolean): void;
}

const SEPARATOR: MenuItemConstructorOptions = { type: 'separator' };

const roles = (...names: NonNullable<MenuItemConstructorOptions['role']>[]): MenuItemConstructorOptions[] =>
  names.map((role) => ({ role }));

/**
 * The menu of the window, and of the app on macOS, following each platform's conventions.
 * @param onFault called with a choice that could not be changed
 * @param newer the newer version that is available
 */
export function menuTemplate(
  platform: NodeJS.Platform,
  actions: MenuActions,
  choices: readonly MenuChoice[] = [],
  onFault: (label: string, error: unknown) => void = () => undefined,
  newer: string | null = null,
): MenuItemConstructorOptions[] {
  const isMac = platform === 'darwin';
  const about: MenuItemConstructorOptions = { role: 'about', label: 'About Vivarium' };
  const quit: MenuItemConstructorOptions = {
    label: platform === 'win32' ? 'E&xit Vivarium' : 'Quit Vivarium',
    accelerator: platform === 'win32' ? undefined : 'CommandOrControl+Q',
    click: actions.quit,
  };
  const open: MenuItemConstructorOptions[] = [
    { label: 'Open in Browser', click: actions.openInBrowser },
    { label: 'Show Data Folder', click: actions.showDataFolder },
    ...(choices.length === 0 ? [] : [SEPARATOR]),
    ...choices.map((choice) => checkbox(choice, onFault)),
  ];
  return [
    ...(isMac ? [{ label: 'Vivarium', submenu: macAppMenu(about, quit) }] : []),
    {
      label: isMac ? 'File' : '&File',
      submenu: [...open, SEPARATOR, { role: 'close' }, ...(isMac ? [] : [SEPARATOR, quit])],
    },
    { label: isMac ? 'Edit' : '&Edit', submenu: EDIT },
    {
      label: isMac ? 'View' : '&View',
      submenu: [
        { label: 'Back', accelerator: isMac ? 'Command+[' : 'Alt+Left', click: actions.goBack },
        { label: 'Forward', accelerator: isMac ? 'Command+]' : 'Alt+Right', click: actions.goForward },
        { role: 'reload' },
        ...[SEPARATOR, ...roles('resetZoom', 'zoomIn', 'zoomOut')],
        ...[SEPARATOR, ...roles('togglefullscreen'), SEPARATOR, ...roles('toggleDevTools')],
      ],
    },
    { role: 'windowMenu' },
    {
      role: 'help',
      submenu: [
        ...(newer === null ? [] : [{ label: `Get Vivarium ${newer}…`, click: actions.showReleases }, SEPARATOR]),
        { label: 'Show Logs', click: actions.showLogs },
        { label: 'Prepare to Remove…', click: actions.prepareToRemove },
        ...(isMac ? [] : [SEPARATOR, about]),
      ],
    },
  ];
}

const EDIT: MenuItemConstructorOptions[] = [
  ...[...roles('undo', 'redo'), SEPARATOR],
  ...[...roles('cut', 'copy', 'paste', 'delete'), SEPARATOR],
  ...roles('selectAll'),
];

/** What a menu at the pointer depends on. */
type Pointed = Pick<ContextMenuParams, 'linkURL' | 'selectionText' | 'isEditable'> & {
  editFlags: Pick<EditFlags, 'canCut' | 'canCopy' | 'canPaste' | 'canSelectAll'>;
};

/**
 * The menu at the pointer, where the page shows none of its own. Links to pages of the app are left out: nothing else
 * can open them.
 */
export function contextTemplate(
  { linkURL, selectionText, isEditable, editFlags }: Pointed,
  history: Pick<NavigationHistory, 'canGoBack' | 'canGoForward'>,
  actions: Pick<MenuActions, 'goBack' | 'goForward'> & { copy: (text: string) => void },
): MenuItemConstructorOptions[] {
  const { canCut, canCopy, canPaste, canSelectAll } = editFlags;
  const isLink = linkURL !== '' && !isPageUrl(linkURL);
  const edit: MenuItemConstructorOptions[] = [
    ...(isEditable ? [{ role: 'cut', enabled: canCut } as const] : []),
    { role: 'copy', enabled: canCopy },
    ...(isEditable ? [{ role: 'paste', enabled: canPaste } as const] : []),
    SEPARATOR,
    { role: 'selectAll', enabled: canSelectAll },
  ];
  const move: MenuItemConstructorOptions[] = [
    { label: 'Back', enabled: history.canGoBack(), click: actions.goBack },
    { label: 'Forward', enabled: history.canGoForward(), click: actions.goForward },
    { role: 'reload' },
  ];
  return [
    ...(isLink ? [{ label: 'Copy Link', click: () => actions.copy(linkURL) }, SEPARATOR] : []),
    ...(isEditable || selectionText !== '' ? edit : move),
  ];
}

/** Shows the actual state, also after a failed change. */
function checkbox(
  { label, isOn, set }: MenuChoice,
  onFault: (label: string, error: unknown) => void,
): MenuItemConstructorOptions {
  return {
    label,
    type: 'checkbox',
    checked: isOn(),
    click(item) {
      try {
        set(item.checked);
      } catch (error) {
        onFault(label, error);
      }
      item.checked = isOn();
    },
  };
}

const macAppMenu = (
  about: MenuItemConstructorOptions,
  quit: MenuItemConstructorOptions,
): MenuItemConstructorOptions[] => [
  ...[about, SEPARATOR],
  ...[...roles('services'), SEPARATOR],
  ...[...roles('hide', 'hideOthers', 'unhide'), SEPARATOR],
  quit,
];

/** The tray icon's menu: status lines, then actions. */
export function trayTemplate(status: readonly string[], actions: MenuActions): MenuItemConstructorOptions[] {
  return [
    ...status.map((label): MenuItemConstructorOptions => ({ label, enabled: false })),
    SEPARATOR,
    { label: 'Open Vivarium', click: actions.showWindow },
    { label: 'Open in Browser', click: actions.openInBrowser },
    SEPARATOR,
    { label: 'Quit Vivarium', click: actions.quit },
  ];
}

type TrayReport = Pick<StatusReport, 'ports' | 'warnings'> & {
  counts: Pick<StatusReport['counts'], 'projects' | 'domains'>;
};

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The longest line sets the width of the menu. */
const LINE_LENGTH_MAX = 80;
const WARNINGS_MAX = 3;

/** Status lines of the tray's menu: addresses, what is served, and warnings. */
export function trayStatus({ ports, counts, warnings }: TrayReport): string[] {
  const listening = [
    `HTTP ${ports.http}`,
    `HTTPS ${ports.https}`,
    ...(ports.dns === undefined ? [] : [`DNS ${ports.dns}`]),
  ];
  const surplus = warnings.length - WARNINGS_MAX;
  return [
    `Serving ${listening.join(', ')}`,
    `${counted(counts.projects, 'project')}, ${counted(counts.domains, 'custom domain')}`,
    ...warnings.slice(0, WARNINGS_MAX).map((warning) => `! ${shorten(warning)}`),
    ...(surplus > 0 ? [`! and ${surplus} more`] : []),
  ];
}

const shorten = (text: string): string =>
  text.length <= LINE_LENGTH_MAX ? text : `${text.slice(0, LINE_LENGTH_MAX - 1).trimEnd()}…`;
