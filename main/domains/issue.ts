import type { EpochMs } from '../base/clock.ts';
import type { CaaVerdict } from '../contract/certificates.ts';
import type { CheckCode } from '../contract/check-codes.ts';
import type { Check } from '../contract/domains.ts';
import { VivariumError } from '../contract/errors.ts';
import { mention } from '../contract/calls.ts';
import { caaLookupOver } from './checks/resolution.ts';
import type { CaaIssuer } from '../model/caa/set.ts';
import { explainCaa } from '../model/caa/walk.ts';
import type { CertificateEvent } from './hostname-machine.ts';
import type { DnsLookup } from '../model/dns-lookup.ts';
import type { AttachedDomain } from './domain-set.ts';
import { type Leaf, renewAtMs } from '../model/leaf.ts';
import { apexOf } from './public-suffix.ts';
import type { Rhythm } from './personas/personas.ts';

/** The part of the CA that custom domains use. */
export interface CertificateIssuer {
  /** Whether the root's name constraints permit a hostname. */
  permits(hostname: string): boolean;
  /** @throws VivariumError when it can't. */
  issue(hostname: string): Leaf;
}

/** The result of an attempt; `event` is for the certificate machine. */
export interface Attempt {
  event: Extract<CertificateEvent, { type: 'issued' | 'refused' }>;
  checks: readonly Check[];
  leaf: Leaf | null;
}

/** Whether CAA permits the CA to issue, according to the DNS: the verdict, then the warnings. */
export async function gateChecks(dns: DnsLookup, hostname: string, identity: CaaIssuer): Promise<GateChecks> {
  const verdict = await explainCaa({ ...identity, hostname, lookup: caaLookupOver(dns) });
  return caaChecks(verdict, identity.issuer);
}

export type GateChecks = readonly [verdict: Check, ...warnings: Check[]];

export function caaChecks(verdict: CaaVerdict, issuer: string): GateChecks {
  const first = caaCheck(verdict, issuer);
  const warnings = verdict.warnings.map((message): Check => ({
    code: first.code,
    outcome: 'warning',
    expected: first.expected,
    found: verdict.trace.at(-1)?.records.join('; '),
    message,
    fix: 'Correct the record if a stricter CA is to issue too.',
  }));
  return [first, ...warnings];
}

function caaCheck(verdict: CaaVerdict, issuer: string): Check {
  const expected = `${issuer} may issue`;
  const found = verdict.decisive.join('; ');
  switch (verdict.verdict) {
    case 'allowed':
      return {
        code: 'caa_forbids',
        outcome: 'ok',
        expected,
        found: found || 'no restriction',
        message: verdict.message,
      };
    case 'forbidden': {
      const fault = { outcome: 'failed', expected, found, message: verdict.message, fix: verdict.change } as const;
      // The owner of the hostname cannot edit the records of a CNAME's target, and may not know that they count.
      const elsewhere = verdict.foundAt !== verdict.trace.at(-1)?.name;
      return { code: elsewhere ? 'caa_on_target' : 'caa_forbids', ...fault };
    }
    case 'lookup_failed':
      return {
        code: 'caa_lookup_failed',
        outcome: 'unknown',
        expected,
        found: `no usable answer about ${verdict.trace.at(-1)?.name ?? 'the name'}`,
        message: verdict.message,
        fix: verdict.change,
      };
  }
}

/**
 * Issues a leaf or explains the refusal. Checks the hostname's DNS, then CAA (RFC 8659), then the root's constraints.
 * Synchronous: the domain cannot change between the decision and the leaf.
 */
export function attemptToIssue(
  domain: AttachedDomain,
  caa: GateChecks | null,
  { issuer, nowMs, rhythm }: { issuer: CertificateIssuer; nowMs: EpochMs; rhythm: Rhythm },
): Attempt {
  const { hostname } = domain;
  const refuse = (code: CheckCode, message: string, checks: readonly Check[]): Attempt => ({
    event: { type: 'refused', atMs: nowMs, code, message, rhythm },
    checks,
    leaf: null,
  });
  if (domain.state !== 'verified' || caa === null) {
    const wrong = domain.checks.find(({ outcome }) => outcome === 'failed');
    return refuse(
      wrong?.code ?? 'issuance_pending',
      wrong?.message ?? 'The hostname is not verified.',
      domain.certificateChecks,
    );
  }
  const suffix = suffixCheck(hostname, issuer);
  const checks = suffix === null ? caa : [...caa, suffix];
  const [gate] = caa;
  if (gate.outcome !== 'ok') return refuse(gate.code, gate.message, checks);
  if (suffix !== null) return refuse(suffix.code, suffix.message, checks);
  try {
    const leaf = issuer.issue(hostname);
    const event = { type: 'issued', atMs: nowMs, renewAtMs: renewAtMs(leaf), notAfterMs: leaf.notAfterMs } as const;
    return { event, checks, leaf };
  } catch (error) {
    if (!(error instanceof VivariumError)) throw error;
    return refuse('issuance_pending', error.message, checks);
  }
}

/** A root limited by name constraints is of little use to a thief. */
export function suffixCheck(hostname: string, issuer: Pick<CertificateIssuer, 'permits'>): Check | null {
  if (issuer.permits(hostname)) return null;
  const suffix = apexOf(hostname);
  return {
    code: 'suffix_not_permitted',
    outcome: 'failed',
    expected: `a root that may sign for ${hostname}`,
    found: `${suffix} is not among its permitted suffixes`,
    message: `The root’s name constraints exclude ${hostname}, so no client that trusts it would accept the certificate.`,
    fix: `Extend the root: ${mention('ca.extend', { suffix })}. Trust its new certificate; this one is then issued automatically. Or attach a name under .test.`,
  };
}
