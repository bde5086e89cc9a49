import { randomBase62 } from '../base/secret.ts';
import type { EpochMs } from '../base/clock.ts';
import { createTurns, nextTurn } from '../base/turns.ts';
import { VivariumError } from '../contract/errors.ts';
import { wildcardOver } from '../contract/wildcards.ts';
import { certificateEventDue, nextCertificate, type CertificateEvent } from './certificate-machine.ts';
import type { CaaIssuer } from '../model/caa/set.ts';
import { hasFoundNothing, inOrder, verdictOf } from './checks.ts';
import { addressesToLookAt, afterLooks, type LookOverHttp } from './http-look.ts';
import type { DnsLookup } from '../model/dns-lookup.ts';
import type { DomainSet, AttachedDomain } from './domain-set.ts';
import { nextHostname, RECHECK_INTERVAL_MS } from './hostname-machine.ts';
import { attemptToIssue, gateChecks, suffixCheck, type CertificateIssuer } from './issue.ts';
import { observe } from './observe.ts';
import { parentOf, ROOT } from '../model/dns-name.ts';
import type { Claim, ProviderFacts } from './provider.ts';
import { evaluate } from './verification.ts';

/** Long enough to be unique, short enough to fit beside most names. */
const RANDOM_LABEL_LENGTH = 20;

export interface LifecycleSettings {
  issuanceDelayMs: number;
  identity: CaaIssuer;
}

export interface VerifierOptions {
  now: () => EpochMs;
  domains: DomainSet;
  dns: DnsLookup;
  issuer: CertificateIssuer;
  cnameTarget: string;
  /** The records stored for a hostname in Vivarium's zones; null outside them, or with another resolver. */
  provider: (hostname: string) => ProviderFacts | null;
  settings: () => LifecycleSettings;
  projectName: (projectId: string) => string;
  look: LookOverHttp;
}

/**
 * The asynchronous steps of a domain. Queries come first; their results are applied synchronously to the current
 * domain, which may have been suspended or removed meanwhile. The caller serialises steps per hostname, and commits.
 */
export interface Verifier {
  /** Checks the DNS and issues when due. `asked`: requested by the user; restarts a failed issuance. */
  verify(domain: AttachedDomain, asked: boolean): Promise<void>;
  /** Runs the certificate event that is due. */
  certificateDue(domain: AttachedDomain): Promise<void>;
  /** Attempts issuance now, in any certificate state. */
  renew(domain: AttachedDomain): Promise<void>;
  /** Whether hostnames wait for their leaves, each for its turn of the event loop. */
  isIssuing(): boolean;
}

export function createVerifier(options: VerifierOptions): Verifier {
  const { now, domains, dns, issuer, cnameTarget, provider, settings } = options;
  // A leaf takes most of a millisecond, and the answers for many hostnames arrive together.
  const issuance = createTurns(1);
  let issuing = 0;

  /** @throws VivariumError not_found when the domain was removed or replaced meanwhile. */
  function current(domain: AttachedDomain): AttachedDomain {
    const found = domains.current(domain);
    if (found !== null) return found;
    throw new VivariumError(
      'not_found',
      `${domain.hostname} was removed, or a snapshot restored, while it was being checked.`,
    );
  }

  async function look(domain: AttachedDomain): Promise<AttachedDomain['checks']> {
    const { hostname, kind } = domain;
    const randomLabel = () => randomBase62(RANDOM_LABEL_LENGTH).toLowerCase();
    const claim = claimOn(domain);
    const zone = provider(hostname)?.zone;
    const observation = await observe(dns, {
      hostname,
      kind,
      cnameTarget,
      randomLabel,
      zone,
      proofName: claim?.proof.name,
    });
    const verifiedBefore = domain.verifiedAtMs !== null;
    const checks = evaluate(observation, { kind, cnameTarget, verifiedBefore, provider: provider(hostname), claim });
    const looks = addressesToLookAt(observation, checks).map(async (address) => {
      return { address, look: await options.look(hostname, address) };
    });
    return inOrder(afterLooks(hostname, checks, await Promise.all(looks)));
  }

  /** The closest domain above, or wildcard over the hostname, that another project has. */
  function claimOn({ hostname, projectId }: AttachedDomain): Claim | null {
    for (let name = hostname, above = parentOf(name); above !== ROOT; name = above, above = parentOf(name)) {
      const holder = [wildcardOver(name), above]
        .map((claimed) => domains.get(claimed))
        .find((domain) => domain !== null && domain.projectId !== projectId);
      if (holder === null || holder === undefined) continue;
      const proof = { name: `_vivarium.${above}`, value: `${hostname}=${projectId}` };
      return { domain: holder.hostname, project: options.projectName(holder.projectId), proof };
    }
    return null;
  }

  /** The next check: tomorrow, or when a pending record becomes visible. */
  function nextCheckMs(hostname: string, checks: AttachedDomain['checks'], nowMs: EpochMs): EpochMs {
    const waits = checks.some(({ code }) => code === 'not_propagated');
    const visibleAtMs = waits ? (provider(hostname)?.visibleAtMs ?? null) : null;
    return Math.min(nowMs + RECHECK_INTERVAL_MS, Math.max(visibleAtMs ?? Infinity, nowMs + 1));
  }

  function takeChecks(
    domain: AttachedDomain,
    checks: AttachedDomain['checks'],
    asked: boolean,
  ): CertificateEvent | null {
    const before = current(domain);
    const atMs = now();
    const state = { state: before.state, stateBefore: before.stateBefore, verifiedAtMs: before.verifiedAtMs };
    const after = nextHostname(state, {
      type: 'checked',
      atMs,
      verdict: verdictOf(checks),
      hasFoundNothing: hasFoundNothing(checks),
    });
    const nextCheckAtMs = after.state === 'suspended' ? null : nextCheckMs(before.hostname, checks, atMs);
    domains.put({ ...before, ...after, checks, lastCheckedAtMs: atMs, nextCheckAtMs });
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
    await issuance.take(nextTurn);
    issuing--;
    const then = current(domain);
    const attempt = attemptToIssue(then, caa, { issuer, nowMs: now() });
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
    async verify(domain, asked) {
      const checks = await look(domain);
      const event = takeChecks(domain, checks, asked);
      const attempted = event !== null && (await tell(domain, event));
      const { state } = current(domain);
      if (asked && state === 'verified' && !attempted) await showGate(domain);
      else if (state !== 'verified') domains.put({ ...current(domain), certificateChecks: [] });
    },
    async certificateDue(domain) {
      const event = certificateEventDue(current(domain).certificate, now());
      if (event !== null) await tell(domain, event);
    },
    async renew(domain) {
      const { state } = current(domain).certificate;
      const type = state === 'issued' || state === 'expired' ? 'renewal_due' : 'reverified';
      await tell(domain, { type, atMs: now(), delayMs: 0 });
    },
    isIssuing: () => issuing > 0,
  };
}
