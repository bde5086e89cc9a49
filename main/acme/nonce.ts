import { randomBytes } from 'node:crypto';

/** The maximum number of unused nonces. Beyond it, the oldest is dropped; a client that uses it gets `badNonce` and retries. */
export const NONCES_MAX = 20_000;

/** Nonces against replay (RFC 8555 §6.5): each is good once. Those of an earlier run are not good. */
export interface Nonces {
  create(): string;
  /** Whether it was good; it no longer is. */
  use(nonce: string): boolean;
}

export function createNonces(max = NONCES_MAX): Nonces {
  const waiting = new Set<string>();
  return {
    create() {
      const nonce = randomBytes(16).toString('base64url');
      waiting.add(nonce);
      if (waiting.size > max) for (const oldest of waiting) return (waiting.delete(oldest), nonce);
      return nonce;
    },
    use: (nonce) => waiting.delete(nonce),
  };
}
