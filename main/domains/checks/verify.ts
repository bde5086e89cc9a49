import { randomBase62 } from '../../base/secret.ts';
import type { EpochMs } from '../../base/clock.ts';
import { createTurns, nextTurn } from '../../base/turns.ts';
import { notFound, type VivariumError } from '../../contract/errors.ts';
import { certificateEventDue, nextCertificate, nextHostname, RECHECK_INTERVAL_MS } from '../hostname-machine.ts';
import type { CertificateEvent } from '../hostname-machine.ts';
import type { CaaIssuer } from '../../model/caa/set.ts';
import { type Claimant, type DomainRules, foreignProofs } from '../personas/claims.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import { hasFoundNothing, inOrder, verdictOf, type VerificationCheck } from './checks.ts';
import type { DnsLookup } from '../../model/dns-lookup.ts';
import type { DomainSet, AttachedDomain } from '../domain-set.ts';
import { attemptToIssue, gateChecks, suffixCheck, type CertificateIssuer } from '../issue.ts';
import { allAddresses, type Observation, observe } from './observe.ts';
import { kindOf } from '../public-suffix.ts';
import { type Persona, nextTry } from '../personas/personas.ts';
import { isGivenUp, type ProviderFacts } from '../personas/provider.ts';
import { evaluate } from './verification.ts';

/** Long enough to be unique, short enough to fit beside most names. */
const RANDOM_LABEL_LENGTH = 20;
const randomLabel = (): string => randomBase62(RANDOM_LABEL_LENGTH).toLowerCase();

export type RuledDomain = Pick<AttachedDomain, 'hostname' | 'projectId' | 'verifiedAtMs'>;

export interface VerifierOptions {
  now: () => EpochMs;
  domains: DomainSet;
  dns: DnsLookup;
  issuer: CertificateIssuer;
  /** The requirements of the project's persona. */
  rules: (domain: RuledDomain) => DomainRules;
  /** The other projects with the same persona. */
  others: (projectId: string) => readonly Claimant[];
  /** The records stored for a hostname in Vivarium's zones; null outside them, or with another resolver. */
  provider: (hostname: string) => ProviderFacts | null;
  settings: () => { issuanceDelayMs: number; identity: CaaIssuer };
  look: LookOverHttp;
}

export type Verifier = ReturnType<typeof createVerifier>;

type Checks = AttachedDomain['checks'];

/**
 * The asynchronous steps of a domain. Queries come first; their results are applied synchronously to the current
 * domain, which may have been suspended or removed meanwhile. The caller serialises steps per hostname, and commits.
 */
export function createVerifier(options: VerifierOptions) {
  const { now, domains, dns, issuer, provider, settings } = options;
  // A leaf takes almost a millisecond, and the answers for many hostnames arrive together.
  const issuance = createTurns(1);
  let issuing = 0;

  /** @throws VivariumError not_found when the domain was removed or replaced meanwhile. */
  function current(domain: AttachedDomain): AttachedDomain {
    const found = domains.current(domain);
    if (found === null) throw goneMeanwhile(domain);
    return found;
  }

  async function look(domain: RuledDomain & Pick<AttachedDomain, 'kind'>, withClaim = true): Promise<Checks> {
    const { hostname, kind } = domain;
    const { claim: own, ...rules } = options.rules(domain);
    const foreign = foreignProofs(rules.persona, hostname, () => options.others(domain.projectId));
    const claim = own === null || !withClaim ? null : { ...own, foreign };
    const zone = provider(hostname)?.zone;
    const observation = await observe(dns, {
      hostname,
      kind,
      cnameTarget: rules.cnameTarget,
      randomLabel,
      zone,
      proofNames: [...(claim?.proofs ?? []), ...foreign].map(({ name }) => name),
    });
    const verifiedBefore = domain.verifiedAtMs !== null;
    const checks = evaluate(observation, { ...rules, kind, verifiedBefore, provider: provider(hostname), claim });
    const looks = addressesToLookAt(observation, checks).map(async (address) => {
      return { address, look: await options.look(hostname, address) };
    });
    return inOrder(afterLooks(hostname, checks, await Promise.all(looks)));
  }

  function takeChecks(domain: AttachedDomain, checks: Checks, asked: boolean): CertificateEvent | null {
    const before = current(domain);
    const atMs = now();
    const state = { state: before.state, stateBefore: before.stateBefore, verifiedAtMs: before.verifiedAtMs };
    const after = nextHostname(state, {
      type: 'checked',
      atMs,
      verdict: verdictOf(checks),
      hasFoundNothing: hasFoundNothing(checks),
    });
    const isBegun = before.seriesAtMs !== null && !(asked && isGivenUp(before));
    const seriesAtMs = after.state === 'verified' ? null : isBegun ? before.seriesAtMs : atMs;
    const checked = { ...before, ...after, checks, lastCheckedAtMs: atMs, seriesAtMs };
    const { persona } = options.rules(before);
    const moment = { nowMs: atMs, visibleAtMs: () => provider(before.hostname)?.visibleAtMs };
    const nextCheckAtMs = after.state === 'suspended' ? null : nextCheckMs(checked, persona, checks, moment);
    domains.put({ ...checked, nextCheckAtMs });
    if (after.state !== 'verified') return null;
    const delayMs = settings().issuanceDelayMs;
    if (before.state !== 'verified' || before.certificate.state === 'none') {
      return { type: 'hostname_verified', atMs, delayMs };
    }
    return asked ? { type: 'reverified', atMs, delayMs } : null;
  }

  /** Applies an event to the certificate machine and runs its attempt. Returns whether there was one. */
  async function tell(domain: AttachedDomain, event: CertificateEvent): Promise<boolean> {
    const before = current(domain);
    const { state, attempts } = nextCertificate(before.certificate, event);
    domains.put({ ...before, certificate: state });
    if (!attempts) return false;
    const { identity } = settings();
    const caa = before.state === 'verified' ? await gateChecks(dns, before.hostname, identity) : null;
    issuing++;
    await issuance.enqueue(nextTurn);
    issuing--;
    const then = current(domain);
    const attempt = attemptToIssue(then, caa, { issuer, nowMs: now(), rhythm: options.rules(then).persona.issuance });
    const certificate = nextCertificate(then.certificate, attempt.event).state;
    const taken = certificate.state === 'issued' ? attempt.leaf : null;
    domains.put({ ...then, certificate, certificateChecks: attempt.checks }, taken);
    return true;
  }

  /** The checks of the next issuance, updated even when none is due. */
  async function showGate(domain: AttachedDomain): Promise<void> {
    const caa = await gateChecks(dns, domain.hostname, settings().identity);
    const suffix = suffixCheck(domain.hostname, issuer);
    domains.put({ ...current(domain), certificateChecks: suffix === null ? caa : [...caa, suffix] });
  }

  return {
    /** Checks the DNS and issues when due. `asked`: requested by the user; restarts a failed issuance. */
    async verify(domain: AttachedDomain, asked: boolean): Promise<void> {
      const checks = await look(domain);
      const event = takeChecks(domain, checks, asked);
      const attempted = event !== null && (await tell(domain, event));
      const { state } = current(domain);
      if (asked && state === 'verified' && !attempted) await showGate(domain);
      else if (state !== 'verified') domains.put({ ...current(domain), certificateChecks: [] });
    },
    async certificateDue(domain: AttachedDomain): Promise<void> {
      const event = certificateEventDue(current(domain).certificate, now());
      if (event !== null) await tell(domain, event);
    },
    /** Attempts issuance now, in any certificate state. */
    async renew(domain: AttachedDomain): Promise<void> {
      const { state } = current(domain).certificate;
      const type = state === 'issued' || state === 'expired' ? 'renewal_due' : 'reverified';
      await tell(domain, { type, atMs: now(), delayMs: 0 });
    },
    async preview(projectId: string, hostname: string) {
      const suffix = suffixCheck(hostname, issuer);
      const [checks, caa] = await Promise.all([
        look({ hostname, projectId, verifiedAtMs: null, kind: kindOf(hostname) }, false),
        gateChecks(dns, hostname, settings().identity),
      ]);
      return { checks, gate: suffix === null ? caa : [...caa, suffix] };
    },
    /** Whether hostnames are waiting for their leaves; each leaf takes one turn of the event loop. */
    isIssuing: (): boolean => issuing > 0,
  };
}

const goneMeanwhile = ({ hostname }: AttachedDomain): VivariumError =>
  notFound(`${hostname} was removed, or a snapshot restored, while it was being checked.`);

/** The next check of a hostname: daily, or by the persona's rhythm, or when a pending record becomes visible. */
function nextCheckMs(
  { state, seriesAtMs }: Pick<AttachedDomain, 'state' | 'seriesAtMs'>,
  { checks: rhythm }: Persona,
  checks: AttachedDomain['checks'],
  { nowMs, visibleAtMs }: { nowMs: EpochMs; visibleAtMs: () => EpochMs | null | undefined },
): EpochMs | null {
  const isDaily = state === 'verified' || rhythm === null || seriesAtMs === null;
  const usualMs = isDaily ? nowMs + RECHECK_INTERVAL_MS : nextTry(rhythm, seriesAtMs, nowMs);
  const waits = checks.some(({ code }) => code === 'not_propagated');
  const changesAtMs = waits ? (visibleAtMs() ?? null) : null;
  if (changesAtMs === null) return usualMs;
  return Math.min(usualMs ?? Infinity, Math.max(changesAtMs, nowMs + 1));
}

/** The result of an HTTP request to an address: the platform, another server's status, or no answer. */
export type Look = { served: true } | { served: false; status: number | null };

/** Sends a request for a hostname to an address. Never rejects. */
export type LookOverHttp = (hostname: string, address: string) => Promise<Look>;

/** Failures that a server in front of the platform would explain. */
const LEADS_ELSEWHERE: ReadonlySet<string> = new Set(['wrong_target', 'a_conflict', 'alias_mismatch']);

/** Maximum addresses to try; a CDN answers with a few. */
const ADDRESSES_MAX = 4;

const LOOPBACK = /^(?:127\.|::1$)/;

/**
 * The addresses to try: those of a hostname whose records lead elsewhere, if it fails for that reason alone. Only
 * loopback addresses, so no request leaves the machine.
 */
function addressesToLookAt(
  { hostname, addresses, alias, target }: Observation,
  checks: readonly VerificationCheck[],
): string[] {
  // A request needs a concrete hostname.
  if (isWildcard(hostname)) return [];
  const failed = checks.filter(
    ({ outcome, code }) => (outcome === 'failed' && code !== 'moved') || outcome === 'unknown',
  );
  if (failed.length === 0 || failed.some(({ code }) => !LEADS_ELSEWHERE.has(code)) || alias.rivals !== null) return [];
  const own = allAddresses(target);
  const found = allAddresses(addresses);
  const others = found.filter((address) => !own.includes(address));
  // Beside an address of the platform, any other is a stray, regardless of its answer.
  if (others.length < found.length || others.length > ADDRESSES_MAX) return [];
  return others.every((address) => LOOPBACK.test(address)) ? others : [];
}

/** Adds the results: `proxied` replaces the failed checks if every address forwards requests; else adds `not_served`. */
function afterLooks(
  hostname: string,
  checks: readonly VerificationCheck[],
  looks: readonly { address: string; look: Look }[],
): VerificationCheck[] {
  const [failed] = checks.filter(({ outcome }) => outcome === 'failed');
  if (looks.length === 0 || failed === undefined) return [...checks];
  const found = looks.map(({ address, look }) => `${address}: ${lookText(look)}`).join('; ');
  const check = { expected: 'the platform’s answer over HTTP', found } as const;
  if (looks.every(({ look }) => look.served)) {
    return [
      ...checks.filter(({ outcome, code }) => outcome !== 'failed' && code !== 'moved'),
      {
        ...check,
        code: 'proxied',
        outcome: 'warning',
        message: `The records of ${hostname} lead to another server, which passes requests on to the platform, so they are accepted. Clients see the certificate of that server, and requests without an API key count for its address.`,
        fix: `No fix is needed if that server is yours. Otherwise: ${failed.fix ?? ''}`,
      },
    ];
  }
  return [
    ...checks,
    {
      ...check,
      code: 'not_served',
      outcome: 'failed',
      message: `A request for ${hostname} at the addresses that its records lead to does not reach the platform.`,
      fix: failed.fix,
    },
  ];
}

function lookText(look: Look): string {
  if (look.served) return 'the platform';
  return look.status === null ? 'no answer' : `another server, status ${look.status}`;
}
