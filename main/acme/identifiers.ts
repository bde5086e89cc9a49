import { isIP } from 'node:net';
import { canonicalAddress } from '../model/address.ts';
import { HOSTNAME_LENGTH_MAX, normalizeHostname } from '../base/hostname.ts';
import { isWildcard } from '../contract/wildcards.ts';
import type { AcmeIdentifier } from '../model/acme.ts';
import { isObject } from './jws.ts';
import { AcmeError, malformed, type ProblemType } from './problem.ts';

/** Let’s Encrypt's limit, and that of leaves here. */
export const IDENTIFIERS_MAX = 100;

/** The identifiers of a new order (RFC 8555 §7.1.3, RFC 8738): without duplicates, in the order given. */
export function readIdentifiers(value: unknown): AcmeIdentifier[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > IDENTIFIERS_MAX) {
    throw malformed(`An order has 1 to ${IDENTIFIERS_MAX} identifiers.`);
  }
  const read = value.map(readIdentifier);
  return [...new Map(read.map((identifier) => [identifier.value, identifier])).values()];
}

function readIdentifier(given: unknown): AcmeIdentifier {
  if (!isObject(given) || typeof given['type'] !== 'string' || typeof given['value'] !== 'string') {
    throw malformed('An identifier has a "type" and a "value", both texts.');
  }
  const { type, value } = given;
  if (type !== 'dns' && type !== 'ip') {
    throw new AcmeError('unsupportedIdentifier', `Identifiers are of the type "dns" or "ip", not ${quoted(type)}.`);
  }
  const refuse = (why: string) =>
    new AcmeError('rejectedIdentifier', `${quoted(value)} ${why}`, { members: { identifier: { type, value } } });
  if (type === 'ip') {
    if (isIP(value) === 0 || canonicalAddress(value) !== value) throw refuse('is not an IP address in its usual form.');
    return { type, value };
  }
  if (isIP(value) !== 0) throw refuse('is an IP address; its identifier has the type "ip".');
  const result = normalizeHostname(isWildcard(value) ? value.slice(2) : value);
  if (!result.ok) throw refuse(`is not a hostname: ${result.fault.replaceAll('_', ' ')}.`);
  return { type, value: isWildcard(value) ? `*.${result.hostname}` : result.hostname };
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, HOSTNAME_LENGTH_MAX));

/** The names of a CSR, as far as they decide. */
export interface RequestedNames {
  readonly dns: readonly string[];
  readonly ip: readonly string[];
  /** Of other kinds, such as e-mail addresses. */
  readonly others: number;
  readonly commonName: string | null;
}

/** Why a CSR is not for exactly these identifiers (RFC 8555 §7.4); null if it is. */
export function namesFault(identifiers: readonly AcmeIdentifier[], names: RequestedNames): string | null {
  const wanted = new Set(identifiers.map(({ value }) => value));
  const found = new Set([...names.dns.map((name) => name.toLowerCase()), ...names.ip]);
  if (names.others > 0) return 'It has a name that is neither a hostname nor an IP address.';
  if (found.size === 0) return 'It has no subject alternative name; clients do not read the common name.';
  const extra = [...found].find((name) => !wanted.has(name));
  if (extra !== undefined) return `It is also for ${quoted(extra)}, which the order is not.`;
  const missing = [...wanted].find((name) => !found.has(name));
  if (missing !== undefined) return `It is not for ${missing}, which the order is.`;
  const common = names.commonName?.toLowerCase() ?? null;
  if (common !== null && !found.has(common))
    return `Its common name ${quoted(common)} is none of its alternative names.`;
  return null;
}

/** One problem for several identifiers, with one for each beneath (RFC 8555 §6.7.1). */
export function problemOf(
  type: ProblemType,
  faults: readonly { identifier: AcmeIdentifier; detail: string }[],
): AcmeError {
  const subproblems = faults.map(({ identifier, detail }) => ({
    type: `urn:ietf:params:acme:error:${type}`,
    detail,
    identifier,
  }));
  const detail = faults.map((fault) => fault.detail).join(' ');
  return new AcmeError(type, detail, { members: { subproblems } });
}
