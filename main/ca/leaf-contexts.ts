import type { SecureContext } from 'node:tls';
import type { AdjustableClock } from '../base/clock.ts';
import { LOOPBACK_ADDRESSES, PLATFORM_ZONE } from '../base/config.ts';
import { LruMap } from '../base/lru.ts';
import { createSecureContexts } from '../base/secure-contexts.ts';
import { createLeaf } from './leaf.ts';
import { isRenewalDue, type Leaf } from '../model/leaf.ts';
import { parseLeafName } from './names.ts';
import type { Root } from './root.ts';

/** One takes about 2 kB. */
export const LEAVES_MAX = 10_000;

export interface LeafContexts {
  /**
   * The context to serve `hostname` with. Its leaf is made on first use, and made anew when it is due; about 1 ms then,
   * otherwise a look-up. The caller decides which hostnames are served: this one makes a leaf for any that the root permits.
   * @throws VivariumError as `createLeaf`.
   */
  contextFor(hostname: string): SecureContext;
  /** The leaf that `contextFor` serves, made when need be. */
  leafFor(hostname: string): Leaf;
  /** Forgets the leaf of `hostname`: the next use makes another. Connections that are open keep theirs. */
  drop(hostname: string): void;
  /** Forgets every leaf, as after the root has got a new certificate. */
  dropAll(): void;
  /** How many are held. */
  readonly size: number;
}

export interface LeafContextsOptions {
  /** Read for every leaf that is made: the root gets a new certificate when it is extended. */
  root: () => Root;
  clock: Pick<AdjustableClock, 'state'>;
  /** As in `createLeaf`; read for every leaf that is made. */
  crlUrl?: () => string | null;
  /** The least recently used go first beyond this many. */
  leavesMax?: number;
  /** Every name of the leaf that serves `hostname`; by default the platform's leaf serves the bare machine as well. */
  namesFor?: (hostname: string) => readonly string[];
}

/** A bounded set of leaves and their contexts by hostname, for `SNICallback`. */
export function createLeafContexts(options: LeafContextsOptions): LeafContexts {
  const { root, clock, crlUrl = () => null, leavesMax = LEAVES_MAX, namesFor = platformNames } = options;
  const contexts = createSecureContexts<Leaf>({ clock });
  const held = new LruMap<Leaf>(leavesMax, (_leaf, key) => contexts.drop(key));

  function hold(key: string): Leaf {
    const known = held.get(key);
    if (known !== undefined && !isRenewalDue(known, clock.state())) return known;
    const leaf = createLeaf({ root: root(), hostnames: namesFor(key), clock, crlUrl: crlUrl() });
    held.set(key, leaf);
    return leaf;
  }

  return {
    contextFor(hostname) {
      const key = parseLeafName(hostname).text;
      return contexts.contextFor(key, hold(key));
    },
    leafFor: (hostname) => hold(parseLeafName(hostname).text),
    drop: (hostname) => held.delete(parseLeafName(hostname).text),
    dropAll: () => held.clear(),
    get size() {
      return held.size;
    },
  };
}

/** A client that names no host, as with `https://127.0.0.1`, is shown the platform's own leaf; so that one is for it too. */
export const platformNames = (hostname: string): readonly string[] =>
  hostname === PLATFORM_ZONE ? [hostname, 'localhost', ...LOOPBACK_ADDRESSES] : [hostname];
