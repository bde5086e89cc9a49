import { isIP } from 'node:net';
import { isRecord } from '../base/text/exact-json.ts';
import { canonicalAddress } from '../model/address.ts';
import { HOSTNAME_LENGTH_MAX, normalizeHostname } from '../base/text/hostname.ts';
import { isWildcard } from '../contract/hostnames.ts';
import type { AcmeIdentifier } from '../model/acme.ts';
import { AcmeError, malformed, type ProblemType } from './problem.ts';

/** Let’s Encrypt's limit, which also applies to Vivarium's leaves. */
export const IDENTIFIERS_MAX = 100;

/** The identifiers of a new order (RFC 8555 §7.1.3, RFC 8738): without duplicates, in the order given. */
export function readIdentifiers(value: unknown): AcmeIdentifier[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > IDENTIFIERS_MAX) {
    throw malformed(`An order must have 1 to ${IDENTIFIERS_MAX} identifiers.`);
  }
  const read = value.map(readIdentifier);
  return [...new Map(read.map((identifier) => [identifier.value, identifier])).values()];
}

function readIdentifier(given: unknown): AcmeIdentifier {
  if (!isRecord(given) || typeof given['type'] !== 'string' || typeof given['value'] !== 'string') {
    throw malformed('An identifier must have a "type" and a "value", both strings.');
  }
  const { type, value } = given;
  if (type !== 'dns' && type !== 'ip') {
    throw new AcmeError(
      'unsupportedIdentifier',
      `The type of an identifier must be "dns" or "ip", not ${quoted(type)}.`,
    );
  }
  const refuse = (why: string) =>
    new AcmeError('rejectedIdentifier', `${quoted(value)} ${why}`, { members: { identifier: { type, value } } });
  if (type === 'ip') {
    if (isIP(value) === 0 || canonicalAddress(value) !== value) throw refuse('is not an IP address in its usual form.');
    return { type, value };
  }
  if (isIP(value) !== 0) throw refuse('is an IP address, which needs the type "ip".');
  const result = normalizeHostname(isWildcard(value) ? value.slice(2) : value);
  if (!result.ok) throw refuse(`is not a hostname: ${result.fault.replaceAll('_', ' ')}.`);
  return { type, value: isWildcard(value) ? `*.${result.hostname}` : result.hostname };
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, HOSTNAME_LENGTH_MAX));

/** The names of a CSR that are compared with the order. */
export interface RequestedNames {
  readonly dns: readonly string[];
  readonly ip: readonly string[];
  /** The number of names of other kinds, such as e-mail addresses. */
  readonly others: number;
  readonly commonName: string | null;
}

/** Why the names of a CSR differ from these identifiers (RFC 8555 §7.4); null if they match. */
export function namesFault(identifiers: readonly AcmeIdentifier[], names: RequestedNames): string | null {
  const wanted = new Set(identifiers.map(({ value }) => value));
  const found = new Set([...names.dns.map((name) => name.toLowerCase()), ...names.ip]);
  if (names.others > 0) return 'The CSR has a name that is neither a hostname nor an IP address.';
  if (found.size === 0) return 'The CSR has no subject alternative name; clients do not read the common name.';
  const extra = [...found].find((name) => !wanted.has(name));
  if (extra !== undefined) return `The CSR contains ${quoted(extra)}, which the order does not.`;
  const missing = [...wanted].find((name) => !found.has(name));
  if (missing !== undefined) return `The CSR lacks ${missing}, which the order contains.`;
  const common = names.commonName?.toLowerCase() ?? null;
  if (common !== null && !found.has(common))
    return `The common name ${quoted(common)} of the CSR is not among its alternative names.`;
  return null;
}

/** One problem for several identifiers, with a subproblem for each (RFC 8555 §6.7.1). */
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
