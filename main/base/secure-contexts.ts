import { createSecureContext, type SecureContext } from 'node:tls';
import type { ClockState, EpochMs } from './clock.ts';
import { LruMap } from './lru.ts';

/** A certificate and its private key, both in PEM. */
export interface KeyPairPem {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/**
 * For TLS 1.2, the ciphers of Mozilla's intermediate configuration that an ECDSA certificate can be served with, all of
 * them authenticated encryption; those of TLS 1.3 are OpenSSL's own.
 */
const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
].join(':');

/** One takes OpenSSL about 30 kB outside the JavaScript heap: 300 MB for as long as so many hostnames are in use. */
export const SECURE_CONTEXTS_MAX = 10_000;

/** A context that was not asked for during this time gives its memory back. Real time. */
const IDLE_MS_MAX = 10 * 60_000;

/** TLS contexts by hostname: making one takes a good part of a handshake, so those in use are kept. */
export interface SecureContexts<Leaf extends KeyPairPem> {
  /** The context that serves `leaf` at `hostname`: the one that is held, or a new one. */
  contextFor(hostname: string, leaf: Leaf): SecureContext;
  /** The leaf of the context that is held for `hostname`. */
  leafOf(hostname: string): Leaf | null;
  drop(hostname: string): void;
  clear(): void;
  readonly size: number;
}

export function createSecureContexts<Leaf extends KeyPairPem>(options: {
  clock: { state(): Pick<ClockState, 'realNow'> };
  /** The least recently used go first beyond this many. */
  contextsMax?: number;
}): SecureContexts<Leaf> {
  const { clock, contextsMax = SECURE_CONTEXTS_MAX } = options;
  const held = new LruMap<{ leaf: Leaf; context: SecureContext; usedAtMs: EpochMs }>(contextsMax);

  function dropIdle(nowMs: EpochMs): void {
    for (const [hostname, { usedAtMs }] of held) {
      if (nowMs - usedAtMs < IDLE_MS_MAX) return;
      held.delete(hostname);
    }
  }

  return {
    contextFor(hostname, leaf) {
      const known = held.peek(hostname);
      const context =
        known?.leaf === leaf
          ? known.context
          : createSecureContext({
              key: leaf.privateKeyPem,
              cert: leaf.certificatePem,
              ciphers: CIPHERS,
              honorCipherOrder: true,
              minVersion: 'TLSv1.2',
            });
      const usedAtMs = clock.state().realNow;
      held.set(hostname, { leaf, context, usedAtMs });
      dropIdle(usedAtMs);
      return context;
    },
    leafOf: (hostname) => held.peek(hostname)?.leaf ?? null,
    drop: (hostname) => held.delete(hostname),
    clear: () => held.clear(),
    get size() {
      return held.size;
    },
  };
}
