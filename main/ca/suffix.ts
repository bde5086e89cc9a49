import { parse } from 'tldts';
import { isWithin, normalizeHostname } from '../base/hostname.ts';
import { VivariumError } from '../contract/errors.ts';

/** Names come in normal form; nothing is to be cut out of them or judged again. */
const PLAIN = { extractHostname: false, validateHostname: false, detectIp: false } as const;

/**
 * Reads a suffix that a root with `permitted` is to permit as well; the result is in normal form.
 * @throws VivariumError invalid_request for what is no suffix, or one under which names of many owners lie (`com`,
 *   `co.uk`, `github.io`, by the public suffix list); conflict for one that is permitted already.
 */
export function readNewSuffix(text: string, permitted: readonly string[]): string {
  const result = normalizeHostname(text);
  if (!result.ok) throw new VivariumError('invalid_request', `"${text}" is not a suffix: ${howToWrite(text)}`);
  const suffix = result.hostname;
  const wider = permitted.find((known) => isWithin(suffix, known));
  if (wider !== undefined) {
    throw new VivariumError('conflict', `The root permits ${suffix} already, by its suffix "${wider}".`);
  }
  const owner = ownerOfMany(suffix);
  if (owner === null) return suffix;
  throw new VivariumError(
    'invalid_request',
    `The root may not be extended to "${suffix}": ${owner}, and whoever got hold of the root’s key could pose as any ` +
      `of them on this machine. Name the domain that is yours, such as "acme.${suffix}".`,
  );
}

/** Why a suffix has names of many owners below it; null when it is one owner's, or nobody's in the public DNS. */
function ownerOfMany(suffix: string): string | null {
  const registry = parse(suffix, PLAIN);
  if (registry.isIcann === true && registry.publicSuffix === suffix) {
    return suffix.includes('.')
      ? 'it is a public suffix, under which a registry sells names'
      : 'it is a top-level domain of the real internet';
  }
  const shared = parse(suffix, { ...PLAIN, allowPrivateDomains: true });
  return shared.isPrivate === true && shared.publicSuffix === suffix
    ? 'it is a public suffix, under which a service gives names to its customers'
    : null;
}

function howToWrite(text: string): string {
  if (/^\*?\./.test(text)) {
    return 'write it without what stands before the first letter; every name below a suffix is permitted with it.';
  }
  if (/[/:@]/.test(text)) return 'write the bare name, without scheme, port or path, such as "acme.com".';
  return 'write a domain name such as "acme.com"; addresses are permitted by themselves, as far as they are this machine’s.';
}
