import { addressText, allAddresses, directAddresses, type AddressPair, type Observation } from './observe.ts';
import { type VerificationCheck, chainCheck, lookupCheck, noRecordCheck, type Wanted } from './checks.ts';
import { instructionsFor, recordText } from './instructions.ts';
import { type ProviderRecord, unansweredAlias, type VerificationFacts } from './provider.ts';
import { apexOf } from './public-suffix.ts';
import { dnsName } from '../model/dns-name.ts';
import { isAbsent, type Resolution } from './resolution.ts';

/**
 * An apex is right when it has addresses, all of them the platform target's. An ALIAS is not to be seen in the DNS: only
 * what it was flattened to.
 */
export function apexChecks(observation: Observation, facts: VerificationFacts): VerificationCheck[] {
  const wanted = wantedOf(observation.hostname, facts);
  const cname = cnameCheck(observation, wanted);
  const addresses = addressChecks(observation, wanted, facts);
  if (cname !== null) return [cname, ...presentOf(chainCheck(wanted, observation.alias)), ...strayOnly(addresses)];
  const { alias, addresses: own } = observation;
  return [...addresses, ...presentOf(lookupCheck([alias, own.a, own.aaaa], wanted.expected))];
}

const presentOf = <T>(value: T | null): T[] => (value === null ? [] : [value]);

/** Beside a CNAME, which is wrong already, only addresses that are wrong as well are worth telling. */
const strayOnly = (checks: readonly VerificationCheck[]): VerificationCheck[] =>
  checks.filter(({ code, outcome }) => code === 'alias_mismatch' && outcome === 'failed');

function wantedOf(hostname: string, { cnameTarget, provider }: VerificationFacts): Wanted {
  const line = instructionsFor(hostname, 'apex', cnameTarget, provider).map(recordText).join('');
  return { hostname, expected: `ALIAS ${cnameTarget}`, line, zone: provider?.zone ?? apexOf(hostname) };
}

function cnameCheck({ hostname, alias }: Observation, { expected, line, zone }: Wanted): VerificationCheck | null {
  const [first] = alias.chain;
  if (first === undefined) return null;
  return {
    code: 'cname_at_apex',
    outcome: 'failed',
    expected,
    found: `CNAME ${first}`,
    message: `${hostname} is an apex and has a CNAME. One cannot stand beside the zone’s SOA and NS (RFC 1034 §3.6.2); mail and other records stop working.`,
    fix: `Replace the CNAME by an ALIAS or ANAME in the zone ${zone}: ${line}`,
  };
}

function addressChecks(observation: Observation, wanted: Wanted, facts: VerificationFacts): VerificationCheck[] {
  const { alias, addresses, target } = observation;
  const found = alias.chain.length > 0 ? directAddresses(addresses) : allAddresses(addresses);
  const own = allAddresses(target);
  const unsupported = unsupportedCheck(wanted, facts, found);
  if (found.length === 0) {
    // An answer that failed could have had the addresses.
    if (!isAbsent(addresses.a) || !isAbsent(addresses.aaaa)) return [];
    return [unsupported ?? noRecordCheck(wanted, addresses.a, 'A or AAAA')];
  }
  if (own.length === 0) return [targetUnknownCheck(observation, wanted, found)];
  const stray = found.filter((address) => !own.includes(address));
  if (stray.length === 0) return [matchCheck(wanted, facts, own, found)];
  // An address cannot be called a stray while the target's of its family are not known.
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
  { cnameTarget, provider }: VerificationFacts,
  { own, found, stray }: Record<'own' | 'found' | 'stray', readonly string[]>,
): VerificationCheck {
  const all = stray.length === found.length;
  const replacement =
    provider?.supportsAlias === false
      ? `${addressText(own)}, because its provider has neither ALIAS nor ANAME; or use one that has, which follows when the platform’s addresses change.`
      : `this record in the zone ${zone}: ${line}`;
  return {
    code: 'alias_mismatch',
    outcome: 'failed',
    expected: own.join(', '),
    found: found.join(', '),
    message: all
      ? `${hostname} resolves to other addresses than ${cnameTarget}.`
      : `${hostname} resolves to addresses of ${cnameTarget}, and to others beside them: ${stray.join(', ')}. Some visitors would end up elsewhere.`,
    fix: all ? `Replace ${addressText(stray)} by ${replacement}` : `Remove ${addressText(stray)} from ${hostname}.`,
  };
}

function unsupportedCheck(
  { hostname, expected, zone }: Wanted,
  { provider, cnameTarget }: VerificationFacts,
  found: readonly string[],
): VerificationCheck | null {
  if (provider === null || provider.supportsAlias) return null;
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
      message: `The zone ${zone} has the record ${recordOf(alias)} at ${hostname}, and its provider does not support ALIAS or ANAME: it answers as if the record were not there.`,
    };
  }
  // Addresses that were typed in can be mended; without any, there is no record that this provider would take.
  if (found.length > 0) return null;
  return {
    ...check,
    found: 'no A or AAAA',
    message: `${hostname} has no addresses, and the provider of its zone ${zone} supports neither ALIAS nor ANAME, which an apex needs.`,
  };
}

const recordOf = ({ type, value }: ProviderRecord): string => `${type} ${dnsName(value)}`;

/** Without the target's addresses nothing can be compared. */
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
      message: `${hostname} has addresses; those of ${name}, to compare them with, are not known to ${source.name}.`,
      fix: 'Choose a resolver in the settings that knows the platform’s zone, such as "local", then re-verify.',
    }
  );
}
