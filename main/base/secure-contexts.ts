import { createSecureContext, type SecureContext } from 'node:tls';
import type { ClockState, EpochMs } from './clock.ts';
import { LruMap } from './lru.ts';

export interface KeyPairPem {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/**
 * For TLS 1.2: the ECDSA ciphers of Mozilla's intermediate configuration, all AEAD. TLS 1.3 uses OpenSSL's defaults.
 */
export const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
].join(':');

/** A context takes about 30 kB outside the JavaScript heap, so the worst case is 300 MB. */
export const SECURE_CONTEXTS_MAX = 10_000;

/** Contexts unused for this long are freed. Real time. */
const IDLE_MS_MAX = 10 * 60_000;

/** A cache of TLS contexts by hostname: creating one takes a good part of a handshake. */
export function createSecureContexts<Leaf extends KeyPairPem>(options: {
  clock: { state(): Pick<ClockState, 'realNow'> };
  /** The certificates between a leaf and its root, in PEM, sent after it; none by default. */
  chainOf?: ((certificatePem: string) => readonly string[]) | undefined;
  /** Beyond this many, the least recently used are evicted. */
  contextsMax?: number;
}) {
  const { clock, chainOf = () => [], contextsMax = SECURE_CONTEXTS_MAX } = options;
  const held = new LruMap<{ leaf: Leaf; context: SecureContext; usedAtMs: EpochMs }>(contextsMax);

  function dropIdle(nowMs: EpochMs): void {
    for (const [hostname, { usedAtMs }] of held) {
      if (nowMs - usedAtMs < IDLE_MS_MAX) return;
      held.delete(hostname);
    }
  }

  return {
    /** The context that serves `leaf` at `hostname`, cached or new. */
    contextFor(hostname: string, leaf: Leaf): SecureContext {
      const known = held.peek(hostname);
      const context =
        known?.leaf === leaf
          ? known.context
          : createSecureContext({
              key: leaf.privateKeyPem,
              cert: leaf.certificatePem + chainOf(leaf.certificatePem).join(''),
              ciphers: CIPHERS,
              honorCipherOrder: true,
              minVersion: 'TLSv1.2',
            });
      const usedAtMs = clock.state().realNow;
      held.set(hostname, { leaf, context, usedAtMs });
      dropIdle(usedAtMs);
      return context;
    },
    /** The leaf of the cached context of `hostname`. */
    leafOf: (hostname: string): Leaf | null => held.peek(hostname)?.leaf ?? null,
    drop: (hostname: string) => held.delete(hostname),
    clear: () => held.clear(),
    get size(): number {
      return held.size;
    },
  };
}
