import { addressText, allAddresses, directAddresses, type AddressPair, type Observation } from './observe.ts';
import { chainCheck, lookupCheck, noRecordCheck, instructionsFor, recordText } from './checks.ts';
import type { VerificationCheck, Wanted } from './checks.ts';
import { type ProviderRecord, unansweredAlias, type VerificationFacts } from '../personas/provider.ts';
import { apexOf } from '../public-suffix.ts';
import { dnsName } from '../../model/dns-name.ts';
import { isAbsent, type Resolution } from './resolution.ts';

/**
 * An apex passes when all its addresses belong to the platform's target. The DNS does not show an ALIAS, only the
 * addresses that it was flattened to.
 */
export function apexChecks(observation: Observation, facts: VerificationFacts): VerificationCheck[] {
  const wanted = wantedOf(observation.hostname, facts);
  const cname = cnameCheck(observation, wanted, facts);
  const addresses = addressChecks(observation, wanted, facts);
  if (cname !== null) return [cname, ...presentOf(chainCheck(wanted, observation.alias)), ...strayOnly(addresses)];
  const { alias, addresses: own } = observation;
  return [...addresses, ...presentOf(lookupCheck([alias, own.a, own.aaaa], wanted.expected))];
}

const presentOf = <T>(value: T | null): T[] => (value === null ? [] : [value]);

/** Beside a CNAME, which is wrong in itself, report only addresses that are wrong too. */
const strayOnly = (checks: readonly VerificationCheck[]): VerificationCheck[] =>
  checks.filter(({ code, outcome }) => code === 'alias_mismatch' && outcome === 'failed');

function wantedOf(hostname: string, facts: VerificationFacts): Wanted {
  const { persona, provider } = facts;
  const [wanted] = instructionsFor(hostname, 'apex', { ...facts, claim: null }, provider);
  return {
    hostname,
    expected: wanted === undefined ? persona.apex : `${wanted.type} ${wanted.value}`,
    line: wanted === undefined ? '' : recordText(wanted),
    zone: provider?.zone ?? apexOf(hostname),
  };
}

function cnameCheck(
  { hostname, alias }: Observation,
  { expected, line, zone }: Wanted,
  { persona }: VerificationFacts,
): VerificationCheck | null {
  const [first] = alias.chain;
  if (first === undefined) return null;
  return {
    code: 'cname_at_apex',
    outcome: 'failed',
    expected,
    found: `CNAME ${first}`,
    message: `${hostname} is an apex and has a CNAME. A CNAME cannot share the apex with SOA and NS (RFC 1034 §3.6.2); it breaks mail and other records.`,
    fix: `Replace the CNAME with an ${persona.apex === 'A' ? 'A record' : 'ALIAS or ANAME'} in the zone ${zone}: ${line}`,
  };
}

function addressChecks(observation: Observation, wanted: Wanted, facts: VerificationFacts): VerificationCheck[] {
  const { alias, addresses, target } = observation;
  const found = alias.chain.length > 0 ? directAddresses(addresses) : allAddresses(addresses);
  const own = allAddresses(target);
  const unsupported = unsupportedCheck(wanted, facts, found);
  if (found.length === 0) {
    // The unanswered query could have returned the addresses.
    if (!isAbsent(addresses.a) || !isAbsent(addresses.aaaa)) return [];
    return [unsupported ?? noRecordCheck(wanted, addresses.a, 'A or AAAA')];
  }
  if (own.length === 0) return [targetUnknownCheck(observation, wanted, found)];
  const stray = found.filter((address) => !own.includes(address));
  if (stray.length === 0) return [matchCheck(wanted, facts, own, found)];
  // No address is a stray until the target's addresses of its family are known.
  const certain = stray.filter((address) => familyOf(target, address).end.kind !== 'failed');
  if (certain.length === 0) return [targetUnknownCheck(observation, wanted, stray)];
  return [unsupported ?? mismatchCheck(wanted, facts, { own, found, stray: certain })];
}

const familyOf = ({ a, aaaa }: AddressPair, address: string): Resolution => (address.includes(':') ? aaaa : a);

const matchCheck = (
  { hostname }: Wanted,
  { cnameTarget }: VerificationFacts,
  own: readonly string[],
  found: readonly string[],
): VerificationCheck => ({
  code: 'alias_mismatch',
  outcome: 'ok',
  expected: own.join(', '),
  found: found.join(', '),
  message: `${hostname} resolves to the addresses of ${cnameTarget}.`,
});

function mismatchCheck(
  { hostname, zone, line }: Wanted,
  { cnameTarget, provider, persona }: VerificationFacts,
  { own, found, stray }: Record<'own' | 'found' | 'stray', readonly string[]>,
): VerificationCheck {
  const all = stray.length === found.length;
  const replacement =
    provider?.supportsAlias === false && persona.apex === 'ALIAS'
      ? `${addressText(own)}, because its provider supports neither ALIAS nor ANAME; or use one that does, to follow changes of the platform’s addresses.`
      : `this record in the zone ${zone}: ${line}`;
  return {
    code: 'alias_mismatch',
    outcome: 'failed',
    expected: own.join(', '),
    found: found.join(', '),
    message: all
      ? `${hostname} does not resolve to the addresses of ${cnameTarget}.`
      : `${hostname} resolves to addresses of ${cnameTarget} and also to others: ${stray.join(', ')}. Some visitors would reach another server.`,
    fix: all ? `Replace ${addressText(stray)} with ${replacement}` : `Remove ${addressText(stray)} from ${hostname}.`,
  };
}

function unsupportedCheck(
  { hostname, expected, zone }: Wanted,
  { provider, cnameTarget, persona }: VerificationFacts,
  found: readonly string[],
): VerificationCheck | null {
  if (provider === null || provider.supportsAlias || persona.apex === 'A') return null;
  const check = {
    code: 'alias_unsupported',
    outcome: 'failed',
    expected,
    fix: `Use a provider that supports them (create the zone with supportsAlias), or attach www.${hostname} with CNAME ${cnameTarget} and redirect from there.`,
  } as const;
  const alias = unansweredAlias(provider);
  if (alias !== undefined) {
    return {
      ...check,
      found: found.length === 0 ? `${recordOf(alias)}, not answered` : addressText(found),
      message: `The zone ${zone} has the record ${recordOf(alias)} at ${hostname}, but its provider does not support ALIAS or ANAME and ignores the record.`,
    };
  }
  // Manual addresses can be corrected; without any, this provider accepts no suitable record.
  if (found.length > 0) return null;
  return {
    ...check,
    found: 'no A or AAAA',
    message: `${hostname} has no addresses, and the provider of its zone ${zone} supports neither ALIAS nor ANAME, which an apex needs.`,
  };
}

const recordOf = ({ type, value }: ProviderRecord): string => `${type} ${dnsName(value)}`;

/** Nothing can be compared without the target's addresses. */
function targetUnknownCheck(
  { hostname, target }: Observation,
  { expected }: Wanted,
  found: readonly string[],
): VerificationCheck {
  const { name, source } = target.a;
  return (
    lookupCheck([target.a, target.aaaa], expected) ?? {
      code: 'lookup_failed',
      outcome: 'unknown',
      expected,
      found: found.join(', '),
      message: `${hostname} has addresses, but ${source.name} does not know those of ${name} to compare them with.`,
      fix: 'Choose a resolver in the settings that knows the platform’s zone, such as "local", then re-verify.',
    }
  );
}
