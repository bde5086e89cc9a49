import { readBearerToken } from '../base/http/bearer.ts';
import { API_KEY_PATTERN, hashSecret } from '../base/secret.ts';
import type { InternalTokens } from './internal-tokens.ts';
import type { RouteTable } from './route-table.ts';
import type { Route } from '../model/route.ts';

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
