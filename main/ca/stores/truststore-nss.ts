import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pasteable, type RunCommand } from './run-command.ts';
import {
  addCommand,
  candidates,
  deleteCommand,
  fingerprintsOf,
  handshakeCommand,
  listCommand,
  nicknameOf,
  showCommand,
  trustedFingerprints,
  withHandles,
  type NssGroup,
} from './nss-certutil.ts';
import type { FoundRoot, StoreReading, TrustStore, Unavailable } from './truststore.ts';
import { certificatesIn, identify, type OwnRoots } from './vivarium-roots.ts';

/** The file of every current NSS database; the older `cert8.db` belongs to obsolete browsers. */
export const NSS_CERTIFICATES_FILE = 'cert9.db';

export interface NssStoreOptions {
  id: string;
  title: string;
  /** The folder with `cert9.db`. */
  folder: string;
  /** The browser that creates the database at its start: "Chromium". */
  browser: string;
  /** The path of NSS's `certutil`; null when it is not installed. */
  certutil: string | null;
  /** The path of NSS's test client, which most systems install with it. */
  tstclnt: string | null;
  install: string | undefined;
  platform: NodeJS.Platform;
  run: RunCommand;
}

/** An NSS database, accessed through NSS's `certutil`. */
export function createNssStore(options: NssStoreOptions): TrustStore {
  const { id, title, folder, browser, certutil, tstclnt, run } = options;
  const database = `sql:${folder}`;
  const tool = certutil ?? 'certutil';

  async function read(own: OwnRoots): Promise<StoreReading> {
    if (certutil === null) return withoutCertutil(options);
    if (!existsSync(join(folder, NSS_CERTIFICATES_FILE))) return withoutDatabase(options);
    const listed = await run(listCommand(tool, database));
    if (listed.exitCode !== 0) {
      return {
        available: false,
        message: `The database in ${folder} cannot be read: ${listed.stderr.trim().slice(0, 300)}`,
        needs: `an intact database; move this one away and ${browser} creates a new one at its next start`,
      };
    }
    return { available: true, roots: await readRoots(candidates(listed.stdout), own) };
  }

  async function readRoots(nicknames: readonly string[], own: OwnRoots): Promise<FoundRoot[]> {
    const groups = new Map<string, NssGroup>();
    for (const nickname of new Set(nicknames)) {
      const { stdout } = await run(showCommand(tool, database, nickname, 'pem'));
      const members = certificatesIn(stdout).map((der) => identify(der, own));
      if (members.every((root) => root === null)) continue;
      const text = (await run(showCommand(tool, database, nickname, 'text'))).stdout;
      const key = fingerprintsOf(text).sort().join();
      const group = groups.get(key) ?? { members, trusted: trustedFingerprints(text), nicknames: [] };
      group.nicknames.push(...nicknames.filter((name) => name === nickname));
      groups.set(key, group);
    }
    return [...groups.values()].flatMap(withHandles);
  }

  return {
    id,
    title,
    read,
    trust: ({ current, file }, superseded) => [
      addCommand(tool, database, nicknameOf(current.fingerprint), file),
      ...superseded.map(({ handle }) => deleteCommand(tool, database, handle ?? '')),
    ],
    untrust: (targets) => targets.map(({ handle }) => deleteCommand(tool, database, handle ?? '')),
    handshake: (served) => (tstclnt === null ? null : handshakeCommand(tstclnt, database, served)),
    handleOf: ({ current }) => nicknameOf(current.fingerprint),
    explainFailure: (output) =>
      /SEC_ERROR_(BAD_PASSWORD|TOKEN_NOT_LOGGED_IN)|authenticate to token/.test(output)
        ? `The database has its own password (Firefox calls it the primary password). Import the root manually in the browser’s settings, or close it and run in a terminal: ${pasteable([{ command: tool, args: ['-A', '-d', database, '-t', 'C,,', '-n', 'Vivarium root', '-i', 'root.pem'] }], options.platform)}`
        : null,
    afterwards: `Restart ${browser} if it is running.`,
  };
}

const withoutCertutil = ({ install, browser, platform }: NssStoreOptions): Unavailable => ({
  available: false,
  message:
    platform === 'linux'
      ? `NSS’s certutil is not installed, which is needed to read or change ${browser}’s trust store.`
      : `NSS’s certutil is not installed, so this store cannot be read. ${browser} 120 and later takes the roots that ` +
        'you added to the system’s store, unless its setting "Allow Firefox to automatically trust third-party root certificates you install" is off.',
  needs:
    install === undefined
      ? 'nothing, when the root is trusted in the store "system"; or a manual import in the settings of the browser'
      : 'NSS’s certutil',
  ...(install !== undefined && { command: install }),
});

const withoutDatabase = ({ folder, browser, platform }: NssStoreOptions): Unavailable => ({
  available: false,
  message: `There is no database in ${folder} yet; ${browser} creates it at its first start.`,
  needs: `one start of ${browser}, or the command, which creates an empty database`,
  command: pasteable(
    [
      { command: 'mkdir', args: ['-p', folder] },
      { command: 'certutil', args: ['-N', '-d', `sql:${folder}`, '--empty-password'] },
    ],
    platform,
  ),
});
