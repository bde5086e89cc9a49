/**
 * The name-value pairs of a flat list (name, value, …), such as Node's raw headers. Allocates an array per field, so
 * code on the hot path loops over the flat list instead.
 */
export function pairsOf(fields: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) pairs.push([fields[index] ?? '', fields[index + 1] ?? '']);
  return pairs;
}

/** A flat list without the fields whose lower-case name is unwanted; keeps spelling and order. */
export function withoutFields(fields: readonly string[], isUnwanted: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] as string;
    if (!isUnwanted(name.toLowerCase())) kept.push(name, fields[index + 1] as string);
  }
  return kept;
}

/** `auth-scheme 1*SP token68` (RFC 9110 §11.4); the scheme is case-insensitive (§11.1). */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i;

/** The bearer token (RFC 6750 §2.1) of an `Authorization` field, or null. */
export const readBearerToken = (authorization: string | undefined): string | null =>
  BEARER.exec(authorization ?? '')?.[1] ?? null;

/** Whether an `Authorization` field uses the scheme Bearer, well-formed or not. */
export const hasBearerCredentials = (authorization: string | undefined): boolean =>
  /^bearer +\S/i.test(authorization ?? '');
