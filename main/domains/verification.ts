import { addressesIn, addressText, allAddresses, type Observation } from './observe.ts';
import { apexChecks } from './apex-checks.ts';
import { inOrder, type VerificationCheck } from './checks.ts';
import { dnsName, relativeText } from '../model/dns-name.ts';
import { isStoredRight, type VerificationFacts } from './provider.ts';
import { apexOf } from './public-suffix.ts';
import { isAbsent } from './resolution.ts';
import { subdomainChecks } from './subdomain-checks.ts';

/**
 * Evaluates DNS observations: pure, in the order of `VERIFICATION_CODES`. Passed checks are `ok` under their code; the
 * other codes appear only when they apply. Compares names without case and trailing dot, addresses as canonical sets: a
 * subset of the target's addresses passes, any other address is a stray.
 */
export function evaluate(observation: Observation, given: VerificationFacts): VerificationCheck[] {
  const facts = { ...given, cnameTarget: dnsName(given.cnameTarget) };
  const seen = facts.kind === 'apex' ? apexChecks(observation, facts) : subdomainChecks(observation, facts);
  const checks = propagated(
    seen.map((check) => doubledCheck(check, observation, facts) ?? check),
    observation,
    facts,
  );
  const more = [movedCheck(checks, observation, facts), wildcardCheck(observation, facts)];
  return inOrder([...checks, ...more.filter((check) => check !== null), ...claimChecks(observation, facts)]);
}

/** In place of `no_record`, the record that is one zone too deep: a common slip where names are relative to the zone. */
function doubledCheck(
  check: VerificationCheck,
  { hostname, doubled, sibling }: Observation,
  { provider }: VerificationFacts,
): VerificationCheck | null {
  if (check.code !== 'no_record' || doubled === null) return null;
  if (doubled.chain.length === 0 && doubled.end.kind !== 'records') return null;
  // A wildcard would answer for the doubled name too.
  if (sibling !== null && !(isAbsent(sibling.a) && isAbsent(sibling.aaaa))) return null;
  const zone = provider?.zone ?? apexOf(hostname);
  const [target] = doubled.chain;
  const record = target === undefined ? addressText(addressesIn(doubled)) : `CNAME ${target}`;
  return {
    ...check,
    code: 'zone_doubled',
    found: `${record} at ${doubled.name}`,
    message: `${hostname} has no record, and ${doubled.name} has one: the provider takes names as relative to the zone ${zone}.`,
    fix: `Name the record "${relativeText(hostname, zone)}" in the zone ${zone}, or end its name with a dot.`,
  };
}

/**
 * Platforms with many customers ask for a proof when a domain above the hostname is another customer’s. All projects
 * here have one owner, so this warns only.
 */
function claimChecks({ hostname, proof }: Observation, { claim }: VerificationFacts): VerificationCheck[] {
  if (claim === null || proof === null) return [];
  const { name, value } = claim.proof;
  const texts = proof.end.kind === 'records' ? proof.end.records.map(({ data }) => (data.strings ?? []).join('')) : [];
  const check = { expected: `${name} TXT "${value}"` } as const;
  if (texts.includes(value)) {
    const message = `${claim.domain} belongs to the project "${claim.project}", and its zone permits ${hostname}.`;
    return [{ ...check, code: 'txt_missing', outcome: 'ok', found: check.expected, message }];
  }
  return [
    {
      code: 'claimed_elsewhere',
      outcome: 'warning',
      expected: `no other project with a domain above ${hostname}`,
      found: `${claim.domain} in the project "${claim.project}"`,
      message: `${claim.domain} is attached to the project "${claim.project}". Where projects have different owners, platforms refuse ${hostname}, or ask for a proof.`,
      fix: `Attach ${hostname} to that project, or prove that you own ${claim.domain}.`,
    },
    {
      ...check,
      code: 'txt_missing',
      outcome: 'warning',
      found: texts.length === 0 ? 'no TXT record' : texts.map((text) => `TXT "${text}"`).join(', '),
      message: `${name} has no TXT record that permits ${hostname} in this project.`,
      fix: `Add this record: ${check.expected}`,
    },
  ];
}

/** When the right record is stored but not visible yet, report that in place of the outdated one. */
function propagated(
  checks: VerificationCheck[],
  { target }: Observation,
  { provider, kind, cnameTarget }: VerificationFacts,
): VerificationCheck[] {
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  const [first] = failed;
  if (first === undefined || provider === null || provider.visibleAtMs === null) return checks;
  if (!isStoredRight(provider, kind, cnameTarget, allAddresses(target))) return checks;
  const at = new Date(provider.visibleAtMs).toISOString();
  return [
    ...checks.filter(({ outcome }) => outcome !== 'failed'),
    {
      code: 'not_propagated',
      outcome: 'failed',
      expected: first.expected,
      found: failed.flatMap(({ found }) => (found === undefined ? [] : [found])).join('; '),
      message: `The right record is stored at the provider of ${provider.zone}, and will be visible at ${at}. Until then the DNS answers as before.`,
      fix: `Wait until ${at}, or advance the clock to it; then re-verify.`,
      until: at,
    },
  ];
}

/** Whether any resolved address or target belongs to the platform. */
function pointsHere({ alias, addresses, target }: Observation): boolean {
  if (alias.end.kind === 'reached') return true;
  const own = allAddresses(target);
  return alias.chain.length === 0 && allAddresses(addresses).some((address) => own.includes(address));
}

function movedCheck(
  checks: readonly VerificationCheck[],
  observation: Observation,
  { verifiedBefore, cnameTarget }: VerificationFacts,
): VerificationCheck | null {
  const failed = checks.find(({ outcome }) => outcome === 'failed');
  if (!verifiedBefore || failed === undefined || pointsHere(observation)) return null;
  return {
    code: 'moved',
    outcome: 'failed',
    expected: failed.expected,
    found: failed.found,
    message: `${observation.hostname} was verified but no longer points to ${cnameTarget}. It is still served until it is removed.`,
    fix: 'Remove the domain if it moved permanently; otherwise restore its record.',
  };
}

/** Anyone could attach a name under the wildcard without its owner noticing. */
function wildcardCheck({ sibling, target }: Observation, { cnameTarget }: VerificationFacts): VerificationCheck | null {
  if (sibling === null) return null;
  const own = allAddresses(target);
  const addresses = allAddresses(sibling);
  const leadsHere = [sibling.a, sibling.aaaa].some(({ chain }) => chain.includes(cnameTarget));
  const sameAddresses = addresses.length > 0 && addresses.every((address) => own.includes(address));
  if (!leadsHere && !sameAddresses) return null;
  const parent = sibling.name.slice(sibling.name.indexOf('.') + 1);
  return {
    code: 'wildcard_risk',
    outcome: 'warning',
    expected: `no answer for ${sibling.name}`,
    found: leadsHere ? `CNAME ${cnameTarget}` : addresses.join(', '),
    message: `The random name ${sibling.name} also leads to the platform, because of the wildcard record *.${parent}. Anyone on the platform could attach a name under it.`,
    fix: `Replace the wildcard with a record for each hostname that you use.`,
  };
}
