/** RFC 8659 §4.1: a tag is letters and digits, at least one, and should have no more than 15. */
const TAG = /^[0-9a-z]+$/i;
const TAG_LENGTH_MAX = 15;

const FLAGS_CRITICAL = 128;

/** RFC 8659 §4.2: `[issuer] [";" tag=value *(";" tag=value)]`, blanks allowed around each part. */
const LABEL = '[0-9a-z](?:[0-9a-z-]*[0-9a-z])?';
const PARAMETER = `[ \\t]*${LABEL}[ \\t]*=[ \\t]*[\\x21-\\x3a\\x3c-\\x7e]*[ \\t]*`;
const ISSUE_VALUE = new RegExp(
  `^[ \\t]*(?:${LABEL}(?:\\.${LABEL})*)?[ \\t]*(?:;(?:${PARAMETER}(?:;${PARAMETER})*|[ \\t]*))?$`,
  'i',
);

/** The longest value that is matched against the grammar; RFC 8659 names none, and no CA publishes one near it. */
const ISSUE_VALUE_OCTETS_MAX = 1024;

const KNOWN_TAGS = new Set(['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc', 'contactemail', 'contactphone']);

/** What is wrong with a CAA record's flags or tag, so that it can't be stored; null when nothing is. */
export function caaFault(flags: number, tag: string): string | null {
  if (!Number.isInteger(flags) || flags < 0 || flags > 255) return 'The flags are a number from 0 to 255; usually 0.';
  if (!TAG.test(tag)) return `The tag "${tag}" may have letters and digits only, such as "issue" or "issuewild".`;
  if (tag.length > TAG_LENGTH_MAX) return `The tag "${tag}" has more than ${TAG_LENGTH_MAX} characters.`;
  return null;
}

/**
 * What a provider would let pass although it does not do what was probably meant: the record is stored, and the person
 * is told.
 */
export function caaWarnings(data: { flags: number; tag: string; value: string }): string[] {
  const warnings: string[] = [];
  const tag = data.tag.toLowerCase();
  if ((data.flags & ~FLAGS_CRITICAL) !== 0) {
    warnings.push(`Of the flags only ${FLAGS_CRITICAL} (critical) has a meaning; ${data.flags} has other bits.`);
  }
  if (!KNOWN_TAGS.has(tag)) {
    const effect = (data.flags & FLAGS_CRITICAL) !== 0 ? 'being critical, it forbids every issuance' : 'CAs ignore it';
    warnings.push(`The tag "${data.tag}" is not a registered one: ${effect}.`);
  }
  if ((tag === 'issue' || tag === 'issuewild') && !isIssueValue(data.value)) {
    warnings.push(`The value "${data.value}" is malformed (RFC 8659 §4.2): as it is, it authorises no CA at all.`);
  }
  return warnings;
}

function isIssueValue(value: string): boolean {
  return value.length <= ISSUE_VALUE_OCTETS_MAX && ISSUE_VALUE.test(value);
}
