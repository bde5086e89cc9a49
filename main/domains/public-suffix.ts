import { parse } from 'tldts';
import type { Domain } from '../contract/domains.ts';

export type DomainKind = Domain['kind'];

/** Hostnames come in normal form; nothing is to be cut out of them or judged again. */
const PLAIN = { extractHostname: false, validateHostname: false, detectIp: false } as const;

/**
 * The name that its owner has registered, where the zone's apex is: the public suffix and one label more. A suffix that
 * is on no list, reserved ones such as `.test` and `.internal` among them, has one label, so the apex is the last two.
 *
 * The list's private section counts (`eu.org`, `uk.com`): who registers below such a suffix has a zone of their own.
 * A private suffix itself (`github.io`) is a registered name to the registry above it. A public suffix is its own apex.
 */
export function apexOf(hostname: string): string {
  const { domain } = parse(hostname, { ...PLAIN, allowPrivateDomains: true });
  return domain ?? parse(hostname, PLAIN).domain ?? hostname;
}

export const kindOf = (hostname: string): DomainKind => (apexOf(hostname) === hostname ? 'apex' : 'subdomain');

/** Whether a registry, not a customer, is what the name stands for: `co.uk`. Private suffixes are not meant. */
export const isPublicSuffix = (hostname: string): boolean => parse(hostname, PLAIN).publicSuffix === hostname;
