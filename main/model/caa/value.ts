import { quoteOctets } from '../dns-name.ts';

/** One CAA record's data (RFC 8659 §4.1). The value's octets are one character (U+0000 to U+00FF) each. */
export interface CaaRecord {
  readonly flags: number;
  readonly tag: string;
  readonly value: string;
}

/** RFC 8659 §4.1: bit 0, the most significant one. A CA that does not support the tag must not issue. */
export const FLAG_CRITICAL = 128;

/**
 * Set by people who count bits from the other end ("flag 1"). Undefined in the RFC; Let’s Encrypt treats it as
 * critical.
 */
const FLAG_MISTAKEN = 1;

/**
 * The properties that this CA supports, including those for other uses, which it ignores: RFC 8659 §4.2 to §4.4,
 * RFC 9495, and VMC.
 */
const SUPPORTED_TAGS: ReadonlySet<string> = new Set(['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc']);

/**
 * Also registered (IANA, Certification Authority Restriction Properties), for validation by contact, which this CA does
 * not offer.
 */
const UNSUPPORTED_TAGS: ReadonlySet<string> = new Set(['contactemail', 'contactphone']);

/** Tags are case-insensitive (RFC 8659 §4.1). */
export const propertyOf = (record: CaaRecord): string => record.tag.toLowerCase();

export const isSupported = (record: CaaRecord): boolean => SUPPORTED_TAGS.has(propertyOf(record));
export const isRegistered = (record: CaaRecord): boolean =>
  isSupported(record) || UNSUPPORTED_TAGS.has(propertyOf(record));
const isCritical = (record: CaaRecord): boolean => (record.flags & FLAG_CRITICAL) !== 0;

/** RFC 8659 §4.1: a critical property that is unknown or unsupported forbids every issuance. */
export const forbidsIssuance = (record: CaaRecord): boolean => isCritical(record) && !isSupported(record);

/** Not critical by the RFC, but by Let’s Encrypt. */
export const isCriticalByMistake = (record: CaaRecord): boolean =>
  !isCritical(record) && (record.flags & FLAG_MISTAKEN) !== 0;

/** The record as a line of a zone file, without TTL and class: `example.test. CAA 0 issue "ca.example"`. */
export const formatCaa = (owner: string, record: CaaRecord): string => `${owner}. CAA ${formatCaaData(record)}`;

/** Its data alone: `0 issue "ca.example"`. */
export const formatCaaData = ({ flags, tag, value }: CaaRecord): string => `${flags} ${tag} ${quoteOctets(value)}`;

/** RFC 8659 §4.1: a tag is one or more letters and digits; RFC 6844 allowed at most 15. */
const TAG = /^[0-9a-z]+$/i;

/** Why a CAA record's flags or tag cannot be stored; null if they are valid. */
export function caaFault(flags: number, tag: string): string | null {
  if (!Number.isInteger(flags) || flags < 0 || flags > 255) return 'The flags are a number from 0 to 255; usually 0.';
  if (!TAG.test(tag)) return `The tag "${tag}" may have letters and digits only, such as "issue" or "issuewild".`;
  return null;
}

/** The value of an `issue` or `issuewild` property: the issuer and its conditions. */
export interface IssueValue {
  /** As written; empty if the property authorises no CA. */
  readonly issuer: string;
  readonly parameters: readonly IssueParameter[];
}

export interface IssueParameter {
  /** As written. */
  readonly tag: string;
  readonly value: string;
}

export type IssueValueResult = { ok: true; value: IssueValue } | { ok: false; fault: string };

/** RFC 8659 §4.2, `label` and `tag` alike: letters, digits and inner hyphens. */
const LABEL = /^[0-9a-z](?:[0-9a-z-]*[0-9a-z])?$/i;

/** RFC 8659 §4.2, `value`: printable ASCII without blanks and semicolons. */
const PARAMETER_VALUE = /^[\x21-\x3a\x3c-\x7e]*$/;

/**
 * Parses the value of an `issue` or `issuewild` property (RFC 8659 §4.2). A fault completes the sentence "The value is
 * malformed: …". A malformed value authorises no CA, like `";"`.
 */
export function parseIssueValue(text: string): IssueValueResult {
  // Neither issuers nor parameters can contain a semicolon.
  const [head = '', ...tails] = text.split(';').map(trimBlanks);
  const wrongIssuer = issuerFault(head);
  if (wrongIssuer !== null) return { ok: false, fault: wrongIssuer };
  if (tails.length === 0 || (tails.length === 1 && tails[0] === '')) {
    return { ok: true, value: { issuer: head, parameters: [] } };
  }
  const parameters: IssueParameter[] = [];
  for (const tail of tails) {
    const parameter = parseParameter(tail);
    if (typeof parameter === 'string') return { ok: false, fault: parameter };
    parameters.push(parameter);
  }
  return { ok: true, value: { issuer: head, parameters } };
}

/** Formats a value: `ca.example; validationmethods=http-01`. */
export const formatIssueValue = ({ issuer, parameters }: IssueValue): string =>
  [issuer, ...parameters.map(({ tag, value }) => `${tag}=${value}`)].join('; ');

/**
 * Trims RFC 5234 WSP (spaces and tabs), unlike `trim`, which removes more. A regular expression anchored at the end
 * would retry at every inner blank.
 */
function trimBlanks(text: string): string {
  const isBlank = (index: number): boolean => text.charAt(index) === ' ' || text.charAt(index) === '\t';
  let begin = 0;
  let end = text.length;
  while (begin < end && isBlank(begin)) begin++;
  while (end > begin && isBlank(end - 1)) end--;
  return text.slice(begin, end);
}

function issuerFault(issuer: string): string | null {
  if (issuer === '') return null;
  if (issuer.endsWith('.') && issuer !== '.') return `the issuer "${issuer}" must not end with a dot`;
  const label = issuer.split('.').find((part) => !LABEL.test(part));
  if (label === undefined) return null;
  return `"${issuer}" is not the domain name of a CA; only letters, digits, inner hyphens and dots can be in it`;
}

function parseParameter(text: string): IssueParameter | string {
  if (text === '') return 'a semicolon has no parameter after it';
  const equals = text.indexOf('=');
  if (equals < 0) return `the parameter "${text}" has no "="`;
  const tag = trimBlanks(text.slice(0, equals));
  const value = trimBlanks(text.slice(equals + 1));
  if (!LABEL.test(tag)) return `"${tag}" is not a parameter’s name; it has letters, digits and inner hyphens only`;
  if (!PARAMETER_VALUE.test(value)) {
    return `the value of "${tag}" contains a space or another character that is not allowed there`;
  }
  return { tag, value };
}
