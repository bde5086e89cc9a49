import { randomBytes } from 'node:crypto';

/** The maximum number of unused nonces. Beyond it, the oldest is dropped; a client that uses it gets `badNonce` and retries. */
export const NONCES_MAX = 20_000;

/** Nonces against replay (RFC 8555 §6.5): each is good once. Those of an earlier run are not good. */
export interface Nonces {
  /** A new one. One that is `spared` is never refused on purpose: it comes with a refusal, for the second attempt. */
  create(spared?: boolean): string;
  /** Whether it was good; it no longer is. */
  use(nonce: string): boolean;
}

/** `refuses` decides whether a good nonce is refused on purpose. */
export function createNonces({ refuses, max = NONCES_MAX }: { refuses: () => boolean; max?: number }): Nonces {
  const waiting = new Map<string, { spared: boolean }>();
  return {
    create(spared = false) {
      const nonce = randomBytes(16).toString('base64url');
      waiting.set(nonce, { spared });
      if (waiting.size > max) for (const oldest of waiting.keys()) return (waiting.delete(oldest), nonce);
      return nonce;
    },
    use(nonce) {
      const found = waiting.get(nonce);
      if (found === undefined) return false;
      waiting.delete(nonce);
      return found.spared || !refuses();
    },
  };
}
