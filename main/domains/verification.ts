import { allAddresses, type Observation } from './observe.ts';
import { apexChecks } from './apex-checks.ts';
import { inOrder, type VerificationCheck } from './checks.ts';
import { dnsName } from '../model/dns-name.ts';
import { isStoredRight, type VerificationFacts } from './provider.ts';
import { subdomainChecks } from './subdomain-checks.ts';

/**
 * Evaluates DNS observations: pure, in the order of `VERIFICATION_CODES`. Passed checks are `ok` under their code; the
 * other codes appear only when they apply. Compares names without case and trailing dot, addresses as canonical sets: a
 * subset of the target's addresses passes, any other address is a stray.
 */
export function evaluate(observation: Observation, given: VerificationFacts): VerificationCheck[] {
  const facts = { ...given, cnameTarget: dnsName(given.cnameTarget) };
  const seen = facts.kind === 'apex' ? apexChecks(observation, facts) : subdomainChecks(observation, facts);
  const checks = propagated(seen, observation, facts);
  const moved = movedCheck(checks, observation, facts);
  const risk = wildcardCheck(observation, facts);
  return inOrder([...checks, ...(moved === null ? [] : [moved]), ...(risk === null ? [] : [risk])]);
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
