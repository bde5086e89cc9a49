/** One CAA record's data (RFC 8659 §4.1). The value's octets are one character (U+0000 to U+00FF) each. */
export interface CaaRecord {
  readonly flags: number;
  readonly tag: string;
  readonly value: string;
}

/** RFC 8659 §4.1: bit 0, the most significant one. A CA that does not know the tag must not issue. */
const FLAG_CRITICAL = 128;

/**
 * The bit that people set when they count from the other end ("flag 1"). Without meaning in the RFC; Let’s Encrypt
 * takes it for the critical flag.
 */
const FLAG_MISTAKEN = 1;

/** What this CA understands: RFC 8659 §4.2 to §4.4, RFC 9495, and VMC. Contact properties are not for issuance. */
const KNOWN_TAGS: ReadonlySet<string> = new Set(['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc']);

/** Tags are compared without case (RFC 8659 §4.1). */
export const propertyOf = (record: CaaRecord): string => record.tag.toLowerCase();

export const isKnown = (record: CaaRecord): boolean => KNOWN_TAGS.has(propertyOf(record));
export const isCritical = (record: CaaRecord): boolean => (record.flags & FLAG_CRITICAL) !== 0;

/** Not critical by the RFC, and critical to Let’s Encrypt. */
export const isCriticalByMistake = (record: CaaRecord): boolean =>
  !isCritical(record) && (record.flags & FLAG_MISTAKEN) !== 0;

/** The record as a line of a zone file, without TTL and class: `example.test. CAA 0 issue "ca.example"`. */
export const formatCaa = (owner: string, record: CaaRecord): string => `${owner}. CAA ${formatCaaData(record)}`;

/** Its data alone: `0 issue "ca.example"`. */
export const formatCaaData = ({ flags, tag, value }: CaaRecord): string => `${flags} ${tag} "${escapeText(value)}"`;

/** RFC 1035 §5.1: quotation marks and backslashes are escaped, what is not printable ASCII is `\DDD`. */
const escapeText = (text: string): string =>
  text.replace(/["\\]|[^ -~]/g, (octet) =>
    octet === '"' || octet === '\\' ? `\\${octet}` : `\\${String(octet.charCodeAt(0)).padStart(3, '0')}`,
  );
