import { PLATFORM_ZONE } from '../base/config.ts';
import { isWithin } from '../base/hostname.ts';

interface ReservedName {
  suffix: string;
  /** Whether the name alone is kept, and those below it are free. */
  only?: true;
  /** Names below the suffix that are free all the same. */
  except?: string;
  /** Completes the sentence "`www.example.local` …". */
  why: string;
}

/**
 * Names that no customer can own. `.test`, `.example`, `.internal` and names below `.localhost` are not among them:
 * they are what one attaches here. The first match counts.
 */
const RESERVED: readonly ReservedName[] = [
  { suffix: PLATFORM_ZONE, why: 'belongs to the platform: projects get their hostnames there by their slugs' },
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
  { suffix: 'alt', why: 'ends with "alt", which is kept for names outside the DNS (RFC 9476)' },
  { suffix: 'in-addr.arpa', why: 'is the reverse name of an IPv4 address, not a hostname' },
  { suffix: 'ip6.arpa', why: 'is the reverse name of an IPv6 address, not a hostname' },
  { suffix: 'arpa', except: 'home.arpa', why: 'ends with "arpa", which the DNS keeps for itself (RFC 3172)' },
];

/** Why nobody can attach a hostname in normal form; null when it is free. */
export function reservedReason(hostname: string): string | null {
  const match = RESERVED.find(({ suffix, only, except }) => {
    if (only) return hostname === suffix;
    return isWithin(hostname, suffix) && !(except !== undefined && isWithin(hostname, except));
  });
  return match?.why ?? null;
}
