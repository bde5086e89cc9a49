import { readBearerToken } from '../base/http/message.ts';
import { API_KEY_PATTERN, createApiKeySecret, hashSecret } from '../base/secret.ts';
import type { RouteTable } from './route-table.ts';
import type { ApiKeyOwner, Route } from '../model/route.ts';

/** The SHA-256 of the API key secret in `authorization`; null if it does not have our format. */
export function hashToken(authorization: string): string | null {
  const token = readBearerToken(authorization);
  return token !== null && API_KEY_PATTERN.test(token) ? hashSecret(token) : null;
}

/** The id of the API key with that secret or internal token, if it belongs to the project of `route`; else null. */
export function identifyKey(
  secretHash: string,
  route: Pick<Route, 'projectId'>,
  table: Pick<RouteTable, 'apiKey'>,
  internalTokens: Pick<InternalTokens, 'redeem'>,
): string | null {
  const owner = table.apiKey(secretHash) ?? internalTokens.redeem(secretHash);
  return owner?.projectId === route.projectId ? owner.keyId : null;
}

/**
 * Lets Vivarium send a request as an API key whose secret is not stored. A token has the format of a secret and begins
 * with the visible prefix of the key's own secret, which the log shows; it is valid only in this process, and only
 * once.
 */
export function createInternalTokens() {
  const issued = new Map<string, ApiKeyOwner>();
  return {
    /** A bearer token that authenticates one request as an API key; `revoke` invalidates it if it is unused. */
    issue({ prefix, keyId, projectId }: ApiKeyOwner & { prefix: string }): { token: string; revoke: () => void } {
      const token = prefix + createApiKeySecret().slice(prefix.length);
      const hash = hashSecret(token);
      issued.set(hash, { keyId, projectId });
      return { token, revoke: () => void issued.delete(hash) };
    },
    /** Returns the owner of the token with this SHA-256 (hex), and invalidates the token. */
    redeem(secretHash: string): ApiKeyOwner | undefined {
      const owner = issued.get(secretHash);
      if (owner !== undefined) issued.delete(secretHash);
      return owner;
    },
  };
}

export type InternalTokens = ReturnType<typeof createInternalTokens>;
