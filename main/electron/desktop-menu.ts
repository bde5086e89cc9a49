import { app, Menu } from 'electron';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../app.ts';
import { realTime } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { messageOf } from '../base/error-code.ts';
import type { Log } from '../base/log.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import { historyActions } from './navigation.ts';
import { type LoginItem, openLoginItem, type SystemShell } from './system.ts';
import { type MenuActions, type MenuChoice, menuTemplate } from './menu.ts';
import { releasesOf, RELEASES_VARIABLE, watchVersions } from './newer-version.ts';
import { createNotifier, showNotification } from './stage.ts';
import type { DesktopMemory } from './window-state.ts';
import type { ShowMessage } from './window.ts';

/** The menu's actions and choices, which the tray has too in part, and the notifications that it switches. */
export function createDesktopMenu(options: {
  config: Config;
  isUsual: boolean;
  homepage: unknown;
  /** Runs `vivarium uninstall`; resolves with its output. */
  prepareRemoval: () => Promise<string>;
  /** The one that serves, if any. */
  engine: () => App | null;
  log: Log;
  logsDir: string;
  memory: DesktopMemory;
  systemShell: SystemShell;
  showMessage: ShowMessage;
  showWindow: () => void;
  quit: () => void;
  ended: AbortSignal;
}) {
  const { config, engine, log, logsDir, memory, systemShell, showMessage, showWindow, quit, ended } = options;
  const { prepareRemoval } = options;
  const { openPath } = systemShell;
  const releases = releasesOf(options.homepage, process.env[RELEASES_VARIABLE]);
  let loginItem: LoginItem | null = null;
  const notify = createNotifier({ engine, memory, ended, log, onClick: showWindow });
  const tellFault = (message: string, error: unknown) => {
    log.error(message, { error });
    void showMessage({ type: 'error', message, detail: messageOf(error) });
  };
  const actions: MenuActions = {
    showWindow,
    openInBrowser() {
      const serving = engine();
      if (serving !== null) void systemShell.openExternal(serving.signInLink());
    },
    showLogs: () => openPath(logsDir),
    showDataFolder: () => openPath(config.dataDir),
    prepareToRemove() {
      prepareToRemove({ prepareRemoval, loginItem, logsDir, openPath, showMessage }).catch((error: unknown) =>
        tellFault('The removal could not be prepared', error),
      );
    },
    showReleases() {
      if (releases !== null) void systemShell.openExternal(releases.page);
    },
    ...historyActions,
    quit,
  };

  /** Shows the menu, and watches for newer versions, which it names. Call after `ready`. */
  function install(): void {
    if (app.isPackaged && options.isUsual) loginItem = openLoginItem(process.env, homedir());
    const choices: MenuChoice[] = loginItem === null ? [] : [{ label: 'Start at Login', ...loginItem }];
    choices.push({
      label: 'Notify of Lost Domains and Banned Keys',
      isOn: () => memory.get().notifies,
      set(notifies) {
        memory.set({ notifies });
        notify();
      },
    });
    const tellChoice = (label: string, error: unknown) => tellFault(`“${label}” could not be changed`, error);
    const showMenu = () => {
      const template = menuTemplate(process.platform, actions, choices, tellChoice, versions?.newer());
      Menu.setApplicationMenu(Menu.buildFromTemplate(template));
    };
    const onNewer = (version: string) => {
      showMenu();
      const title = `Vivarium ${version} is available`;
      const body = 'Help → Get Vivarium opens the page of its releases.';
      showNotification({ title, body }, actions.showReleases);
    };
    const versions = config.ephemeral ? null : watchVersions({ releases, memory, time: realTime, log, onNewer });
    if (versions !== null) choices.push(versions);
    showMenu();
    versions?.start();
  }

  return { actions, notify, install };
}

interface RemovalOptions {
  /** Runs `vivarium uninstall`; resolves with its output. */
  prepareRemoval: () => Promise<string>;
  /** Null where there is none. */
  loginItem: LoginItem | null;
  logsDir: string;
  openPath: (path: string) => void;
  showMessage: ShowMessage;
}

/**
 * *Prepare to Remove*: takes the root out of the trust stores, undoes the ledger of machine changes, ends the start at
 * login, and opens a list of other remaining changes with the commands that undo them. Asks first; the system's
 * removes the app itself.
 */
async function prepareToRemove(options: RemovalOptions): Promise<void> {
  const { prepareRemoval, loginItem, logsDir, openPath, showMessage } = options;
  const response = await showMessage({
    type: 'question',
    message: 'Prepare to remove Vivarium?',
    detail:
      'This takes Vivarium’s root out of the trust stores of this machine, undoes what its ledger has, and opens a list ' +
      'of what else was changed, with the commands that undo it. It deletes no data.',
    buttons: ['Prepare', 'Cancel'],
    cancelId: 1,
  });
  if (response !== 0) return;
  if (loginItem?.isOn() === true) loginItem.set(false);
  const file = join(logsDir, 'removal.txt');
  const list = await prepareRemoval();
  try {
    writeFileAtomically(file, list, OWNER_ONLY);
  } catch {
    // The trust stores have changed, which a second list would not have.
    await showMessage({ type: 'warning', message: 'What stays could not be written to a file', detail: list });
    return;
  }
  openPath(file);
}
