import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, command, pasteable, type RunCommand } from './run-command.ts';
import {
  certificatesIn,
  identify,
  type FoundRoot,
  type StoreReading,
  type TrustStore,
  type Unavailable,
  type OwnRoots,
  type VivariumRoot,
} from './truststore.ts';
import { unavailable } from '../../contract/errors.ts';
import { fingerprintStart } from '../certificate.ts';

/** The file of every current NSS database; the older `cert8.db` belongs to obsolete browsers. */
export const NSS_CERTIFICATES_FILE = 'cert9.db';

/** An NSS database of one of the user's browsers; it may not exist yet. */
export interface NssDatabase {
  id: string;
  title: string;
  /** The folder with `cert9.db`. */
  folder: string;
  /** The browser that creates the database at its start: "Chromium". */
  browser: string;
  /** Whether `folder` is that of the profiles, without one yet. */
  isEmpty?: boolean;
}

export interface NssStoreOptions extends NssDatabase {
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

const withoutDatabase = ({ folder, browser, platform, isEmpty = false }: NssStoreOptions): Unavailable => ({
  available: false,
  message: `There is no ${isEmpty ? 'profile' : 'database'} in ${folder} yet.`,
  needs: `a first start of ${browser}${isEmpty ? '' : ', or the empty database that the command creates'}`,
  ...(!isEmpty && {
    command: pasteable(
      [
        { command: 'mkdir', args: ['-p', folder] },
        { command: 'certutil', args: ['-N', '-d', `sql:${folder}`, '--empty-password'] },
      ],
      platform,
    ),
  }),
});

/** The commands of NSS's `certutil`, and a parser of its output, which is always in English. */

/** Maximum added authorities, each read by a separate process. Companies add about a dozen. */
const NICKNAMES_MAX = 200;

/** `Vivarium root ab12cd34`: unique per certificate, because several Vivariums can share a store. */
export const nicknameOf = (fingerprint: string): string => `Vivarium root ${fingerprintStart(fingerprint)}`;

export const listCommand = (tool: string, database: string): Command =>
  command(tool, ['-L', '-d', database], 'lists the certificates');

export const makeCommand = (tool: string, database: string): Command =>
  command(tool, ['-N', '-d', database, '--empty-password'], 'creates a trust store');

/** `pem` prints the certificates, `text` their fingerprints and trust flags. */
export const showCommand = (tool: string, database: string, nickname: string, form: 'pem' | 'text'): Command =>
  command(tool, ['-L', '-d', database, '-n', nickname, ...(form === 'pem' ? ['-a'] : [])], 'reads a certificate');

/** `C,,`: an authority for servers; not for e-mail, code signing or client certificates (`T`). */
export const addCommand = (tool: string, database: string, nickname: string, file: string): Command =>
  command(tool, ['-A', '-d', database, '-t', 'C,,', '-n', nickname, '-i', file], 'adds the root');

export const deleteCommand = (tool: string, database: string, nickname: string): Command =>
  command(tool, ['-D', '-d', database, '-n', nickname], 'removes the root');

/** NSS's own client; `-Q` ends it after the handshake. */
export const handshakeCommand = (
  tool: string,
  database: string,
  { hostname, port }: { hostname: string; port: number },
): Command =>
  command(
    tool,
    ['-h', hostname, '-p', String(port), '-d', database, '-Q', '-V', 'tls1.2:tls1.3'],
    'performs a handshake',
  );

const LISTED = /^(.*\S)\s+([a-zA-Z]*),[a-zA-Z]*,[a-zA-Z]*\s*$/;

/**
 * Nicknames of possible Vivarium roots: named like one, or trusted authorities with a nickname of the user's choice. A
 * nickname repeats for each of its certificates.
 */
export function candidates(list: string): string[] {
  const rows = list.split('\n').flatMap((line) => {
    const match = LISTED.exec(line);
    return match === null ? [] : [{ nickname: match[1] ?? '', trust: match[2] ?? '' }];
  });
  const names = rows.filter(({ nickname, trust }) => /vivarium/i.test(nickname) || /[CT]/.test(trust));
  return names.map(({ nickname }) => nickname).slice(0, NICKNAMES_MAX);
}

const FINGERPRINT = /Fingerprint \(SHA-256\):\s+((?:[0-9A-F]{2}:\s*){31}[0-9A-F]{2})/;

/** The fingerprints in certutil's text form, equal for all nicknames of a group. */
export const fingerprintsOf = (text: string): string[] =>
  [...text.matchAll(new RegExp(FINGERPRINT, 'g'))].map((match) => (match[1] ?? '').replace(/\s/g, ''));

/** Fingerprints of the certificates in certutil's text form whose SSL flags mark a trusted authority. */
export function trustedFingerprints(text: string): Set<string> {
  const trusted = new Set<string>();
  for (const part of text.split(/^Certificate:$/m).slice(1)) {
    const [print] = fingerprintsOf(part);
    const flags = /SSL Flags:([\s\S]*?)Email Flags:/.exec(part)?.[1] ?? '';
    if (print !== undefined && /\bTrusted CA\b/.test(flags)) trusted.add(print);
  }
  return trusted;
}

/** Certificates with one subject, which certutil lists under each other's nicknames. */
export interface NssGroup {
  /** Null if Vivarium did not create the certificate. */
  members: (VivariumRoot | null)[];
  /** Fingerprints of the trusted certificates. */
  trusted: ReadonlySet<string>;
  nicknames: string[];
}

/**
 * The nickname that deletes each root of a group. A nickname that contains a root's fingerprint belongs to that root;
 * the others are assigned in order, because certutil does not show their owners. That can be wrong only when some of
 * several manual imports are removed, and the check after every change notices. No root gets one when the group
 * contains foreign certificates.
 */
export function withHandles({ members, trusted, nicknames }: NssGroup): FoundRoot[] {
  const roots = members.filter((root) => root !== null);
  const isMixed = roots.length < members.length || new Set(roots.map(({ identity }) => identity === 'other')).size > 1;
  const names = roots.map(({ fingerprint }) => nicknameOf(fingerprint)).filter((name) => nicknames.includes(name));
  const free = nicknames.filter((name) => !names.includes(name));
  return roots.flatMap((root) => {
    const own = nicknameOf(root.fingerprint);
    const handle = isMixed ? null : names.includes(own) ? own : (free.shift() ?? null);
    const isTrusted = trusted.has(root.fingerprint);
    // Nicknames that were not read were added without trust and have no effect.
    return handle === null && !isTrusted ? [] : [{ ...root, trusted: isTrusted, handle }];
  });
}

/**
 * Creates the trust store of a throw-away browser in a folder, with Vivarium's root only. @throws VivariumError
 * `unavailable` when `certutil` fails.
 */
export async function makeTrustStore(
  folder: string,
  { run, certutil, root }: { run: RunCommand; certutil: string; root: { fingerprint: string; file: string } },
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const database = `sql:${folder}`;
  for (const command of [
    makeCommand(certutil, database),
    addCommand(certutil, database, nicknameOf(root.fingerprint), root.file),
  ]) {
    const { exitCode, stderr } = await run(command);
    if (exitCode !== 0) {
      throw unavailable(`certutil could not create a trust store: ${stderr.trim() || 'no reason given'}.`);
    }
  }
}
