import { addressText, allAddresses, directAddresses, type Observation } from './observe.ts';
import { type VerificationCheck, chainCheck, chainText, lookupCheck, noRecordCheck, type Wanted } from './checks.ts';
import { instructionsFor, recordText, zoneAtItself } from './instructions.ts';
import { apexOf } from './public-suffix.ts';
import { delegationText, isAbsent, type Resolution } from './resolution.ts';
import type { VerificationFacts } from './provider.ts';

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
  const checks = [chain, conflictCheck(observation, wanted, facts), targetCheck(alias, wanted, facts)];
  if (chain === null) {
    checks.push(lookupCheck([alias, addresses.a, addresses.aaaa], wanted.expected));
  }
  const found = checks.filter((check) => check !== null);
  if (found.some(({ outcome }) => outcome === 'failed' || outcome === 'unknown')) return found;
  return isAbsent(alias) && alias.chain.length === 0
    ? [noRecordCheck(wanted, alias, 'CNAME')]
    : [...found, aloneCheck(wanted)];
}

function wantedOf(hostname: string, { cnameTarget, provider }: VerificationFacts): Wanted {
  const line = instructionsFor(hostname, 'subdomain', cnameTarget, provider).map(recordText).join('');
  return { hostname, expected: `CNAME ${cnameTarget}`, line, zone: provider?.zone ?? apexOf(hostname) };
}

function conflictCheck(
  { hostname, alias, addresses, target }: Observation,
  { expected, line }: Wanted,
  { cnameTarget }: VerificationFacts,
): VerificationCheck | null {
  const direct = directAddresses(addresses);
  if (direct.length === 0) return null;
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
    fix: `Replace ${addressText(direct)} by: ${line}`,
  };
}

function targetCheck(alias: Resolution, { hostname, expected, line }: Wanted, facts: VerificationFacts) {
  const [first] = alias.chain;
  if (first === undefined || alias.end.kind === 'loop' || alias.end.kind === 'too_long') return null;
  if (alias.end.kind === 'failed') return null;
  const check = { code: 'wrong_target', expected: facts.cnameTarget } as const;
  const through = alias.chain.length > 1 ? ` through ${chainText(alias.chain.slice(0, -1))}` : '';
  if (alias.end.kind === 'reached') {
    return {
      ...check,
      outcome: 'ok',
      found: first,
      message: `${hostname} leads to ${facts.cnameTarget}${through}.`,
    } satisfies VerificationCheck;
  }
  const last = alias.chain.at(-1) ?? first;
  return {
    ...check,
    outcome: 'failed',
    found: first,
    message: `The CNAME of ${hostname} leads to ${last}${through}, not to ${facts.cnameTarget}.${slip(alias, last, facts.cnameTarget)}`,
    fix: `Replace CNAME ${first} by ${expected}: ${line}`,
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
