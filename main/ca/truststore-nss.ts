import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pasteable, type Command, type RunCommand } from './command.ts';
import { fingerprintStart } from './certificate.ts';
import type { FoundRoot, StoreReading, TrustStore, Unavailable } from './truststore.ts';
import { certificatesIn, identify, type OwnRoots } from './vivarium-roots.ts';

/** The file that every NSS database of today has; older ones (`cert8.db`) are of browsers nobody should use. */
export const NSS_CERTIFICATES_FILE = 'cert9.db';

/** Trusted authorities that somebody added; each is read by a program of its own. Companies add a dozen. */
const NICKNAMES_MAX = 200;

export interface NssStoreOptions {
  id: string;
  title: string;
  /** The folder with `cert9.db`. */
  folder: string;
  /** Who makes the database by starting: "Chromium". */
  browser: string;
  /** The path of NSS's `certutil`; null when this machine does not have it. */
  certutil: string | null;
  /** What installs it. */
  install: string | undefined;
  platform: NodeJS.Platform;
  run: RunCommand;
}

/** An NSS database, through NSS's `certutil`. */
export function createNssStore(options: NssStoreOptions): TrustStore {
  const { id, title, folder, browser, certutil, run } = options;
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
        needs: `a database that is whole; ${browser} makes a new one at its next start when this one is moved away`,
      };
    }
    return { available: true, roots: await readRoots(candidates(listed.stdout), own) };
  }

  async function readRoots(nicknames: readonly string[], own: OwnRoots): Promise<FoundRoot[]> {
    const found = new Map<string, FoundRoot>();
    for (const nickname of nicknames) {
      const { stdout } = await run(showCommand(tool, database, nickname, 'pem'));
      const group = certificatesIn(stdout).map((der) => identify(der, own));
      if (group.every((root) => root === null)) continue;
      const trusted = trustedFingerprints((await run(showCommand(tool, database, nickname, 'text'))).stdout);
      for (const root of group) {
        if (root === null) continue;
        const isAlone = group.every((member) => (member?.identity === 'other') === (root.identity === 'other'));
        const known = found.get(root.fingerprint);
        const isOwnName = nickname.endsWith(fingerprintStart(root.fingerprint));
        found.set(root.fingerprint, {
          ...root,
          trusted: trusted.has(root.fingerprint),
          handle: known !== undefined && !isOwnName ? known.handle : isAlone ? nickname : null,
        });
      }
    }
    return withoutClaimed([...found.values()], nicknames);
  }

  return {
    id,
    title,
    read,
    trust: ({ current, file }, superseded) => {
      const nickname = nicknameOf(current.fingerprint);
      return {
        commands: [
          addCommand(tool, database, nickname, file),
          ...superseded.map((root) => deleteCommand(tool, database, root)),
        ],
        // A database with a password takes the certificate and then refuses to trust it.
        undo: [deleteCommand(tool, database, { handle: nickname })],
      };
    },
    untrust: (targets) => ({ commands: targets.map((root) => deleteCommand(tool, database, root)) }),
    explainFailure: (output) =>
      /SEC_ERROR_(BAD_PASSWORD|TOKEN_NOT_LOGGED_IN)|authenticate to token/.test(output)
        ? `The database has a password of its own (Firefox calls it the primary password). Import the root by hand in the browser’s settings, or close it and run in a terminal: ${pasteable([{ command: tool, args: ['-A', '-d', database, '-t', 'C,,', '-n', 'Vivarium root', '-i', 'root.pem'] }], options.platform)}`
        : null,
    afterwards: `Restart ${browser} if it is running.`,
  };
}

/** `Vivarium root ab12cd34`: two Vivariums, or two certificates of one, do not get in each other's way. */
export const nicknameOf = (fingerprint: string): string => `Vivarium root ${fingerprintStart(fingerprint)}`;

const command = (tool: string, args: readonly string[], explains: string): Command => ({
  command: tool,
  args,
  needsPassword: false,
  explains,
});

export const listCommand = (tool: string, database: string): Command =>
  command(tool, ['-L', '-d', database], 'lists the certificates');

/** `pem` gives the certificates themselves, `text` their fingerprints together with what they are trusted for. */
export const showCommand = (tool: string, database: string, nickname: string, form: 'pem' | 'text'): Command =>
  command(tool, ['-L', '-d', database, '-n', nickname, ...(form === 'pem' ? ['-a'] : [])], 'reads a certificate');

/** `C,,`: an authority for servers; not for e-mail, not for code, not for clients (`T`). */
export const addCommand = (tool: string, database: string, nickname: string, file: string): Command =>
  command(tool, ['-A', '-d', database, '-t', 'C,,', '-n', nickname, '-i', file], 'adds the root');

export const deleteCommand = (tool: string, database: string, root: Pick<FoundRoot, 'handle'>): Command =>
  command(tool, ['-D', '-d', database, '-n', root.handle ?? ''], 'takes the root out');

const LISTED = /^(.*\S)\s+([a-zA-Z]*),[a-zA-Z]*,[a-zA-Z]*\s*$/;

/** The nicknames that can be roots of a Vivarium: named so, or trusted as authorities under a name given by hand. */
function candidates(list: string): string[] {
  const rows = list.split('\n').flatMap((line) => {
    const match = LISTED.exec(line);
    return match === null ? [] : [{ nickname: match[1] ?? '', trust: match[2] ?? '' }];
  });
  const names = rows.filter(({ nickname, trust }) => /vivarium/i.test(nickname) || /[CT]/.test(trust));
  return [...new Set(names.map(({ nickname }) => nickname))].slice(0, NICKNAMES_MAX);
}

/** Fingerprints of the certificates in certutil's text form whose SSL flags say that they are a trusted authority. */
function trustedFingerprints(text: string): Set<string> {
  const trusted = new Set<string>();
  for (const part of text.split(/^Certificate:$/m).slice(1)) {
    const print = /Fingerprint \(SHA-256\):\s+((?:[0-9A-F]{2}:\s*){31}[0-9A-F]{2})/.exec(part)?.[1]?.replace(/\s/g, '');
    const flags = /SSL Flags:([\s\S]*?)Email Flags:/.exec(part)?.[1] ?? '';
    if (print !== undefined && /\bTrusted CA\b/.test(flags)) trusted.add(print);
  }
  return trusted;
}

/**
 * Certificates of one subject are listed under each other's nicknames. A nickname that ends in the fingerprint of one
 * is that one's; the others go by what is left.
 */
function withoutClaimed(roots: FoundRoot[], nicknames: readonly string[]): FoundRoot[] {
  const claimed = new Set(roots.map((root) => nicknameOf(root.fingerprint)).filter((name) => nicknames.includes(name)));
  return roots.map((root) => {
    const own = nicknameOf(root.fingerprint);
    if (root.handle === null || root.handle === own || !claimed.has(root.handle)) return root;
    const free = nicknames.find((name) => !claimed.has(name) && /vivarium/i.test(name));
    return { ...root, handle: free ?? root.handle };
  });
}

const withoutCertutil = ({ install, browser, platform }: NssStoreOptions): Unavailable => ({
  available: false,
  message:
    platform === 'linux'
      ? `NSS’s certutil is not installed, without which ${browser}’s trust store can be neither read nor changed.`
      : `NSS’s certutil is not installed, so this store cannot be read. ${browser} 120 and later takes the roots that ` +
        'you added to the system’s store, unless its setting "Allow Firefox to automatically trust third-party root certificates you install" is off.',
  needs:
    install === undefined
      ? 'nothing, when the root is trusted in the store "system"; or an import by hand in the settings of the browser'
      : 'NSS’s certutil',
  ...(install !== undefined && { command: install }),
});

const withoutDatabase = ({ folder, browser, platform }: NssStoreOptions): Unavailable => ({
  available: false,
  message: `There is no database in ${folder} yet; it appears when ${browser} has run once.`,
  needs: `one start of ${browser}, or the command, which makes an empty database`,
  command: pasteable(
    [
      { command: 'mkdir', args: ['-p', folder] },
      { command: 'certutil', args: ['-N', '-d', `sql:${folder}`, '--empty-password'] },
    ],
    platform,
  ),
});
