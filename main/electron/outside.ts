import { dialog, shell } from 'electron';
import type { Log } from '../base/log.ts';
import { externalAddress } from './external.ts';

/** What is handed to other programs. The only place that uses `shell`. */
export interface Outside {
  /** Opens an address in the system's browser if it may be; otherwise does nothing, and logs it. Never rejects. */
  openExternal(url: string): Promise<void>;
  /** Opens a folder in the system's file manager; says where it is when that fails. */
  showFolder(folder: string): void;
}

export function createOutside(options: { log: Log; ownPorts: () => readonly number[] }): Outside {
  const { log, ownPorts } = options;
  return {
    async openExternal(url) {
      const address = externalAddress(url, ownPorts());
      if (address === null) return log.warn('An address was not opened, because it is not one for a browser', { url });
      await shell
        .openExternal(address)
        .catch((error: unknown) => log.warn('The browser could not be opened', { error }));
    },
    showFolder(folder) {
      void shell.openPath(folder).then((fault) => {
        if (fault !== '') dialog.showErrorBox('The folder could not be opened', `${folder}\n\n${fault}`);
      });
    },
  };
}
