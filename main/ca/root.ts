import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { DEFAULT_SUFFIXES } from '../contract/hostnames.ts';
import { DAY_MS, HOUR_MS } from '../contract/duration.ts';
import { isWithin, normalizeHostname } from '../base/text/hostname.ts';
import { conflict, invalidRequest, notFound, unavailable, type VivariumError } from '../contract/errors.ts';
import {
  COMMON_NAME_LENGTH_MAX,
  distinguishedName,
  randomSerial,
  readCertificate,
  signCertificate,
  createKeyPair,
  isP256,
  keyIdentifier,
  keyPairOf,
  type Extension,
  type KeyPair,
  describeSigner,
  readSigner,
  type Signer,
  type SignerDescription,
} from './certificate.ts';
import { constrainTo, constrainToNames, formatRange } from './names.ts';
import { readNewSuffix } from './suffixes.ts';
import { children, content, decode, type Node } from './der.ts';
import { EXTENSION, rootExtensions } from './extensions.ts';

/** Longer than the life of a machine; browsers do not limit manually imported roots. */
export const ROOT_LIFETIME_YEARS = 10;

/** Certificates are backdated by an hour for clients with slow clocks (containers, phones, virtual machines). */
export const BACKDATE_MS = HOUR_MS;

/** Bounds verification, which compares every name with every suffix. */
export const ROOT_SUFFIXES_MAX = 100;

/** The self-signed authority that clients trust. Its key is stored only in its file or the keyring. */
export interface Root extends Signer {
  /** Whether it may only sign for TLS servers; false for older roots. */
  readonly serversOnly: boolean;
  /** Whether its path length is 0: it signs leaves itself, like all roots before intermediates were introduced. */
  readonly leavesOnly: boolean;
}

export interface CreateRootOptions {
  realNowMs: number;
  /** User and machine, such as `anna@laptop`, to distinguish roots in a list of trusted authorities. */
  owner: string;
  /** In any form that `normalizeHostname` accepts. */
  suffixes?: readonly string[];
  /** P-256; a new one by default. With the old key and owner, a new certificate represents the same authority. */
  privateKey?: KeyObject;
  /** Permits no intermediate, like the first roots; false by default. */
  leavesOnly?: boolean;
  /** Valid for as many days, for names only and without an intermediate. */
  ofRun?: number;
}

/**
 * Creates a root in memory: P-256, ten years, critical name constraints. @throws VivariumError invalid_request for an
 * invalid suffix, or for too many.
 */
export function createRoot(options: CreateRootOptions): Root {
  const keys = options.privateKey === undefined ? createKeyPair() : keyPairOf(options.privateKey);
  const subject = distinguishedName({
    organization: 'Vivarium',
    commonName: commonName(options.owner, keyIdentifier(keys.point)),
  });
  const suffixes = normalizeSuffixes(options.suffixes ?? DEFAULT_SUFFIXES);
  return signRoot({
    ...keys,
    subject,
    suffixes,
    leavesOnly: options.leavesOnly ?? options.ofRun !== undefined,
    realNowMs: options.realNowMs,
    days: options.ofRun ?? null,
  });
}

/**
 * The same authority (key and subject, octet for octet) with a new certificate that permits one more suffix and drops
 * narrower ones; in memory only. The path length stays: a client that trusts only the old certificate of a root without
 * intermediates would refuse every leaf below one. @throws VivariumError as `readNewSuffix`; conflict when the root has
 * the maximum number of suffixes.
 */
export function extendRoot(root: Root, suffix: string, realNowMs: number): Root {
  const { suffixes } = root.constraints;
  const added = readNewSuffix(suffix, suffixes);
  const kept = suffixes.filter((known) => !isWithin(known, added));
  if (kept.length >= ROOT_SUFFIXES_MAX) {
    throw conflict(`The root permits ${kept.length} suffixes already, which is the maximum.`);
  }
  return signAgain(root, [...kept, added], realNowMs);
}

/**
 * The same authority with a new certificate without a suffix that it was extended by. @throws VivariumError not_found
 * for another suffix; conflict for one that every root permits.
 */
export function retractRoot(root: Root, suffix: string, realNowMs: number): Root {
  const { suffixes } = root.constraints;
  const added = suffixes.filter((known) => !DEFAULT_SUFFIXES.some((each) => each === known));
  const name = normalizeHostname(suffix);
  const removed = added.find((known) => name.ok && known === name.hostname);
  if (removed === undefined) {
    const list = added.length === 0 ? 'none' : added.join(', ');
    if (suffixes.some((known) => name.ok && known === name.hostname))
      throw conflict(`Every root permits "${suffix}". Suffixes that were added: ${list}.`);
    throw notFound(`The root has no suffix "${suffix}". Suffixes that were added: ${list}.`);
  }
  const kept = suffixes.filter((known) => known !== removed);
  return signAgain(root, kept, realNowMs);
}

/**
 * The same authority with a new certificate like that of a new root: ten years, for TLS servers only, one intermediate.
 */
export const renewRoot = (root: Root, realNowMs: number): Root =>
  signAgain({ ...root, leavesOnly: false }, root.constraints.suffixes, realNowMs);

const signAgain = (
  { privateKey, subject, leavesOnly }: Pick<Root, 'privateKey' | 'subject' | 'leavesOnly'>,
  suffixes: readonly string[],
  realNowMs: number,
): Root => signRoot({ ...keyPairOf(privateKey), subject, suffixes, leavesOnly, realNowMs });

interface RootFields extends KeyPair {
  subject: Node;
  suffixes: readonly string[];
  leavesOnly: boolean;
  realNowMs: number;
  /** Null for the usual lifetime and this machine's addresses. */
  days?: number | null;
}

function signRoot({ privateKey, point, subject, suffixes, leavesOnly, realNowMs, days = null }: RootFields): Root {
  const der = signCertificate(
    {
      serial: randomSerial(),
      issuer: subject,
      subject,
      notBeforeMs: realNowMs - BACKDATE_MS,
      notAfterMs: days === null ? addYears(realNowMs, ROOT_LIFETIME_YEARS) : realNowMs + days * DAY_MS,
      point,
      extensions: rootExtensions(
        keyIdentifier(point),
        days === null ? constrainTo(suffixes) : constrainToNames(suffixes),
        leavesOnly ? 0 : 1,
      ),
    },
    privateKey,
  );
  return toRoot(new X509Certificate(der), privateKey);
}

const addYears = (epochMs: number, years: number): number => {
  const date = new Date(epochMs);
  return date.setUTCFullYear(date.getUTCFullYear() + years);
};

/** `Vivarium root (anna@laptop 3f2a91)`: the last part is the start of the key identifier. */
function commonName(owner: string, subjectKey: Buffer): string {
  const id = subjectKey.toString('hex').slice(0, 6);
  const frame = (text: string) => `Vivarium root (${text} ${id})`;
  const printable = [...owner.toWellFormed().replace(/\p{Cc}/gu, '')];
  return frame(printable.slice(0, COMMON_NAME_LENGTH_MAX - frame('').length).join(''));
}

function normalizeSuffixes(suffixes: readonly string[]): string[] {
  if (suffixes.length === 0 || suffixes.length > ROOT_SUFFIXES_MAX) {
    throw invalidRequest(`A root permits 1 to ${ROOT_SUFFIXES_MAX} DNS suffixes.`);
  }
  const normal = suffixes.map((suffix) => {
    const result = normalizeHostname(suffix);
    if (result.ok) return result.hostname;
    throw invalidRequest(`"${suffix}" is not a DNS suffix; write it as "test" or "corp.example".`);
  });
  return [...new Set(normal)];
}

/**
 * Parses a root. @throws VivariumError unavailable when a text is damaged, key and certificate do not match, or
 * Vivarium did not make the certificate; the message names the file and the fix.
 */
export function openRoot(
  texts: Record<'certificatePem' | 'privateKeyPem' | 'certificateName' | 'privateKeyName', string>,
): Root {
  const { certificatePem: pem, privateKeyPem, certificateName, privateKeyName } = texts;
  const certificate = attempt(() => new X509Certificate(pem), `${certificateName} holds no certificate.`);
  const privateKey = attempt(() => createPrivateKey(privateKeyPem), `${privateKeyName} holds no private key.`);
  if (!isP256(privateKey)) throw rootError(`${privateKeyName} is not a P-256 key.`);
  if (!certificate.checkPrivateKey(privateKey)) {
    throw rootError(`${privateKeyName} is not the key of ${certificateName}.`);
  }
  if (!certificate.ca || !certificate.verify(certificate.publicKey)) {
    throw rootError(`${certificateName} is not a self-signed certificate authority.`);
  }
  return attempt(
    () => toRoot(certificate, privateKey),
    `${certificateName} was not made by Vivarium: it lacks critical name constraints or a subject key identifier.`,
  );
}

/** The public part of a root, from its certificate. @throws VivariumError unavailable when Vivarium did not make it. */
export const readRootCertificate = (pem: string, name: string): Omit<Root, 'privateKey'> =>
  attempt(() => publicPart(new X509Certificate(pem)), `${name} holds no certificate made by Vivarium.`);

const toRoot = (certificate: X509Certificate, privateKey: KeyObject): Root => ({
  ...publicPart(certificate),
  privateKey,
});

function publicPart(certificate: X509Certificate): Omit<Root, 'privateKey'> {
  const { extensions } = readCertificate(certificate.raw);
  return {
    ...readSigner(certificate),
    role: 'root',
    serversOnly: extensions.has(EXTENSION.extKeyUsage),
    leavesOnly: pathLength(extensions.get(EXTENSION.basicConstraints)) === 0,
  };
}

/** The path length in the basic constraints (RFC 5280 §4.2.1.9); null without a limit. */
function pathLength(basicConstraints: Extension | undefined): number | null {
  const length = basicConstraints === undefined ? undefined : children(decode(basicConstraints.value))[1];
  return length === undefined ? null : content(length).readUInt8();
}

function attempt<Value>(action: () => Value, fault: string): Value {
  try {
    return action();
  } catch (cause) {
    throw rootError(fault, cause);
  }
}

/** The fix for every damaged root; it follows the specific fault. */
export function rootError(fault: string, cause?: unknown): VivariumError {
  return unavailable(
    `${fault} Restore it from a backup; or move root.pem and root-key.pem to another folder and start again: ` +
      'a new root is created, which browsers must then trust. Nothing was changed.',
    { cause },
  );
}

export interface RootDescription extends SignerDescription {
  permittedSuffixes: string[];
  /** Address ranges such as `127.0.0.0/8`. */
  permittedAddresses: string[];
  serversOnly: boolean;
}

export const describeRoot = (root: Root): RootDescription => ({
  ...describeSigner(root),
  permittedSuffixes: [...root.constraints.suffixes],
  permittedAddresses: root.constraints.addresses.map(formatRange),
  serversOnly: root.serversOnly,
});
