import type { Instruction } from '../contract/domains.ts';
import { relativeText } from '../model/dns-name.ts';
import { apexOf, type DomainKind } from './public-suffix.ts';

/** RFC 1035 sets no default; most providers start with an hour. */
export const INSTRUCTION_TTL_SECONDS = 3600;

/** The zone of a hostname, if known. */
export interface ZoneFacts {
  zone: string;
  supportsAlias: boolean;
}

/**
 * The record to create at the DNS provider. Its name is relative to the zone if known, else to the registered domain.
 * An apex cannot have a CNAME beside its SOA and NS (RFC 1034 §3.6.2), so it gets an ALIAS.
 */
export function instructionsFor(
  hostname: string,
  kind: DomainKind,
  cnameTarget: string,
  zone: ZoneFacts | null = null,
): Instruction[] {
  const record = { value: cnameTarget, ttl: INSTRUCTION_TTL_SECONDS };
  const name = relativeText(hostname, zone?.zone ?? apexOf(hostname));
  if (kind === 'apex') return [{ type: 'ALIAS', name, ...record, note: apexNote(hostname, zone) }];
  const note = zoneAtItself(hostname, cnameTarget, zone);
  return [{ type: 'CNAME', name, ...record, ...(note === null ? {} : { note }) }];
}

function apexNote(hostname: string, zone: ZoneFacts | null): string {
  if (zone?.supportsAlias === false) {
    return `The provider of the zone ${zone.zone} supports neither ALIAS nor ANAME. Move the zone to one that does, or attach www.${hostname} and redirect from there.`;
  }
  return 'Some providers call it ANAME, or "CNAME flattening". A real CNAME is not possible here.';
}

/** What the owner of a subdomain must do first when it is a zone of its own; null otherwise. */
export function zoneAtItself(hostname: string, cnameTarget: string, zone: ZoneFacts | null): string | null {
  if (zone?.zone !== hostname) return null;
  const above = apexOf(hostname);
  const line = `${relativeText(hostname, above)} CNAME ${cnameTarget}`;
  return `${hostname} is itself a zone, and a zone’s apex cannot have a CNAME. Remove that zone, and add the record to the zone ${above}: ${line}`;
}

/** The record of an instruction as a zone-file line: `www CNAME cname.vivarium.localhost`. */
export const recordText = ({ name, type, value }: Instruction): string => `${name} ${type} ${value}`;
