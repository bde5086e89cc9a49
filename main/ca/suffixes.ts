import { parse } from 'tldts';
import { isWithin, normalizeHostname } from '../base/text/hostname.ts';
import { conflict, invalidRequest } from '../contract/errors.ts';

/** Disables validation: names arrive in normal form. */
const PLAIN = { extractHostname: false, validateHostname: false, detectIp: false } as const;

/**
 * Parses a suffix to add to a root with `permitted`; the result is in normal form. @throws VivariumError
 * invalid_request for an invalid suffix, or one with many owners below it (`com`, `co.uk`, `github.io`, by the public
 * suffix list); conflict for one that is already permitted.
 */
export function readNewSuffix(text: string, permitted: readonly string[]): string {
  const result = normalizeHostname(text);
  if (!result.ok) throw invalidRequest(`"${text}" is not a suffix: ${howToWrite(text)}`);
  const suffix = result.hostname;
  const wider = permitted.find((known) => isWithin(suffix, known));
  if (wider !== undefined) throw conflict(`The root permits ${suffix} already, by its suffix "${wider}".`);
  const owner = ownerOfMany(suffix);
  if (owner === null) return suffix;
  throw invalidRequest(
    `The root may not be extended to "${suffix}": ${owner}, and a thief of the root’s key could impersonate any ` +
      `of them on this machine. Use your own domain, such as "acme.${suffix}".`,
  );
}

/** The public suffix below which a name may have an owner; null for a name that the public DNS does not have. */
export function publicSuffixAbove(name: string): string | null {
  const { isIcann, isPrivate, publicSuffix } = parse(name, { ...PLAIN, allowPrivateDomains: true });
  return isIcann === true || isPrivate === true ? publicSuffix : null;
}

/** Why names below a suffix have many owners; null for a suffix with one owner, or without any in the public DNS. */
function ownerOfMany(suffix: string): string | null {
  const registry = parse(suffix, PLAIN);
  if (registry.isIcann === true && registry.publicSuffix === suffix) {
    return suffix.includes('.')
      ? 'it is a public suffix, below which a registry sells names'
      : 'it is a top-level domain of the real internet';
  }
  const shared = parse(suffix, { ...PLAIN, allowPrivateDomains: true });
  return shared.isPrivate === true && shared.publicSuffix === suffix
    ? 'it is a public suffix, below which a service assigns names to its customers'
    : null;
}

function howToWrite(text: string): string {
  if (/^\*?\./.test(text)) return 'remove everything before the first letter; a suffix permits all names below it.';
  if (/[/:@]/.test(text)) return 'write the bare name, without scheme, port or path, such as "acme.com".';
  return 'write a domain name such as "acme.com"; this machine’s own addresses are always permitted.';
}
