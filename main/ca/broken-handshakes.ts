import { createPublicKey, generateKeyPair, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { promisify } from 'node:util';
import type { AdjustableClock, EpochMs } from '../base/clock.ts';
import { PLATFORM_ZONE } from '../base/config.ts';
import { LruMap } from '../base/lru.ts';
import { CIPHERS } from '../base/secure-contexts.ts';
import { notFound, unavailable } from '../contract/errors.ts';
import { DAY_MS } from '../contract/duration.ts';
import type { BrokenHandshake } from '../model/fault.ts';
import { LEAF_LIFETIME_MS, type Revocation } from '../model/leaf.ts';
import {
  certificatePem,
  COMMON_NAME_LENGTH_MAX,
  createKeyPair,
  type Digest,
  distinguishedName,
  keyIdentifier,
  type Signer,
} from './certificate.ts';
import { decode } from './der.ts';
import { parseLeafName } from './names.ts';
import { BACKDATE_MS, createRoot, type Root } from './root.ts';
import { signLeaf } from './leaf.ts';

/** The prefix of the ids of all entries here in the catalogue of breaks. */
const TLS_FAMILY = 'tls.';

/** Maximum contexts cached; one with 10,000 names takes a megabyte, the others 30 kB. */
const CONTEXTS_MAX = 200;

/** Maximum revoked leaves in the revocation list. */
const REVOKED_MAX = 1_000;

/** Maximum age of a context in real time, because its dates are relative to its creation. */
const CONTEXT_AGE_MS_MAX = DAY_MS;

/** Beyond Apple's limit of 825 days. */
const TOO_LONG_MS = 1_000 * DAY_MS;

const EXPIRED_FOR_MS = 10 * DAY_MS;
const BEGINS_IN_MS = 30 * DAY_MS;

/** For TLS 1.2 with an RSA key; the same strengths as in `CIPHERS`. */
const RSA_CIPHERS = 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384';

/** Permits keys and signatures that OpenSSL considers too weak to serve; BoringSSL neither knows it nor needs it. */
const WEAK = '@SECLEVEL=0';

/** The differences from the usual leaf and the usual handshake. */
interface Recipe {
  /** The names of the leaf; the hostname alone by default. */
  names?: readonly string[];
  /** Attributes of the subject; the hostname as the common name by default. */
  subject?: Parameters<typeof distinguishedName>[0];
  /** Milliseconds from now in real time; from an hour ago for 90 days by default. */
  dates?: readonly [beginsMs: number, endsMs: number];
  key?: 'p384' | 'rsa1024' | 'rsa8192';
  digest?: Digest;
  purpose?: 'clientAuth';
  /** The issuer: the intermediate by default. */
  by?: 'itself' | 'stranger';
  /**
   * The certificates sent after the leaf: by default the intermediate, the stranger's own root, or none after a
   * self-signed leaf.
   */
  chain?: 'none' | 'reversed';
  revoked?: true;
  options?: SecureContextOptions;
  protocols?: readonly string[] | null;
  http2Only?: true;
  clientCertificate?: true;
}

const manyNames = (hostname: string, count: number): string[] => [
  hostname,
  ...Array.from({ length: count - 1 }, (_, index) => `san${index + 1}.${PLATFORM_ZONE}`),
];

/** The wildcard two labels up, or the one below a hostname of at most three labels: neither covers the hostname. */
function wildcardAbove(hostname: string): string {
  const labels = hostname.split('.');
  return `*.${labels.length > 3 ? labels.slice(2).join('.') : hostname}`;
}

/** By the name of the entry. */
const RECIPES: Readonly<Record<string, (hostname: string) => Recipe>> = {
  expired: () => ({ dates: [-EXPIRED_FOR_MS - LEAF_LIFETIME_MS, -EXPIRED_FOR_MS] }),
  'not-yet-valid': () => ({ dates: [BEGINS_IN_MS, BEGINS_IN_MS + LEAF_LIFETIME_MS] }),
  'wrong-host': () => ({ names: [`another-hostname.${PLATFORM_ZONE}`] }),
  'self-signed': () => ({ by: 'itself' }),
  'untrusted-root': () => ({ by: 'stranger' }),
  'incomplete-chain': () => ({ chain: 'none' }),
  'reversed-chain': () => ({ chain: 'reversed' }),
  revoked: () => ({ revoked: true }),
  'no-common-name': () => ({ subject: { organization: 'Vivarium' } }),
  'no-subject': () => ({ subject: {} }),
  '1000-sans': (hostname) => ({ names: manyNames(hostname, 1_000) }),
  '10000-sans': (hostname) => ({ names: manyNames(hostname, 10_000) }),
  ecc384: () => ({ key: 'p384' }),
  rsa8192: () => ({ key: 'rsa8192' }),
  rsa1024: () => ({ key: 'rsa1024' }),
  sha1: () => ({ digest: 'sha1' }),
  // With TLS 1.3, the alert comes after the handshake, and may be lost while the client sends its request.
  'client-cert-missing': () => ({ clientCertificate: true, options: { maxVersion: 'TLSv1.2' } }),
  'tls1.2-only': () => ({ options: { maxVersion: 'TLSv1.2' } }),
  'tls1.3-only': () => ({ options: { minVersion: 'TLSv1.3' } }),
  'no-alpn': () => ({ protocols: null }),
  'h2-only': () => ({ protocols: ['h2'], http2Only: true }),
  'outside-name-constraints': (hostname) => ({ names: [hostname, 'www.example.com'] }),
  'client-auth-only': () => ({ purpose: 'clientAuth' }),
  'too-long': () => ({ dates: [-BACKDATE_MS, TOO_LONG_MS] }),
  'two-labels-deep': (hostname) => ({ names: [wildcardAbove(hostname)] }),
};

const WITHOUT_CERTIFICATE: Readonly<Record<string, BrokenHandshake>> = {
  'unrecognized-name': { kind: 'unrecognized_name' },
  'handshake-stalls': { kind: 'stall' },
};

/** The ids of the entries, as `tls.expired`. */
export const BROKEN_HANDSHAKES: ReadonlySet<string> = new Set(
  [...Object.keys(RECIPES), ...Object.keys(WITHOUT_CERTIFICATE)].map((name) => TLS_FAMILY + name),
);

/** Whether an entry of the catalogue breaks the handshake. */
export const isBrokenHandshake = (entry: string): boolean => BROKEN_HANDSHAKES.has(entry);

interface Options {
  root: () => Root;
  /** Null if the root permits none. */
  intermediate: () => Signer | null;
  clock: Pick<AdjustableClock, 'state'>;
  /** As in `createLeaf`. */
  filesUrl: () => string | null;
}

/** Handshakes broken on purpose, each created on first use. */
export function createBrokenHandshakes({ root, intermediate, clock, filesUrl }: Options) {
  const held = new LruMap<{ handshake: BrokenHandshake; root: Root; madeAtMs: EpochMs }>(CONTEXTS_MAX);
  const revoked = new LruMap<Revocation>(REVOKED_MAX);
  const rsaKeys = new Map<string, Promise<KeyObject>>();
  let stranger: Root | null = null;

  function rsaKey(size: 'rsa1024' | 'rsa8192'): Promise<KeyObject> {
    const known = rsaKeys.get(size);
    if (known !== undefined) return known;
    const made = makeRsaKey(size === 'rsa1024' ? 1_024 : 8_192);
    rsaKeys.set(size, made);
    // A failure is reported to the waiting callers; the next call tries again.
    made.catch(() => rsaKeys.delete(size));
    return made;
  }

  const strangerAt = (realNowMs: EpochMs): Root =>
    (stranger ??= createRoot({ realNowMs, owner: 'untrusted', leavesOnly: true }));

  function between(name: string): Signer {
    const issuer = intermediate();
    if (issuer !== null) return issuer;
    throw unavailable(
      `"${TLS_FAMILY}${name}" needs an intermediate, which this root does not permit. Renew the root: \`ca.renew\`.`,
    );
  }

  function make(name: string, hostname: string, recipe: Recipe, ownKey: KeyObject | null): BrokenHandshake {
    const { realNow } = clock.state();
    const { privateKey, point } = ownKey === null ? createKeyPair() : { privateKey: ownKey, point: Buffer.alloc(0) };
    const publicKey = ownKey === null ? undefined : spkiOf(ownKey);
    const subjectKey = keyIdentifier(publicKey ?? point);
    const subject = distinguishedName(recipe.subject ?? subjectOf(hostname));
    const issuer = recipe.by === 'stranger' ? strangerAt(realNow) : (intermediate() ?? root());
    const own = recipe.by === 'itself';
    const [beginsMs, endsMs] = recipe.dates ?? [-BACKDATE_MS, LEAF_LIFETIME_MS];
    const { der, serial } = signLeaf({
      issuer: own ? { role: 'root', subject, keyIdentifier: subjectKey, privateKey } : issuer,
      names: (recipe.names ?? [hostname]).map(parseLeafName),
      dates: { wireNotBeforeMs: realNow + beginsMs, wireNotAfterMs: realNow + endsMs },
      point: publicKey === undefined ? point : decode(publicKey),
      filesUrl: recipe.by === undefined ? filesUrl() : null,
      ...{ subject, subjectKey, purpose: recipe.purpose, digest: recipe.digest },
    });
    if (recipe.revoked === true)
      revoked.set(serial, { serial, reason: 'keyCompromise', wireAtMs: realNow - BACKDATE_MS });
    const sent = recipe.chain === 'none' || own || issuer.role === 'root' ? [] : [issuer];
    const chain = recipe.by === 'stranger' ? [issuer] : recipe.chain === 'reversed' ? [root(), between(name)] : sent;
    const cert = [certificatePem(der), ...chain.map((one) => one.certificatePem)].join('');
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    return {
      kind: 'handshake',
      context: contextOf({ cert, key, ...recipe.options }, recipe),
      protocols: recipe.protocols === undefined ? ['h2', 'http/1.1'] : recipe.protocols,
      http2Only: recipe.http2Only === true,
      clientCertificate: recipe.clientCertificate === true,
    };
  }

  function keep(name: string, hostname: string, recipe: Recipe, key: KeyObject | null): BrokenHandshake {
    const handshake = make(name, hostname, recipe, key);
    held.set(`${name} ${hostname}`, { handshake, root: root(), madeAtMs: clock.state().realNow });
    return handshake;
  }

  return {
    /**
     * The handshake of an entry (`tls.expired`) for a hostname; created on first use and cached. A promise while another
     * thread generates a large key, once for all hostnames. @throws VivariumError not_found for another entry;
     * unavailable when the root permits no intermediate that the entry needs.
     */
    of(entry: string, hostname: string): BrokenHandshake | Promise<BrokenHandshake> {
      const name = entry.slice(TLS_FAMILY.length);
      const without = WITHOUT_CERTIFICATE[name];
      if (without !== undefined) return without;
      const recipe = RECIPES[name]?.(hostname);
      if (recipe === undefined) throw notFound(`There is no broken handshake "${entry}".`);
      const known = held.get(`${name} ${hostname}`);
      const ageMs = clock.state().realNow - (known?.madeAtMs ?? 0);
      if (known?.root === root() && ageMs >= 0 && ageMs < CONTEXT_AGE_MS_MAX) return known.handshake;
      if (recipe.key === 'rsa1024' || recipe.key === 'rsa8192') {
        return rsaKey(recipe.key).then((key) => keep(name, hostname, recipe, key));
      }
      return keep(name, hostname, recipe, recipe.key === 'p384' ? makeP384Key() : null);
    },
    /** The leaves already served for the entry `tls.revoked`, for the revocation list. */
    revoked: (): Revocation[] => [...revoked].map(([, row]) => row),
  };
}

const subjectOf = (hostname: string): { commonName?: string } =>
  hostname.length <= COMMON_NAME_LENGTH_MAX ? { commonName: hostname } : {};

const makeRsaKey = async (modulusLength: number): Promise<KeyObject> =>
  (await promisify(generateKeyPair)('rsa', { modulusLength })).privateKey;

const makeP384Key = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey;

const spkiOf = (privateKey: KeyObject): Buffer => createPublicKey(privateKey).export({ type: 'spki', format: 'der' });

/** The usual context, also for RSA keys, and for keys and signatures that OpenSSL considers too weak. */
function contextOf(options: SecureContextOptions, { key, digest }: Recipe): SecureContext {
  const ciphers = key === 'rsa1024' || key === 'rsa8192' ? RSA_CIPHERS : CIPHERS;
  const usual = { ...options, minVersion: options.minVersion ?? 'TLSv1.2', honorCipherOrder: true } as const;
  if (key !== 'rsa1024' && digest === undefined) return createSecureContext({ ...usual, ciphers });
  try {
    return createSecureContext({ ...usual, ciphers: `${ciphers}:${WEAK}` });
  } catch {
    return createSecureContext({ ...usual, ciphers });
  }
}
