import { addressText, allAddresses, directAddresses, isDirect, type Observation } from './observe.ts';
import {
  type VerificationCheck,
  chainCheck,
  chainText,
  lookupCheck,
  noRecordCheck,
  type Wanted,
  instructionsFor,
  recordText,
  zoneAtItself,
} from './checks.ts';
import { apexOf } from '../public-suffix.ts';
import { delegationText, isAbsent, type Resolution } from './resolution.ts';
import { isTarget, type VerificationFacts } from '../personas/provider.ts';
import { isAtOrBelow, parentOf } from '../../model/dns-name.ts';

/** A subdomain passes when its CNAMEs lead to the platform's target and it has no address records of its own. */
export function subdomainChecks(observation: Observation, facts: VerificationFacts): VerificationCheck[] {
  const checks = checksOf(observation, facts);
  const ownZone = zoneAtItself(observation.hostname, facts.cnameTarget, facts.provider);
  if (ownZone === null) return checks;
  // No record in that zone could fix it.
  return checks.map((check) => (check.outcome === 'failed' ? { ...check, fix: ownZone } : check));
}

function checksOf(observation: Observation, facts: VerificationFacts): VerificationCheck[] {
  const { alias, addresses } = observation;
  const wanted = wantedOf(observation.hostname, facts);
  const chain = chainCheck(wanted, alias);
  const checks = [
    chain,
    siblingsCheck(observation, wanted),
    ownApexCheck(observation, wanted, facts),
    conflictCheck(observation, wanted, facts),
    targetCheck(alias, wanted, facts),
  ];
  if (chain === null) checks.push(lookupCheck([alias, addresses.a, addresses.aaaa], wanted.expected));
  const found = checks.filter((check) => check !== null);
  if (found.some(({ outcome }) => outcome === 'failed' || outcome === 'unknown')) return found;
  const taken = takenAddresses(observation, facts);
  if (taken.length > 0) return [...found, takenCheck(wanted, taken, facts)];
  if (!isAbsent(alias) || alias.chain.length > 0) return [...found, aloneCheck(wanted)];
  const missing = noRecordCheck(wanted, alias, 'CNAME');
  return [{ ...missing, fix: `${missing.fix ?? ''}${firstRemove(observation)}` }];
}

/** The types of the other records at the name itself. */
const otherTypes = ({ others }: Observation): string[] =>
  others.flatMap((resolution) => (isDirect(resolution) && resolution.type !== 'SOA' ? [resolution.type] : []));

/** Records to remove before a CNAME can be added. */
function firstRemove(observation: Observation): string {
  const types = otherTypes(observation);
  if (types.length === 0) return '';
  return `. First remove ${types.join(', ')} there, or use another hostname: a CNAME must be the only record of its name (RFC 1034 §3.6.2)`;
}

/** Several CNAMEs, or a CNAME beside records other than addresses; those are `a_conflict`. */
function siblingsCheck(observation: Observation, { hostname, expected, line }: Wanted): VerificationCheck | null {
  const { rivals, chain } = observation.alias;
  const check = { code: 'cname_with_siblings', outcome: 'failed', expected: `${expected} alone` } as const;
  if (rivals !== null) {
    return {
      ...check,
      found: rivals.targets.map((target) => `CNAME ${target}`).join(', '),
      message: `${rivals.name} has ${rivals.targets.length} CNAMEs. A name can have only one (RFC 2181 §10.1): providers refuse more, and resolvers fail or pick one.`,
      fix:
        rivals.name === hostname
          ? `Remove them from ${hostname}, and keep only: ${line}`
          : `Remove all CNAMEs of ${rivals.name} but one.`,
    };
  }
  const types = otherTypes(observation);
  const [first] = chain;
  if (first === undefined || types.length === 0) return null;
  return {
    ...check,
    found: `CNAME ${first}, ${types.join(', ')}`,
    message: `${hostname} has ${types.join(', ')} beside its CNAME. A CNAME must be the only record (RFC 1034 §3.6.2): name servers do not load such a zone, and resolvers pick one or the other.`,
    fix: `Remove ${types.join(', ')} from ${hostname}, and keep only: ${line}`,
  };
}

/** A CNAME beside the SOA of a zone that begins at the hostname. */
function ownApexCheck(
  { hostname, alias, others }: Observation,
  { expected }: Wanted,
  { cnameTarget }: VerificationFacts,
): VerificationCheck | null {
  const [first] = alias.chain;
  const hasSoa = others.some((resolution) => resolution.type === 'SOA' && isDirect(resolution));
  if (first === undefined || !hasSoa) return null;
  return {
    code: 'cname_at_apex',
    outcome: 'failed',
    expected,
    found: `CNAME ${first}, SOA`,
    message: `${hostname} is a separate zone and has a CNAME. A CNAME cannot share the apex with SOA and NS (RFC 1034 §3.6.2): name servers do not load such a zone.`,
    fix: zoneAtItself(hostname, cnameTarget, { zone: hostname, supportsAlias: true }) ?? '',
  };
}

function wantedOf(hostname: string, facts: VerificationFacts): Wanted {
  const { cnameTarget, provider } = facts;
  const line = instructionsFor(hostname, 'subdomain', { ...facts, claim: null }, provider)
    .map(recordText)
    .join('');
  return { hostname, expected: `CNAME ${cnameTarget}`, line, zone: provider?.zone ?? apexOf(hostname) };
}

/** Only the platform's addresses, if the persona accepts them instead of a CNAME. */
function takenAddresses({ alias, addresses, target }: Observation, { persona }: VerificationFacts): string[] {
  const direct = directAddresses(addresses);
  const own = allAddresses(target);
  return persona.takesAddresses && alias.chain.length === 0 && direct.every((address) => own.includes(address))
    ? direct
    : [];
}

function conflictCheck(
  observation: Observation,
  { expected, line }: Wanted,
  facts: VerificationFacts,
): VerificationCheck | null {
  const { cnameTarget } = facts;
  const { hostname, alias, addresses, target } = observation;
  const direct = directAddresses(addresses);
  if (direct.length === 0 || takenAddresses(observation, facts).length > 0) return null;
  const beside = alias.chain.length > 0;
  const own = allAddresses(target);
  const same = direct.every((address) => own.includes(address));
  const check = { code: 'a_conflict', outcome: 'failed', expected } as const;
  if (beside) {
    return {
      ...check,
      found: `CNAME ${alias.chain[0] ?? ''}, ${addressText(direct)}`,
      message: `${hostname} has address records beside its CNAME. A CNAME must be the only record (RFC 1034 §3.6.2); resolvers pick one or the other.`,
      fix: `Remove ${addressText(direct)} from ${hostname}, and keep only: ${line}`,
    };
  }
  return {
    ...check,
    found: addressText(direct),
    message: `${hostname} has address records instead of a CNAME.${same ? ` They match ${cnameTarget} now, but would be wrong as soon as the platform changes its addresses.` : ''}`,
    fix: `Replace ${addressText(direct)} with: ${line}${firstRemove(observation)}`,
  };
}

function targetCheck(alias: Resolution, { hostname, line }: Wanted, facts: VerificationFacts) {
  const [first] = alias.chain;
  if (first === undefined || alias.end.kind === 'loop' || alias.end.kind === 'too_long') return null;
  if (alias.end.kind === 'failed' || alias.rivals !== null) return null;
  const check = { code: 'wrong_target', expected: facts.cnameTarget } as const;
  const through = alias.chain.length > 1 ? ` through ${chainText(alias.chain.slice(0, -1))}` : '';
  const last = alias.chain.at(-1) ?? first;
  if (alias.end.kind === 'reached' || (alias.end.kind === 'nodata' && isTarget(last, facts))) {
    return {
      ...check,
      outcome: 'ok',
      found: first,
      message: `${hostname} leads to ${last}${through}.`,
    } satisfies VerificationCheck;
  }
  const stale = alias.end.kind === 'nxdomain' && isAtOrBelow(last, parentOf(facts.cnameTarget));
  return {
    ...check,
    code: stale ? 'stale_target' : 'wrong_target',
    outcome: 'failed',
    found: first,
    message: stale
      ? `The CNAME of ${hostname} leads to ${last}${through}, a name of the platform that no longer exists, or never did.`
      : `The CNAME of ${hostname} leads to ${last}${through}, not to ${facts.cnameTarget}.${slip(alias, last, facts.cnameTarget)}`,
    fix: `Replace CNAME ${first} with: ${line}`,
  } satisfies VerificationCheck;
}

/** The probable cause. */
function slip({ end }: Resolution, last: string, cnameTarget: string): string {
  if (last.startsWith(`${cnameTarget}.`)) {
    return ' The provider treated the target as relative to the zone; end it with a dot to make it absolute.';
  }
  if (end.kind === 'nxdomain') return ' That name does not exist (NXDOMAIN).';
  if (end.kind === 'delegated') return ` That name is ${delegationText(last, end)}.`;
  return end.kind === 'outside' ? ' That name is in no zone of Vivarium’s DNS.' : '';
}

const aloneCheck = ({ hostname, expected }: Wanted): VerificationCheck => ({
  code: 'a_conflict',
  outcome: 'ok',
  expected: `${expected} alone`,
  found: `${expected} alone`,
  message: `${hostname} has no address records beside its CNAME.`,
});

const takenCheck = (
  { hostname, expected }: Wanted,
  addresses: readonly string[],
  { persona }: VerificationFacts,
): VerificationCheck => ({
  code: 'a_conflict',
  outcome: 'ok',
  expected,
  found: addressText(addresses),
  message: `${hostname} has the platform’s addresses, which ${persona.name} accepts instead of a CNAME.`,
});
