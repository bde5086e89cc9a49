import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import { DEVICE_HOSTNAME, PLATFORM_ZONE } from '../base/config.ts';
import { HOSTNAME_LENGTH_MAX, LABEL_LENGTH_MAX, normalizeHostname, isWithin } from '../base/text/hostname.ts';
import type { HostnameFault, HostnameResult } from '../base/text/hostname.ts';
import { apexOf, isPublicSuffix, kindOf, type DomainKind } from './public-suffix.ts';

/** Which rule a hostname breaks; `normalizeHostname` defines the syntax faults. */
export type HostnameRule =
  | HostnameFault
  | 'address'
  | 'url'
  | 'wildcard'
  | 'bad_a_label'
  | 'reserved_label'
  | 'reserved'
  | 'single_label'
  | 'public_suffix';

export interface HostnameRefusal {
  code: 'hostname_invalid' | 'hostname_reserved';
  rule: HostnameRule;
  message: string;
  fix: string;
}

export type HostnameVerdict =
  | { ok: true; hostname: string; kind: DomainKind; apex: string }
  | { ok: false; refusal: HostnameRefusal };

/** Maximum length of an invalid hostname in an error; the contract accepts 1,000 characters. */
const QUOTED_CHARACTERS_MAX = 100;

/**
 * Whether any project can attach a hostname: the first rule that it breaks, or its normal form and kind. Order: URLs,
 * addresses and wildcards; syntax; labels that no CA may certify; reserved names; single labels; public suffixes. A
 * wildcard may be attached below any name that may be attached itself.
 */
export function evaluateHostname(text: string): HostnameVerdict {
  const wildcard = /^\*\.(?=[^*]+$)/.exec(text.trim());
  if (wildcard === null) return evaluateName(text);
  const below = evaluateName(text.trim().slice(wildcard[0].length));
  return below.ok ? { ...below, hostname: `*.${below.hostname}`, kind: 'subdomain' } : below;
}

function evaluateName(text: string): HostnameVerdict {
  const refusal = shapeRefusal(text.trim());
  if (refusal !== null) return { ok: false, refusal };
  const result = normalizeHostname(text.trim());
  if (!result.ok) return { ok: false, refusal: syntaxRefusal(result, text.trim()) };
  const { hostname } = result;
  const named = labelRefusal(hostname) ?? nameRefusal(hostname);
  return named === null
    ? { ok: true, hostname, kind: kindOf(hostname), apex: apexOf(hostname) }
    : { ok: false, refusal: named };
}

const invalid = (rule: HostnameRule, message: string, fix: string): HostnameRefusal => ({
  code: 'hostname_invalid',
  rule,
  message,
  fix,
});

/** Invisible characters, and those that a terminal would interpret. */
const UNSEEN = /(?! )[\p{C}\p{Z}]/gu;

/** Cuts a long text and escapes invisible characters as `\u{200d}`. */
function quote(text: string): string {
  const shown = text.length > QUOTED_CHARACTERS_MAX ? `${text.slice(0, QUOTED_CHARACTERS_MAX)}…` : text;
  return `"${shown.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`)}"`;
}

/** Well-formed values of another kind, which get a more specific message than "bad character". */
function shapeRefusal(text: string): HostnameRefusal | null {
  if (isIP(text.replace(/^\[(.*)\]$/, '$1')) !== 0) {
    return invalid(
      'address',
      `${quote(text)} is an IP address. Domains are attached by name; certificates and CNAMEs need one.`,
      'Attach a hostname such as www.example.test.',
    );
  }
  if (text.includes('*')) {
    return invalid(
      'wildcard',
      `${quote(text)} has a misplaced wildcard: "*" must be the whole first label, and matches exactly one label (RFC 9525 §6.3).`,
      'Write it like *.example.test, or attach the hostnames that you use one by one.',
    );
  }
  const host = hostOfUrl(text);
  if (host === null) return null;
  return invalid(
    'url',
    `${quote(text)} is more than a hostname: remove the scheme, port, path and user.`,
    host === '' ? 'Write the hostname alone, such as www.example.test.' : `Write only ${host}.`,
  );
}

/** The host of a URL or `host:port`, empty when it has none; null for other texts. */
function hostOfUrl(text: string): string | null {
  if (!/[/:@?#]/.test(text)) return null;
  const url = URL.parse(text.includes('//') ? text : `http://${text}`);
  const host = url?.hostname ?? '';
  return normalizeHostname(host).ok ? host : '';
}

type Wrong = Extract<HostnameResult, { ok: false }>;

function syntaxRefusal({ fault, label = '' }: Wrong, text: string): HostnameRefusal {
  const [message, fix] = SYNTAX_TEXTS[fault](label, text);
  return invalid(fault, message, fix);
}

const SYNTAX_TEXTS: Record<HostnameFault, (label: string, text: string) => [message: string, fix: string]> = {
  empty: () => ['The hostname is empty.', 'Write a hostname such as www.example.test.'],
  not_text: (_label, text) => [
    `${quote(text)} has characters that internationalised domain names do not allow (UTS #46).`,
    'Write letters and digits of one script, joined by hyphens and dots; or the A-label that begins with xn--.',
  ],
  too_long: (_label, text) => [
    `The hostname has more than ${HOSTNAME_LENGTH_MAX} characters${/[^\0-\x7f]/.test(text) ? ' once its labels are in ASCII' : ''} (RFC 1035 §2.3.4).`,
    'Leave out labels, or shorten them.',
  ],
  empty_label: (_label, text) => [
    `${quote(text)} has two dots in a row, or one at its beginning.`,
    'Put exactly one dot between two labels.',
  ],
  label_too_long: (label) => [
    `The label ${quote(label)} has ${label.length} characters; the maximum is ${LABEL_LENGTH_MAX} (RFC 1035 §2.3.4).`,
    `Shorten it to ${LABEL_LENGTH_MAX} characters.`,
  ],
  bad_character: (label) => {
    const wrong = /[^a-z0-9-]/u.exec(label)?.[0] ?? '';
    const shown = wrong === ' ' ? 'a space' : wrong === '_' ? 'an underscore' : quote(wrong);
    return [
      `The label ${quote(label)} contains ${shown}; hostnames have letters, digits and hyphens only (RFC 1123 §2.1).`,
      wrong === '_' ? 'Use a hyphen instead.' : 'Remove it.',
    ];
  },
  hyphen_at_edge: (label) => [
    `The label ${quote(label)} begins or ends with a hyphen (RFC 1123 §2.1).`,
    'Put hyphens only between letters and digits.',
  ],
  all_numeric: (_label, text) => [
    `${quote(text)} ends with a number, so browsers treat it as an IPv4 address.`,
    'End the hostname with a suffix that has a letter in it, such as .test.',
  ],
};

/** Well-formed labels that no public CA may certify (RFC 5890 §2.3.1). */
function labelRefusal(hostname: string): HostnameRefusal | null {
  for (const label of hostname.split('.')) {
    if (label.startsWith('xn--') && domainToUnicode(label) === label) {
      return invalid(
        'bad_a_label',
        `The label ${quote(label)} begins like an internationalised one but does not decode (RFC 3492).`,
        'Write the name in its own script, or copy the A-label again.',
      );
    }
    if (label.slice(2, 4) === '--' && !label.startsWith('xn--')) {
      return invalid(
        'reserved_label',
        `The label ${quote(label)} has hyphens as its third and fourth characters, which are reserved for encodings such as xn-- (RFC 5891 §4.2.3.1); CAs refuse it.`,
        `Use one hyphen there: ${label.slice(0, 2)}-${label.slice(4)}.`,
      );
    }
  }
  return null;
}

function nameRefusal(hostname: string): HostnameRefusal | null {
  const reserved = reservedReason(hostname);
  if (reserved !== null) {
    return {
      code: 'hostname_reserved',
      rule: 'reserved',
      message: `${quote(hostname)} ${reserved}.`,
      fix: 'Attach a hostname of your own, such as www.example.test.',
    };
  }
  if (!hostname.includes('.')) {
    return invalid(
      'single_label',
      `${quote(hostname)} is a single label. Hostnames in the DNS have two labels or more; a top-level domain belongs to its registry.`,
      `Attach a name with two labels or more, such as shop.${hostname}; for tests, any name under .test.`,
    );
  }
  if (isPublicSuffix(hostname)) {
    return invalid(
      'public_suffix',
      `${quote(hostname)} is a public suffix: its names have many owners, and it belongs to none of them.`,
      `Attach a name registered below it, such as shop.${hostname}.`,
    );
  }
  return null;
}

interface ReservedName {
  suffix: string;
  /** Whether only the name itself is reserved, while names below it are available. */
  only?: true;
  /** Names below the suffix that are still available. */
  except?: string;
  /** Completes the sentence "`www.example.local` …". */
  why: string;
}

/**
 * Reserved names. `.test`, `.example`, `.internal` and names below `.localhost` are not included, because users attach
 * those. The first match applies.
 */
const RESERVED: readonly ReservedName[] = [
  { suffix: PLATFORM_ZONE, why: 'belongs to the platform: projects get their hostnames there by their slugs' },
  { suffix: DEVICE_HOSTNAME, only: true, why: 'is Vivarium itself, for other devices' },
  {
    suffix: 'localhost',
    only: true,
    why: 'is this machine itself (RFC 6761 §6.3); only names below it can be attached',
  },
  { suffix: 'invalid', why: 'ends with "invalid", which never exists in the DNS (RFC 6761 §6.4)' },
  {
    suffix: 'local',
    why: 'ends with "local", which is looked up by multicast on the local link (RFC 6762), not in the DNS',
  },
  { suffix: 'onion', why: 'ends with "onion", which is looked up in Tor (RFC 7686), not in the DNS' },
  { suffix: 'alt', why: 'ends with "alt", which is reserved for names outside the DNS (RFC 9476)' },
  { suffix: 'in-addr.arpa', why: 'is the reverse name of an IPv4 address, not a hostname' },
  { suffix: 'ip6.arpa', why: 'is the reverse name of an IPv6 address, not a hostname' },
  { suffix: 'arpa', except: 'home.arpa', why: 'ends with "arpa", which is reserved for DNS infrastructure (RFC 3172)' },
];

/** Why a hostname in normal form cannot be attached by any customer; null when it can. */
export function reservedReason(hostname: string): string | null {
  const match = RESERVED.find(({ suffix, only, except }) => {
    if (only === true) return hostname === suffix;
    return isWithin(hostname, suffix) && !(except !== undefined && isWithin(hostname, except));
  });
  return match?.why ?? null;
}
