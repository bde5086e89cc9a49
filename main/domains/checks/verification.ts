import { addressesIn, addressText, allAddresses, type Observation } from './observe.ts';
import { apexChecks } from './apex-checks.ts';
import { inOrder, lookupCheck, type VerificationCheck } from './checks.ts';
import { isProven, type Proof, slipOf } from '../personas/claims.ts';
import { dnsName, relativeText } from '../../model/dns-name.ts';
import { isStoredRight, isTarget, type VerificationFacts } from '../personas/provider.ts';
import { apexOf } from '../public-suffix.ts';
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
  const claimed = claimChecks(observation, facts, checks);
  const more = [movedCheck(checks, observation, facts), wildcardCheck(observation, facts)];
  const found = [...checks, ...more.filter((check) => check !== null)];
  return inOrder([...(isProvenInstead(claimed, facts) ? found.map(tolerated) : found), ...claimed]);
}

/** Whether a TXT record replaces the record that leads here. */
const isProvenInstead = (claimed: readonly VerificationCheck[], { claim }: VerificationFacts): boolean =>
  claim?.lack === 'alternative' && claimed.some(({ code, outcome }) => code === 'txt_missing' && outcome === 'ok');

const tolerated = (check: VerificationCheck): VerificationCheck =>
  check.outcome === 'failed' || check.outcome === 'unknown' ? { ...check, outcome: 'warning' } : check;

/**
 * In place of `no_record`, the record that is one zone too deep: a common mistake where names are relative to the zone.
 */
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
    message: `${hostname} has no record, but ${doubled.name} has one: the provider treats names as relative to the zone ${zone}.`,
    fix: `Name the record "${relativeText(hostname, zone)}" in the zone ${zone}, or end its name with a dot.`,
  };
}

const textsAt = (name: string, { proofs }: Observation): string[] =>
  proofs.flatMap(({ name: asked, end }) =>
    asked === dnsName(name) && end.kind === 'records'
      ? end.records.map(({ data }) => (data.strings ?? []).join(''))
      : [],
  );

/** Decides which project owns the hostname: TXT records of other projects that refuse it, then this project's own. */
function claimChecks(
  observation: Observation,
  facts: VerificationFacts,
  checks: readonly VerificationCheck[],
): VerificationCheck[] {
  const { claim } = facts;
  if (claim === null) return [];
  const { hostname } = observation;
  const refusal = claim.foreign.find(({ name, value }) => isProven(value, textsAt(name, observation)));
  const missing = claim.proofs.filter(({ name, value }) => !isProven(value, textsAt(name, observation)));
  return [
    ...(refusal === undefined ? [] : [refusedCheck(hostname, refusal)]),
    ...(missing.length === 0 ? claim.proofs.map((proof) => provenCheck(hostname, proof, facts)) : []),
    ...(missing.length === 0 ? [] : rivalChecks(hostname, facts)),
    ...missing.flatMap((proof) => missingChecks(proof, observation, facts, checks)),
  ];
}

const expectedOf = ({ name, value }: Proof): string => `${name} TXT "${value}"`;

const refusedCheck = (
  hostname: string,
  { domain, project, ...proof }: Proof & { domain: string; project: string },
): VerificationCheck => ({
  code: 'claimed_elsewhere',
  outcome: 'failed',
  expected: `no TXT record of another project at ${proof.name}`,
  found: expectedOf(proof),
  message: `${domain} is verified by the project "${project}", so no other project may use ${hostname}.`,
  fix: `Attach ${hostname} to that project, or remove the TXT record from its zone.`,
});

function provenCheck(hostname: string, proof: Proof, { claim }: VerificationFacts): VerificationCheck {
  const rival = claim?.rival ?? null;
  return {
    code: 'txt_missing',
    outcome: 'ok',
    expected: expectedOf(proof),
    found: expectedOf(proof),
    message:
      rival === null
        ? `${proof.name} proves that this project may use ${hostname}.`
        : `${rival.domain} belongs to the project "${rival.project}", and its zone permits ${hostname}.`,
  };
}

/** Platforms with many customers require a proof if a domain above the hostname belongs to another customer. */
function rivalChecks(hostname: string, { claim, persona }: VerificationFacts): VerificationCheck[] {
  const rival = claim?.rival ?? null;
  if (rival === null || (persona.claim !== 'warned' && persona.claim !== 'contested')) return [];
  return [
    {
      code: 'claimed_elsewhere',
      outcome: 'warning',
      expected: `no other project with a domain above ${hostname}`,
      found: `${rival.domain} in the project "${rival.project}"`,
      message: `${rival.domain} is attached to the project "${rival.project}". Where projects have different owners, platforms refuse ${hostname}, or ask for a proof.`,
      fix: `Attach ${hostname} to that project, or prove that you own ${rival.domain}.`,
    },
  ];
}

/** All projects of the platform have one owner, so its own persona only warns. */
function missingChecks(
  proof: Proof,
  observation: Observation,
  { claim, kind, persona }: VerificationFacts,
  checks: readonly VerificationCheck[],
): VerificationCheck[] {
  const { hostname } = observation;
  const expected = expectedOf(proof);
  if (claim?.lack === 'alternative' || (claim?.lack === 'unless_cname' && observation.alias.chain.length > 0)) {
    // The addresses of an apex are shared by all projects, and prove nothing.
    if (kind === 'subdomain' && checks.every(({ outcome }) => outcome === 'ok' || outcome === 'warning')) return [];
  }
  const isNeeded = claim?.lack !== 'warning';
  const unanswered = observation.proofs.filter(({ name }) => name === dnsName(proof.name));
  const failure = isNeeded ? lookupCheck(unanswered, expected) : null;
  if (failure !== null) return [failure];
  const texts = textsAt(proof.name, observation);
  return [
    {
      code: 'txt_missing',
      outcome: isNeeded ? 'failed' : 'warning',
      expected,
      found: texts.length === 0 ? 'no TXT record' : texts.map((text) => `TXT "${text}"`).join(', '),
      message: `${proof.name} has no TXT record that permits ${hostname} in this project.${slipOf(proof.value, texts)}${persona.claim === 'reserved' ? ` With it, no other project may use ${hostname}, even after it was removed here.` : ''}`,
      fix: `Add this record: ${expected}`,
    },
  ];
}

/** When the right record is stored but not visible yet, report that in place of the outdated one. */
function propagated(
  checks: VerificationCheck[],
  { target }: Observation,
  facts: VerificationFacts,
): VerificationCheck[] {
  const { provider } = facts;
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  const [first] = failed;
  if (first === undefined || provider === null || provider.visibleAtMs === null) return checks;
  if (!isStoredRight(provider, facts, allAddresses(target))) return checks;
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
function pointsHere({ alias, addresses, target }: Observation, facts: VerificationFacts): boolean {
  if (alias.end.kind === 'reached') return true;
  const last = alias.chain.at(-1);
  if (alias.end.kind === 'nodata' && last !== undefined && isTarget(last, facts)) return true;
  const own = allAddresses(target);
  return alias.chain.length === 0 && allAddresses(addresses).some((address) => own.includes(address));
}

function movedCheck(
  checks: readonly VerificationCheck[],
  observation: Observation,
  facts: VerificationFacts,
): VerificationCheck | null {
  const { verifiedBefore, cnameTarget } = facts;
  const failed = checks.find(({ outcome }) => outcome === 'failed');
  if (!verifiedBefore || failed === undefined || pointsHere(observation, facts)) return null;
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
  const namesPlatform = [sibling.a, sibling.aaaa].some(({ chain }) => chain.includes(cnameTarget));
  const sameAddresses = addresses.length > 0 && addresses.every((address) => own.includes(address));
  if (!namesPlatform && !sameAddresses) return null;
  const parent = sibling.name.slice(sibling.name.indexOf('.') + 1);
  return {
    code: 'wildcard_risk',
    outcome: 'warning',
    expected: `no answer for ${sibling.name}`,
    found: namesPlatform ? `CNAME ${cnameTarget}` : addresses.join(', '),
    message: `The random name ${sibling.name} also leads to the platform, because of the wildcard record *.${parent}. Anyone on the platform could attach a name under it.`,
    fix: `Replace the wildcard with a record for each hostname that you use.`,
  };
}
