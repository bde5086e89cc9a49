import { dialog, safeStorage, shell } from 'electron';
import type { Log } from '../base/log.ts';
import type { Sealer } from '../base/desktop.ts';
import { externalAddress } from './rules.ts';

/** Passes addresses and folders to other programs. The only user of `shell`. */
export interface SystemShell {
  /** Opens an address in the system's browser if allowed; otherwise only logs it. Never rejects. */
  openExternal(url: string): Promise<void>;
  /** Opens a folder in the system's file manager; shows its path if that fails. */
  showFolder(folder: string): void;
}

export function createSystemShell(options: { log: Log; ownPorts: () => readonly number[] }): SystemShell {
  const { log, ownPorts } = options;
  return {
    async openExternal(url) {
      const address = externalAddress(url, ownPorts());
      if (address === null)
        return log.warn('An address was not opened, because it is not suitable for a browser', { url });
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

/** Without a keyring Chromium uses a hard-coded key (`basic_text`); before it has looked, the backend is `unknown`. */
const NO_KEYRING: ReadonlySet<string> = new Set(['basic_text', 'unknown']);

/** Seals with the macOS keychain, Windows data protection, or the session's keyring on Linux. Call after `ready`. */
export function createKeySealer(platform: NodeJS.Platform = process.platform): Sealer {
  return {
    refusal() {
      if (platform !== 'linux' || !NO_KEYRING.has(safeStorage.getSelectedStorageBackend())) return null;
      return 'This session has no keyring (Secret Service or KWallet), so sealing it would protect nothing.';
    },
    async seal(text) {
      if (!(await safeStorage.isAsyncEncryptionAvailable())) throw new Error('the keyring is locked, or not available');
      return safeStorage.encryptStringAsync(text);
    },
    async open(sealed) {
      const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(Buffer.from(sealed));
      return { text: result, outdated: shouldReEncrypt };
    },
  };
}
