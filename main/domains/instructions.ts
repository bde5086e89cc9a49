import type { Instruction } from '../contract/domains.ts';
import { relativeText } from '../model/dns-name.ts';
import { apexOf, type DomainKind } from './public-suffix.ts';

/** RFC 1035 leaves it to the owner; an hour is what most providers begin with. */
export const INSTRUCTION_TTL_SECONDS = 3600;

/** The zone that a hostname is in, as far as it is known. */
export interface ZoneFacts {
  zone: string;
  supportsAlias: boolean;
}

/**
 * The record to make at the DNS provider. Its name is relative to the zone where that is known, else to the registered
 * domain. An apex cannot have a CNAME (RFC 1034 §3.6.2: SOA and NS are there), so it gets an ALIAS.
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
    return `The provider of the zone ${zone.zone} has neither ALIAS nor ANAME. Move the zone to one that does, or attach www.${hostname} and redirect from there.`;
  }
  return 'Some providers call it ANAME, or "CNAME flattening". A real CNAME is not possible here.';
}

/** What a subdomain's owner must do first where it is a zone of its own; null where it is none. */
export function zoneAtItself(hostname: string, cnameTarget: string, zone: ZoneFacts | null): string | null {
  if (zone?.zone !== hostname) return null;
  const above = apexOf(hostname);
  const line = `${relativeText(hostname, above)} CNAME ${cnameTarget}`;
  return `There is a zone at ${hostname} itself, and a CNAME cannot stand at a zone’s apex. Remove that zone, and put the record into the zone ${above}: ${line}`;
}

/** The record of an instruction, as one writes it: `www CNAME cname.vivarium.localhost`. */
export const recordText = ({ name, type, value }: Instruction): string => `${name} ${type} ${value}`;
