import { createApiKeySecret, hashSecret } from '../base/secret.ts';
import type { ApiKeyOwner } from '../model/route.ts';

/** A bearer token that stands for an API key in one request. */
export interface InternalToken {
  token: string;
  /** Makes it worthless if it was not used. */
  revoke(): void;
}

/**
 * Lets Vivarium itself send a request as an API key whose secret nobody has any more. A internalToken looks like a secret on the
 * wire, is known to this process alone, and is worth one request.
 */
export interface InternalTokens {
  issue(owner: ApiKeyOwner): InternalToken;
  /** Whose internalToken has this SHA-256, in hex; from then on nobody's. */
  redeem(secretHash: string): ApiKeyOwner | undefined;
}

export function createInternalTokens(): InternalTokens {
  const issued = new Map<string, ApiKeyOwner>();
  return {
    issue(owner) {
      const token = createApiKeySecret();
      const hash = hashSecret(token);
      issued.set(hash, owner);
      return { token, revoke: () => void issued.delete(hash) };
    },
    redeem(secretHash) {
      const owner = issued.get(secretHash);
      if (owner !== undefined) issued.delete(secretHash);
      return owner;
    },
  };
}

/** For a proxy that nothing is sent through on anybody's behalf. */
export const NO_INTERNAL_TOKENS: Pick<InternalTokens, 'redeem'> = { redeem: () => undefined };
