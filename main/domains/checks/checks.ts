import { ABSENCES, codesAbout } from '../../contract/check-codes.ts';
import type { Check, Instruction } from '../../contract/domains.ts';
import { isBroken, type LookupFailure, RESOLVER_FIXES } from '../../model/dns-lookup.ts';
import { CNAME_HOPS_MAX, delegationText, type Resolution } from './resolution.ts';
import { LOOPBACK_ADDRESSES } from '../../base/config.ts';
import { relativeText } from '../../model/dns-name.ts';
import type { DomainRules } from '../personas/claims.ts';
import type { ClaimRule } from '../personas/personas.ts';
import { apexOf, type DomainKind } from '../public-suffix.ts';

/** The problems that a check of the hostname can find before its certificate, in display order. */
export const VERIFICATION_CODES = codesAbout('record');

type VerificationCode = (typeof VERIFICATION_CODES)[number];

/** A check of verification; `code` names what was checked, `outcome` the result. */
export type VerificationCheck = Check & { code: VerificationCode };

export const inOrder = (checks: readonly VerificationCheck[]): VerificationCheck[] =>
  VERIFICATION_CODES.flatMap((code) => checks.filter((check) => check.code === code));

/** `unknown`: a query went unanswered, and no other check failed. */
export type VerificationVerdict = 'ok' | 'failed' | 'unknown';

/** The result that drives the lifecycle; `unknown` without any checks. */
export function verdictOf(checks: readonly Check[]): VerificationVerdict {
  if (checks.some(({ outcome }) => outcome === 'failed')) return 'failed';
  return checks.length === 0 || checks.some(({ outcome }) => outcome === 'unknown') ? 'unknown' : 'ok';
}

/** Whether records are only missing and none is wrong; such a domain is `pending`, not `misconfigured`. */
export const hasFoundNothing = (checks: readonly Check[]): boolean =>
  verdictOf(checks) !== 'ok' && checks.every(({ code, outcome }) => outcome !== 'failed' || ABSENCES.has(code));

/** The values used in the fixes for one domain. */
export interface Wanted {
  hostname: string;
  /** The expected record: `CNAME cname.vivarium.localhost`. */
  expected: string;
  /** The same record as a zone-file line: `www CNAME cname.vivarium.localhost`. */
  line: string;
  zone: string;
}

/** The name has no records at all; `missing` names the queried types. */
export function noRecordCheck(wanted: Wanted, { end, source }: Resolution, missing: string): VerificationCheck {
  const { hostname, expected, line, zone } = wanted;
  const check = { code: 'no_record', outcome: 'failed', expected } as const;
  switch (end.kind) {
    case 'outside':
      return {
        ...check,
        found: 'no zone',
        message: `${hostname} is in no zone of Vivarium’s DNS.`,
        fix: `Create the zone ${zone}, and add this record to it: ${line}`,
      };
    case 'delegated':
      return {
        ...check,
        code: 'ns_mismatch',
        expected: `no NS records at ${end.cut}`,
        found: `delegated to ${end.servers.join(', ')}`,
        message: `${hostname} is ${delegationText(hostname, end)}, so the zone ${zone} does not apply to it.`,
        fix: `Remove the NS records of ${end.cut} from the zone ${zone}, and add this record there: ${line}${end.cut === hostname ? '' : `. Or create the zone ${end.cut} here for the names below it.`}`,
      };
    case 'nxdomain':
      return {
        ...check,
        found: 'NXDOMAIN',
        message: `${hostname} does not exist (NXDOMAIN from ${source.name}).`,
        fix: `Add this record to the zone ${zone}: ${line}`,
      };
    default:
      return {
        ...check,
        found: `no ${missing}`,
        message: `${hostname} exists, and has no ${missing} record (${source.name}).`,
        fix: `Add this record to the zone ${zone}: ${line}`,
      };
  }
}

/** A CNAME loop or an endless chain; null for any other resolution. */
export function chainCheck(wanted: Wanted, { name, chain, end }: Resolution): VerificationCheck | null {
  const found = [name, ...chain].join(' → ');
  const base = { outcome: 'failed', expected: wanted.expected, found } as const;
  if (end.kind === 'loop') {
    return {
      ...base,
      code: 'chain_loop',
      message: `The CNAMEs from ${name} form a loop and never resolve.`,
      fix: `Break the loop with this record in the zone ${wanted.zone}: ${wanted.line}`,
    };
  }
  if (end.kind !== 'too_long') return null;
  return {
    ...base,
    code: 'chain_too_long',
    message: `More than ${CNAME_HOPS_MAX} CNAMEs follow ${name}; resolvers give up on such chains.`,
    fix: `Point to the target directly with this record in the zone ${wanted.zone}: ${wanted.line}`,
  };
}

/** The description of each failure; `fix` if the resolver is not to blame. */
const FAILURES: Record<LookupFailure, { found: string; happened: string; fix?: string }> = {
  servfail: {
    found: 'SERVFAIL',
    happened: 'was answered with SERVFAIL',
    fix: 'Check the zone’s name servers (a broken ALIAS, DNSSEC, a server that is down), then re-verify.',
  },
  refused: { found: 'REFUSED', happened: 'was REFUSED' },
  referral: { found: 'a referral', happened: 'was answered with a referral to other servers only' },
  rcode: { found: 'an error', happened: 'was answered with an error', fix: 'Re-verify later.' },
  timeout: { found: 'no answer in time', happened: 'was not answered in time' },
  unreachable: { found: 'resolver unreachable', happened: 'could not be sent' },
  malformed: { found: 'unreadable answer', happened: 'was answered with a message that cannot be read' },
  bogus: {
    found: 'wrong signatures',
    happened: 'was answered with wrong signatures (DNSSEC)',
    fix: 'Correct the signatures of the zone, or end its break if it was broken on purpose, then re-verify.',
  },
  chain_loop: {
    found: 'a loop of CNAMEs',
    happened: 'ended in a loop of CNAMEs',
    fix: 'Break the loop at the name where it begins, then re-verify.',
  },
  chain_too_long: {
    found: 'too many CNAMEs',
    happened: 'led through too many CNAMEs',
    fix: 'Shorten the chain of CNAMEs, then re-verify.',
  },
};

/** The failure of a resolution, or null. An endless chain counts as a failure if only its end was needed. */
function failureOf({ end }: Resolution): { reason: LookupFailure; detail?: string } | null {
  if (end.kind === 'failed') return end;
  if (end.kind === 'loop') return { reason: 'chain_loop' };
  return end.kind === 'too_long' ? { reason: 'chain_too_long' } : null;
}

/** One check for all unanswered queries, with the message of the first; null when all were answered. */
export function lookupCheck(resolutions: readonly Resolution[], expected: string): VerificationCheck | null {
  const failed = resolutions.flatMap((resolution) => {
    const failure = failureOf(resolution);
    return failure === null ? [] : [{ resolution, failure }];
  });
  const [first] = failed;
  if (first === undefined) return null;
  const { name, chain, source } = first.resolution;
  const same = failed.filter(({ resolution }) => resolution.name === name);
  const types = [...new Set(same.map(({ resolution }) => resolution.type))].join(', ');
  const { reason } = first.failure;
  const { found, happened } = FAILURES[reason];
  const { detail } = first.failure;
  const ofResolver = isBroken(detail) ? 'Repair what is broken on purpose' : RESOLVER_FIXES[reason];
  const fix = ofResolver === undefined ? FAILURES[reason].fix : `${ofResolver}, then re-verify.`;
  const at = chain.at(-1);
  const by = first.failure.reason === 'unreachable' ? 'to' : 'by';
  const isBogus = first.failure.reason === 'bogus';
  const through = at === undefined ? '' : `, which leads to ${at},`;
  return {
    // CAs validate these answers since March 2026 (CA/Browser Forum, ballot SC-085).
    ...(isBogus ? { code: 'dnssec_bogus', outcome: 'failed' } : { code: 'lookup_failed', outcome: 'unknown' }),
    expected,
    found: `${found}${detail === undefined ? '' : `: ${detail}`} (${source.name})`,
    message: `The question for ${types} of ${name}${through} ${happened} ${by} ${source.name}, so ${isBogus ? 'resolvers that validate find nothing, and no CA issues' : 'it is not known whether the domain is right'}.`,
    fix,
  };
}

/** The CNAME chain of a resolution in words: `a.example.net → b.example.net`. */
export const chainText = (chain: readonly string[]): string => chain.join(' → ');

/** RFC 1035 sets no default; most providers start with an hour. */
const INSTRUCTION_TTL_SECONDS = 3600;

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
