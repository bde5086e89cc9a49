import type { SecureContext } from 'node:tls';
import type { AdjustableClock } from '../base/clock.ts';
import { LOOPBACK_ADDRESSES, PLATFORM_ZONE } from '../base/config.ts';
import { LruMap } from '../base/lru.ts';
import { createSecureContexts } from '../base/secure-contexts.ts';
import { createLeaf } from './leaf.ts';
import { isRenewalDue, type Leaf } from '../model/leaf.ts';
import { parseLeafName } from './names.ts';
import type { Signer } from './signer.ts';

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
  /**
   * All names of the leaf for `hostname`; by default that name alone, or those of `NO_HOSTNAME`.
   */
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
