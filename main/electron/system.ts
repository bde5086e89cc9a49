import { app, safeStorage, shell } from 'electron';
import { basename } from 'node:path';
import type { Log } from '../base/log.ts';
import type { DesktopFacts, Sealer } from '../base/system/desktop.ts';
import { externalAddress } from './rules.ts';
import type { ShowMessage } from './window.ts';

export type SystemShell = ReturnType<typeof createSystemShell>;

/** Passes addresses and folders to other programs. The only user of `shell`. */
export function createSystemShell(options: { log: Log; ownPorts: () => readonly number[]; showMessage: ShowMessage }) {
  const { log, ownPorts, showMessage } = options;
  return {
    /** Opens an address in the system's browser if allowed; otherwise only logs it. Never rejects. */
    async openExternal(url: string): Promise<void> {
      const address = externalAddress(url, ownPorts());
      if (address === null)
        return log.warn('An address was not opened, because it is not suitable for a browser', { url });
      await shell
        .openExternal(address)
        .catch((error: unknown) => log.warn('The browser could not be opened', { error }));
    },
    /** Opens a folder in the system's file manager, or a file in its own program; shows the path if that fails. */
    openPath(path: string): void {
      void shell.openPath(path).then((fault) => {
        if (fault !== '')
          void showMessage({
            type: 'error',
            message: `${basename(path)} could not be opened`,
            detail: `${path}\n\n${fault}`,
          });
      });
    },
  };
}

/**
 * Prefix of data that Chromium on Linux encrypts with a constant if no keyring answers (`posix_key_provider.cc`). No
 * API reports this in advance: `isAsyncEncryptionAvailable` is still true, and `getSelectedStorageBackend` checks other
 * providers.
 */
const CONSTANT_TAG = 'v10';

const NO_KEYRING =
  'This session had no keyring (Secret Service or KWallet) that could be opened, and sealing it with Chromium’s constant ' +
  'would protect nothing. Start one, and then Vivarium again.';

interface KeySealer extends Sealer {
  state(): DesktopFacts['keyring'];
}

/**
 * Seals with the macOS keychain, Windows data protection, or the session's keyring on Linux. On Linux, only a result
 * shows whether there is a keyring; until then, sealing is attempted. Call after `ready`.
 */
export function createKeySealer(platform: NodeJS.Platform = process.platform): KeySealer {
  let refusal: string | null = null;
  let hasSealed = false;
  const isConstant = (sealed: Uint8Array) =>
    platform === 'linux' && Buffer.from(sealed).toString('latin1', 0, CONSTANT_TAG.length) === CONSTANT_TAG;
  return {
    refusal: () => refusal,
    state: () =>
      refusal !== null ? { state: 'refused', reason: refusal } : { state: hasSealed ? 'sealed' : 'untried' },
    async seal(text) {
      const sealed = await safeStorage.encryptStringAsync(text);
      refusal = isConstant(sealed) ? NO_KEYRING : null;
      if (refusal !== null) throw new Error(refusal);
      hasSealed = true;
      return sealed;
    },
    async open(sealed) {
      const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(Buffer.from(sealed));
      hasSealed ||= !isConstant(sealed);
      return { text: result, outdated: shouldReEncrypt || isConstant(sealed) };
    },
  };
}

/** Facts for the doctor. Call after `ready`. */
export function describeDesktop(known: Pick<DesktopFacts, 'keyring' | 'tray'>): DesktopFacts {
  const { versions, platform, env } = process;
  const server = env['XDG_SESSION_TYPE'] ?? (env['WAYLAND_DISPLAY'] === undefined ? 'x11' : 'wayland');
  return {
    electron: versions.electron,
    chromium: versions.chrome,
    // Electron’s Node uses BoringSSL, which has no versions.
    cryptography: versions.openssl === '0.0.0' ? 'BoringSSL' : `OpenSSL ${versions.openssl}`,
    session: platform === 'linux' ? `${env['XDG_CURRENT_DESKTOP'] ?? 'a desktop'} on ${server}` : platform,
    gpu: app.getGPUFeatureStatus().gpu_compositing,
    sandboxed: !app.commandLine.hasSwitch('no-sandbox'),
    ...known,
  };
}
