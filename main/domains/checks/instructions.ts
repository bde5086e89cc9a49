import { LOOPBACK_ADDRESSES } from '../../base/config.ts';
import type { Instruction } from '../../contract/domains.ts';
import { relativeText } from '../../model/dns-name.ts';
import type { DomainRules } from '../personas/claims.ts';
import type { ClaimRule } from '../personas/personas.ts';
import { apexOf, type DomainKind } from '../public-suffix.ts';

/** RFC 1035 sets no default; most providers start with an hour. */
export const INSTRUCTION_TTL_SECONDS = 3600;

/** The zone of a hostname, if known. */
export interface ZoneFacts {
  zone: string;
  supportsAlias: boolean;
}

/**
 * The records to create at the DNS provider: the record that leads here, and the TXT records of a claim. Names are
 * relative to the zone if known, else to the registered domain. An apex cannot have a CNAME beside its SOA and NS (RFC
 * 1034 §3.6.2), so it gets an ALIAS, or an address if the persona requires one.
 */
export function instructionsFor(
  hostname: string,
  kind: DomainKind,
  { persona, cnameTarget, address = LOOPBACK_ADDRESSES[0], claim }: DomainRules,
  zone: ZoneFacts | null = null,
): Instruction[] {
  const origin = zone?.zone ?? apexOf(hostname);
  const ttl = INSTRUCTION_TTL_SECONDS;
  const proofs = persona.claim === 'warned' ? [] : (claim?.proofs ?? []);
  return [
    leadingHere(),
    ...proofs.map(({ name, value }) => ({
      type: 'TXT' as const,
      name: relativeText(name, origin),
      value,
      ttl,
      note: PROOF_NOTES[persona.claim],
    })),
  ];

  function leadingHere(): Instruction {
    const name = relativeText(hostname, origin);
    if (kind === 'apex') {
      if (persona.apex === 'A') return { type: 'A', name, value: address, ttl };
      return { type: 'ALIAS', name, value: cnameTarget, ttl, note: apexNote(hostname, zone) };
    }
    const note = zoneAtItself(hostname, cnameTarget, zone);
    return { type: 'CNAME', name, value: cnameTarget, ttl, ...(note === null ? {} : { note }) };
  }
}

const PROOF_NOTES: Record<ClaimRule, string> = {
  warned: '',
  unique: '',
  none: '',
  contested: 'Another project has a domain above. You can remove this record after verification.',
  reserved: 'Optional: keeps the name for this project, even while a record leads here and no domain is attached.',
  alternative: 'Verifies the hostname before its traffic moves here; not needed once the CNAME is right.',
  unless_cname:
    'Proves that the hostname is this project’s where no CNAME does. You can remove this record after verification.',
  required: 'Add the TXT records before the record that leads here: HTTPS has no gap then.',
};

function apexNote(hostname: string, zone: ZoneFacts | null): string {
  if (zone?.supportsAlias === false) {
    return `The provider of the zone ${zone.zone} supports neither ALIAS nor ANAME. Move the zone to one that does, or attach www.${hostname} and redirect from there.`;
  }
  return 'Some providers call it ANAME, or "CNAME flattening". A real CNAME is not possible here.';
}

/** The first step for the owner of a subdomain that is a zone itself; null otherwise. */
export function zoneAtItself(hostname: string, cnameTarget: string, zone: ZoneFacts | null): string | null {
  if (zone?.zone !== hostname) return null;
  const above = apexOf(hostname);
  const line = `${relativeText(hostname, above)} CNAME ${cnameTarget}`;
  return `${hostname} is itself a zone, and a zone’s apex cannot have a CNAME. Remove that zone, and add the record to the zone ${above}: ${line}`;
}

/** The record of an instruction as a zone-file line: `www CNAME cname.vivarium.localhost`. */
export const recordText = ({ name, type, value }: Instruction): string => `${name} ${type} ${value}`;
