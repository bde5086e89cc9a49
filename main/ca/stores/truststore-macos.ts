import { join } from 'node:path';
import { VivariumError } from '../../contract/errors.ts';
import { type Command, curlHandshake, type RunCommand } from './run-command.ts';
import type { StoreReading, TrustStore } from './truststore.ts';
import { certificatesIn, identify, sha1Of, type OwnRoots } from './vivarium-roots.ts';

/** Every macOS has it here, independent of PATH. */
const SECURITY = '/usr/bin/security';

/** errSecItemNotFound, the exit code of `security` for a keychain without certificates. */
const NOTHING_FOUND = 44;

/** The user's login keychain: Safari, Chrome and, by default, Firefox use it on macOS. */
export function createMacosStore({ home, run }: { home: string; run: RunCommand }): TrustStore {
  const keychain = join(home, 'Library/Keychains/login.keychain-db');

  async function read(own: OwnRoots): Promise<StoreReading> {
    const listed = await run(macosListCommand(keychain)).catch(asFailure);
    if (listed.exitCode !== 0 && listed.exitCode !== NOTHING_FOUND) {
      return {
        available: false,
        message: `The keychain ${keychain} cannot be read: ${listed.stderr.trim().slice(0, 300)}`,
        needs: 'a login keychain; Keychain Access creates one',
      };
    }
    const found = certificatesIn(listed.stdout).flatMap((der) => {
      const root = identify(der, own);
      return root === null ? [] : [{ ...root, handle: sha1Of(der) }];
    });
    // The keychain holds certificates, and trust settings hold their uses; only macOS can evaluate both.
    const isTrusted =
      found.some((root) => root.identity === 'current') && (await run(macosVerifyCommand(own.file))).exitCode === 0;
    return {
      available: true,
      roots: found.map((root) => ({ ...root, trusted: root.identity === 'current' ? isTrusted : true })),
    };
  }

  return {
    id: 'system',
    title: 'Login keychain: Safari, Chrome, and Firefox by default',
    read,
    trust: ({ file }, superseded) => [
      ...superseded.map(({ handle }) => macosUntrustCommand(keychain, handle ?? '')),
      macosTrustCommand(keychain, file),
    ],
    handshake: (served) => curlHandshake('/usr/bin/curl', '/dev/null', served),
    handleOf: ({ current }) => sha1Of(current.certificate.raw),
    untrust: (targets) => targets.map(({ handle }) => macosUntrustCommand(keychain, handle ?? '')),
  };
}

const macosListCommand = (keychain: string): Command => ({
  command: SECURITY,
  args: ['find-certificate', '-a', '-p', keychain],
  needsPassword: false,
  explains: 'lists the certificates of the login keychain',
});

/** `-l`: the certificate is an authority's; `-L`: offline. Exits with 0 when macOS trusts it. */
const macosVerifyCommand = (file: string): Command => ({
  command: SECURITY,
  args: ['verify-cert', '-c', file, '-p', 'basic', '-l', '-L'],
  needsPassword: false,
  explains: 'asks macOS whether it trusts the root',
});

/** The user's trust settings, not the administrator's (`-d`): macOS asks for the user's password in a dialogue. */
const macosTrustCommand = (keychain: string, file: string): Command => ({
  command: SECURITY,
  args: ['add-trusted-cert', '-r', 'trustRoot', '-p', 'ssl', '-p', 'basic', '-k', keychain, file],
  needsPassword: true,
  explains: 'adds the root to the login keychain and trusts it for websites',
});

/** `-t` also deletes the user's trust settings of the certificate. */
const macosUntrustCommand = (keychain: string, sha1: string): Command => ({
  command: SECURITY,
  args: ['delete-certificate', '-Z', sha1, '-t', keychain],
  needsPassword: true,
  explains: 'removes the root and its trust settings from the login keychain',
});

function asFailure(error: unknown) {
  if (error instanceof VivariumError) return { exitCode: null, stdout: '', stderr: error.message };
  throw error;
}
