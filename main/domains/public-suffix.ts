import { parse } from 'tldts';
import type { Domain } from '../contract/domains.ts';

export type DomainKind = Domain['kind'];

/** Disables validation: hostnames arrive in normal form. */
const PLAIN = { extractHostname: false, validateHostname: false, detectIp: false } as const;

/**
 * The registered domain, where the zone's apex is: the public suffix plus one label. A suffix on no list (including
 * ones such as `.test` and `.internal`) counts as one label, so the apex is the last two.
 *
 * The list's private section counts (`eu.org`, `uk.com`): customers of such a suffix have their own zones. A private
 * suffix itself (`github.io`) is a registered name to the registry above it. A public suffix is its own apex.
 */
export function apexOf(hostname: string): string {
  const { domain } = parse(hostname, { ...PLAIN, allowPrivateDomains: true });
  return domain ?? parse(hostname, PLAIN).domain ?? hostname;
}

export const kindOf = (hostname: string): DomainKind => (apexOf(hostname) === hostname ? 'apex' : 'subdomain');

/** Whether the name is a registry's suffix, such as `co.uk`, not a customer's. Private suffixes do not count. */
export const isPublicSuffix = (hostname: string): boolean => parse(hostname, PLAIN).publicSuffix === hostname;
