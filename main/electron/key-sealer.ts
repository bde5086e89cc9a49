import { safeStorage } from 'electron';
import type { Sealer } from '../base/sealer.ts';

/** Where Chromium has found no keyring it uses a key that is the same everywhere; before it has looked, it knows none. */
const NO_KEYRING: ReadonlySet<string> = new Set(['basic_text', 'unknown']);

/** Seals with the keychain of macOS, the data protection of Windows, or the session's keyring on Linux. Once the app is ready. */
export function createKeySealer(platform: NodeJS.Platform = process.platform): Sealer {
  return {
    refusal() {
      if (platform !== 'linux' || !NO_KEYRING.has(safeStorage.getSelectedStorageBackend())) return null;
      return 'This session has no keyring (Secret Service or KWallet), so that sealing it would protect nothing.';
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
