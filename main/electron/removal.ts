import { join } from 'node:path';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import type { LoginItem } from './login-item.ts';
import type { ShowMessage } from './window.ts';

export interface RemovalOptions {
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
export async function prepareToRemove(options: RemovalOptions): Promise<void> {
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
