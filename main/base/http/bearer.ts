/** `auth-scheme 1*SP token68` (RFC 9110 §11.4); the scheme is case-insensitive (§11.1). */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** The bearer token (RFC 6750 §2.1) of an `Authorization` field, or null. */
export const readBearerToken = (authorization: string | undefined): string | null =>
  BEARER.exec(authorization ?? '')?.[1] ?? null;

/** Whether an `Authorization` field uses the scheme Bearer, well-formed or not. */
export const hasBearerCredentials = (authorization: string | undefined): boolean =>
  /^bearer +\S/i.test(authorization ?? '');
