import { createApiKeySecret, hashSecret } from '../base/secret.ts';
import type { ApiKeyOwner } from '../model/route.ts';

/** A bearer token that stands for an API key in one request. */
export interface Pass {
  token: string;
  /** Makes it worthless if it was not used. */
  withdraw(): void;
}

/**
 * Lets Vivarium itself send a request as an API key whose secret nobody has any more. A pass looks like a secret on the
 * wire, is known to this process alone, and is worth one request.
 */
export interface Passes {
  issue(owner: ApiKeyOwner): Pass;
  /** Whose pass has this SHA-256, in hex; from then on nobody's. */
  redeem(secretHash: string): ApiKeyOwner | undefined;
}

export function createPasses(): Passes {
  const issued = new Map<string, ApiKeyOwner>();
  return {
    issue(owner) {
      const token = createApiKeySecret();
      const hash = hashSecret(token);
      issued.set(hash, owner);
      return { token, withdraw: () => void issued.delete(hash) };
    },
    redeem(secretHash) {
      const owner = issued.get(secretHash);
      if (owner !== undefined) issued.delete(secretHash);
      return owner;
    },
  };
}

/** For a proxy that nothing is sent through on anybody's behalf. */
export const NO_PASSES: Pick<Passes, 'redeem'> = { redeem: () => undefined };
