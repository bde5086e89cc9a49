import type { KeyObject } from 'node:crypto';
import type { AdjustableClock, ClockState, EpochMs } from '../base/clock.ts';
import { DAY_MS, HOUR_MS } from '../contract/duration.ts';
import { conflict, invalidRequest } from '../contract/errors.ts';
import { LEAF_LIFETIME_MS, type Leaf, type LeafDates, type Revocation, isRenewalDue } from '../model/leaf.ts';
import {
  type CertificateFields,
  certificatePem,
  COMMON_NAME_LENGTH_MAX,
  distinguishedName,
  fingerprint,
  randomSerial,
  signCertificate,
  createKeyPair,
  keyIdentifier,
  signed,
  type Signer,
  type Digest,
} from './certificate.ts';
import { permits, parseLeafName, type LeafName } from './names.ts';
import { children, content, decode, integer, type Node, sequence, tagged, time } from './der.ts';
import { leafExtensions, entryExtensions, listExtensions, type LeafExtensionsInput } from './extensions.ts';
import { BACKDATE_MS, rootError, createRoot } from './root.ts';
import type { SecureContext } from 'node:tls';
import { LOOPBACK_ADDRESSES, PLATFORM_ZONE } from '../base/config.ts';
import { LruMap } from '../base/lru.ts';
import { createSecureContexts } from '../base/secure-contexts.ts';

/** Let's Encrypt's limit; a request for more is a mistake. */
export const LEAF_NAMES_MAX = 100;

export interface CreateLeafOptions {
  issuer: Signer;
  /** Hostnames, or IP addresses without brackets; duplicates are ignored. */
  hostnames: readonly string[];
  clock: Pick<AdjustableClock, 'state'>;
  /** The base of the addresses of the issuer's revocation list and certificate; omitted by default. */
  filesUrl?: string | null;
  /** 90 days by default. */
  lifetimeMs?: number;
}

/**
 * Issues a leaf: P-256, a new key, 90 days on both clocks, backdated by an hour, within its issuer's validity. @throws
 * VivariumError invalid_request for no, too many or malformed names; conflict for a name that the root's constraints
 * exclude; unavailable when the issuer has expired in real time.
 */
export function createLeaf({ issuer, hostnames, clock, filesUrl = null, lifetimeMs }: CreateLeafOptions): Leaf {
  const names = leafNames(hostnames, issuer);
  const dates = leafDates(clock.state(), issuer, lifetimeMs);
  const { privateKey, point } = createKeyPair();
  const { der, serial } = signLeaf({ issuer, names, dates, point, subjectKey: keyIdentifier(point), filesUrl });
  return {
    certificatePem: certificatePem(der),
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    serial,
    fingerprint: fingerprint(der),
    sans: names.map((name) => name.text),
    ...dates,
  };
}

type Issuer = Pick<Signer, 'role' | 'subject' | 'keyIdentifier' | 'privateKey'>;

/** Signs a leaf for a key, with the given wire dates. The serial is hexadecimal, upper case, 32 digits. */
export function signLeaf(leaf: {
  issuer: Issuer;
  names: readonly LeafName[];
  dates: Pick<LeafDates, 'wireNotBeforeMs' | 'wireNotAfterMs'>;
  /** As in `CertificateFields`. */
  point: CertificateFields['point'];
  /** The key identifier of `point`. */
  subjectKey: Buffer;
  filesUrl: string | null;
  /** The first hostname that fits as its common name, unless a break wants another. */
  subject?: Node;
  purpose?: LeafExtensionsInput['purpose'];
  digest?: Digest | undefined;
}): { der: Buffer; serial: string } {
  const { issuer, names, dates, point, subjectKey, filesUrl, purpose } = leaf;
  const serial = randomSerial();
  const { subject = leafSubject(names) } = leaf;
  const namesCritical = children(subject).length === 0;
  const der = signCertificate(
    {
      serial,
      issuer: issuer.subject,
      subject,
      notBeforeMs: dates.wireNotBeforeMs,
      notAfterMs: dates.wireNotAfterMs,
      point,
      extensions: leafExtensions({ names, subjectKey, issuer, namesCritical, filesUrl, purpose }),
    },
    issuer.privateKey,
    leaf.digest,
  );
  return { der, serial: serial.toString('hex').toUpperCase() };
}

function leafNames(hostnames: readonly string[], issuer: Signer): LeafName[] {
  if (hostnames.length === 0 || hostnames.length > LEAF_NAMES_MAX) {
    throw invalidRequest(`A certificate needs 1 to ${LEAF_NAMES_MAX} names.`);
  }
  const names = new Map(hostnames.map(parseLeafName).map((name) => [name.text, name]));
  for (const name of names.values()) {
    if (permits(issuer.constraints, name)) continue;
    throw conflict(
      `The root may not sign for ${name.text}: its name constraints permit names under ` +
        `${issuer.constraints.suffixes.join(', ')} and loopback addresses only. Add the suffix: \`ca.extend\`.`,
    );
  }
  return [...names.values()];
}

/**
 * The first hostname that fits; never an address. In a leaf without DNS names OpenSSL would check the common name
 * against the permitted suffixes and refuse `127.0.0.1`. Clients read only the alternative names.
 */
function leafSubject(names: readonly LeafName[]): Node {
  const hostname = names.find((name) => name.kind === 'dns' && name.text.length <= COMMON_NAME_LENGTH_MAX);
  return distinguishedName(hostname === undefined ? {} : { commonName: hostname.text });
}

/** Both date pairs have the same length, each relative to its own clock, in whole seconds as in a certificate. */
function leafDates(
  { now, realNow }: Pick<ClockState, 'now' | 'realNow'>,
  issuer: Signer,
  wantedMs: number = LEAF_LIFETIME_MS,
): LeafDates {
  const lifetimeMs = Math.min(wantedMs, issuer.notAfterMs - realNow);
  if (lifetimeMs <= 0) throw rootError(`The root expired at ${new Date(issuer.notAfterMs).toISOString()}.`);
  return {
    notBeforeMs: wholeSeconds(now - BACKDATE_MS),
    notAfterMs: wholeSeconds(now + lifetimeMs),
    wireNotBeforeMs: Math.max(wholeSeconds(realNow - BACKDATE_MS), issuer.notBeforeMs),
    wireNotAfterMs: wholeSeconds(realNow + lifetimeMs),
  };
}

const wholeSeconds = (epochMs: number): number => Math.floor(epochMs / 1000) * 1000;

/** Issues a leaf for the key of a CSR, RSA or EC. Its names are checked already; its serial is in upper case. */
export function createRequestedLeaf(options: {
  issuer: Issuer;
  publicKey: KeyObject;
  /** Hostnames and IP addresses in normal form. */
  names: readonly string[];
  dates: Pick<LeafDates, 'wireNotBeforeMs' | 'wireNotAfterMs'>;
  /** The base of the addresses of the issuer's revocation list and certificate. */
  filesUrl: string | null;
}): { certificatePem: string; serial: string } {
  const { issuer, publicKey, dates, filesUrl } = options;
  const spki = decode(publicKey.export({ type: 'spki', format: 'der' }));
  // The octets of the key's bit string without the count of its unused bits.
  const subjectKey = keyIdentifier(content(children(spki)[1]).subarray(1));
  const names = options.names.map(parseLeafName);
  const { der, serial } = signLeaf({ issuer, names, dates, point: spki, subjectKey, filesUrl });
  return { certificatePem: certificatePem(der), serial };
}

/** How long clients may cache a list; each request gets a new one. */
export const LIST_LIFETIME_MS = 7 * DAY_MS;

/**
 * The revocation list that an authority's certificates point to (RFC 5280 §5), in DER. Some clients, such as curl on
 * Windows, refuse a certificate whose revocation they cannot check.
 */
export const createRevocationList = (
  signer: Pick<Signer, 'privateKey' | 'subject' | 'keyIdentifier'>,
  realNowMs: number,
  revoked: readonly Revocation[] = [],
): Buffer =>
  signed(signer.privateKey, 'sha256', (algorithm) =>
    sequence(
      integer(Buffer.of(1)),
      algorithm,
      signer.subject,
      time(realNowMs - BACKDATE_MS),
      time(realNowMs + LIST_LIFETIME_MS),
      // RFC 5280 §5.1.2.6: absent when no certificate is revoked.
      ...(revoked.length === 0 ? [] : [sequence(...revoked.map(listEntry))]),
      tagged(0, sequence(...listExtensions(signer.keyIdentifier, realNowMs))),
    ),
  );

const listEntry = ({ serial, wireAtMs, reason }: Revocation): Node =>
  sequence(integer(Buffer.from(serial, 'hex')), time(wireAtMs), ...entryExtensions(reason));

/** Maximum cached leaves; one takes about 2 kB. */
export const LEAVES_MAX = 10_000;

export interface LeafContextsOptions {
  /** Called for every new leaf, because an extension replaces the authority's certificate. */
  issuer: () => Signer;
  /** As in `createSecureContexts`. */
  chainOf?: (certificatePem: string) => readonly string[];
  clock: Pick<AdjustableClock, 'state'>;
  /** As in `createLeaf`; called for every new leaf. */
  filesUrl?: () => string | null;
  /** Beyond this many, the least recently used are dropped. */
  leavesMax?: number;
  /** All names of the leaf for `hostname`; by default that name alone, or those of `NO_HOSTNAME`. */
  namesFor?: (hostname: string) => readonly string[];
}

/** A bounded cache of leaves and their contexts by hostname, for `SNICallback`. */
export function createLeafContexts(options: LeafContextsOptions) {
  const { issuer, chainOf, clock, filesUrl = () => null, leavesMax = LEAVES_MAX, namesFor = platformNames } = options;
  const contexts = createSecureContexts<Leaf>({ clock, chainOf });
  const held = new LruMap<Leaf>(leavesMax, (_leaf, key) => contexts.drop(key));

  function hold(key: string): Leaf {
    const known = held.get(key);
    if (known !== undefined && !isRenewalDue(known, clock.state())) return known;
    const leaf = createLeaf({ issuer: issuer(), hostnames: namesFor(key), clock, filesUrl: filesUrl() });
    held.set(key, leaf);
    return leaf;
  }

  return {
    /**
     * The TLS context for `hostname`. Issues its leaf on first use and when it is due for renewal (about 1 ms), otherwise
     * a look-up. The caller must check that the hostname is served: this issues a leaf for any name that the root
     * permits. @throws VivariumError as `createLeaf`.
     */
    contextFor(hostname: string): SecureContext {
      const key = parseLeafName(hostname).text;
      return contexts.contextFor(key, hold(key));
    },
    /** The leaf that `contextFor` serves, issued if needed. */
    leafFor: (hostname: string): Leaf => hold(parseLeafName(hostname).text),
    /** Drops the leaf of `hostname`: the next use issues another. Open connections keep theirs. */
    drop: (hostname: string): void => held.delete(parseLeafName(hostname).text),
    /** Drops every leaf, for example after the root's certificate was replaced. */
    dropAll: (): void => held.clear(),
    get size() {
      return held.size;
    },
  };
}

/**
 * The placeholder for no hostname: its leaf, shown to clients without SNI (`https://127.0.0.1`), has every name of this
 * machine. No other leaf has addresses, because BoringSSL refuses those below a root that constrains addresses
 * (`v3_ncons.cc`).
 */
export const NO_HOSTNAME = LOOPBACK_ADDRESSES[0];

const platformNames = (hostname: string): readonly string[] =>
  hostname === NO_HOSTNAME ? [PLATFORM_ZONE, 'localhost', ...LOOPBACK_ADDRESSES] : [hostname];

/** How long a leaf is valid in real time, the backdated hour included. */
export const RUN_LEAF_MS = DAY_MS;

/** How many days leaves are made for at once, since nothing can sign any more afterwards. */
export const RUN_DAYS = 7;

/** Each begins before the one before it ends. */
const STEP_MS = RUN_LEAF_MS - 2 * HOUR_MS;

/**
 * Leaves for hosts that belong to others, for one run. Makes a root that may sign for exactly these names and no
 * address, signs the leaves, and drops the root's key. The caller checks who asks, and for which host.
 */
export function createRunLeaves(hosts: readonly string[], realNowMs: EpochMs) {
  const root = createRoot({ realNowMs, owner: `run for ${hosts.join(' and ')}`, suffixes: hosts, ofRun: RUN_DAYS });
  const leaves = Array.from({ length: Math.ceil((RUN_DAYS * DAY_MS) / STEP_MS) }, (_, index) => {
    const at = realNowMs + index * STEP_MS;
    const state = () => ({ now: at, realNow: at, offsetMs: 0, frozen: false });
    return createLeaf({ issuer: root, hostnames: hosts, clock: { state }, lifetimeMs: RUN_LEAF_MS - HOUR_MS });
  });
  return {
    rootPem: root.certificatePem,
    /** The leaf that is valid at this real time, with all hosts as its names; null when the last one has expired. */
    leafAt: (nowMs: EpochMs): Leaf | null =>
      leaves.find(({ wireNotAfterMs }) => nowMs < wireNotAfterMs - HOUR_MS / 2) ?? null,
  };
}
