import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { VivariumError } from '../contract/errors.ts';
import { fingerprintStart } from './certificate.ts';
import type { Command, RunCommand } from './command.ts';
import type { FoundRoot } from './truststore.ts';
import type { VivariumRoot } from './vivarium-roots.ts';

/** NSS's `certutil`: its commands, and what it prints (which is in English everywhere). */

/** Trusted authorities that somebody added; each is read by a program of its own. Companies add a dozen. */
const NICKNAMES_MAX = 200;

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

export const makeCommand = (tool: string, database: string): Command =>
  command(tool, ['-N', '-d', database, '--empty-password'], 'makes a trust store');

/** `pem` gives the certificates themselves, `text` their fingerprints together with what they are trusted for. */
export const showCommand = (tool: string, database: string, nickname: string, form: 'pem' | 'text'): Command =>
  command(tool, ['-L', '-d', database, '-n', nickname, ...(form === 'pem' ? ['-a'] : [])], 'reads a certificate');

/** `C,,`: an authority for servers; not for e-mail, not for code, not for clients (`T`). */
export const addCommand = (tool: string, database: string, nickname: string, file: string): Command =>
  command(tool, ['-A', '-d', database, '-t', 'C,,', '-n', nickname, '-i', file], 'adds the root');

export const deleteCommand = (tool: string, database: string, nickname: string): Command =>
  command(tool, ['-D', '-d', database, '-n', nickname], 'takes the root out');

const LISTED = /^(.*\S)\s+([a-zA-Z]*),[a-zA-Z]*,[a-zA-Z]*\s*$/;

/** The nicknames that can be roots of a Vivarium: named so, or trusted as authorities under a name given by hand.
 * One nickname comes as often as there are certificates that have it. */
export function candidates(list: string): string[] {
  const rows = list.split('\n').flatMap((line) => {
    const match = LISTED.exec(line);
    return match === null ? [] : [{ nickname: match[1] ?? '', trust: match[2] ?? '' }];
  });
  const names = rows.filter(({ nickname, trust }) => /vivarium/i.test(nickname) || /[CT]/.test(trust));
  return names.map(({ nickname }) => nickname).slice(0, NICKNAMES_MAX);
}

const FINGERPRINT = /Fingerprint \(SHA-256\):\s+((?:[0-9A-F]{2}:\s*){31}[0-9A-F]{2})/;

/** The fingerprints in certutil's text form; the same for every nickname of a group. */
export const fingerprintsOf = (text: string): string[] =>
  [...text.matchAll(new RegExp(FINGERPRINT, 'g'))].map((match) => (match[1] ?? '').replace(/\s/g, ''));

/** Fingerprints of the certificates in certutil's text form whose SSL flags say that they are a trusted authority. */
export function trustedFingerprints(text: string): Set<string> {
  const trusted = new Set<string>();
  for (const part of text.split(/^Certificate:$/m).slice(1)) {
    const [print] = fingerprintsOf(part);
    const flags = /SSL Flags:([\s\S]*?)Email Flags:/.exec(part)?.[1] ?? '';
    if (print !== undefined && /\bTrusted CA\b/.test(flags)) trusted.add(print);
  }
  return trusted;
}

/** Certificates that certutil shows under each other's nicknames, because they have one subject. */
export interface NssGroup {
  /** Null for a certificate that is no Vivarium's. */
  members: (VivariumRoot | null)[];
  /** Fingerprints of those that are trusted. */
  trusted: ReadonlySet<string>;
  nicknames: string[];
}

/**
 * Finds the nickname by which each root of a group is deleted. One with the beginning of a root's fingerprint is that
 * root's; the others are dealt out, because certutil does not tell whose they are: wrong only where a part of several
 * that were imported by hand is to go, and the reading that follows every change notices. Where something else is in
 * the group no root has one.
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
    // Under a nickname that was not looked at there is one that was added without trust: of no effect.
    return handle === null && !isTrusted ? [] : [{ ...root, trusted: isTrusted, handle }];
  });
}

/** Where Chromium looks for it below its home folder on Linux. */
const IN_HOME = join('.pki', 'nssdb');

/**
 * Makes the trust store of a home folder that was made for one browser: our root, and nothing else.
 * @throws VivariumError `unavailable` when `certutil` fails.
 */
export async function trustInHome(
  home: string,
  { run, certutil, root }: { run: RunCommand; certutil: string; root: { fingerprint: string; file: string } },
): Promise<void> {
  const folder = join(home, IN_HOME);
  mkdirSync(folder, { recursive: true });
  const database = `sql:${folder}`;
  for (const command of [
    makeCommand(certutil, database),
    addCommand(certutil, database, nicknameOf(root.fingerprint), root.file),
  ]) {
    const { exitCode, stderr } = await run(command);
    if (exitCode !== 0) {
      throw new VivariumError(
        'unavailable',
        `certutil could not make a trust store: ${stderr.trim() || 'no reason given'}.`,
      );
    }
  }
}
