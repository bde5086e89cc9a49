import type { EpochMs } from '../base/clock.ts';
import type { Check, CheckCode } from '../contract/domains.ts';
import { VivariumError } from '../contract/errors.ts';
import { caaCheck } from './caa-check.ts';
import { caaLookupOver } from './caa-lookup.ts';
import type { CaaIssuer } from './caa-property.ts';
import { explainCaa } from './caa.ts';
import type { CertificateEvent } from './certificate-machine.ts';
import type { DnsLookup } from './dns-lookup.ts';
import type { AttachedDomain, HeldLeaf } from './domain.ts';
import { apexOf } from './public-suffix.ts';

/** The CA, as far as custom domains need it. */
export interface CertificateIssuer {
  /** Whether the root's name constraints let it sign for a hostname. */
  permits(hostname: string): boolean;
  /** @throws VivariumError when it can't. */
  issue(hostname: string): HeldLeaf;
}

const DAY_MS = 86_400_000;

/** As ACME clients do: time enough to see and mend a renewal that fails. A shorter life is renewed after two thirds. */
export const RENEWAL_LEFT_MS = 30 * DAY_MS;

export const renewAtMs = ({ notBeforeMs, notAfterMs }: HeldLeaf): EpochMs =>
  Math.ceil(notAfterMs - Math.min(RENEWAL_LEFT_MS, (notAfterMs - notBeforeMs) / 3));

/** What came of an attempt; `event` is for the certificate machine. */
export interface Attempt {
  event: Extract<CertificateEvent, { type: 'issued' | 'refused' }>;
  checks: readonly Check[];
  leaf: HeldLeaf | null;
}

/** Whether CAA lets the CA issue, asked of the DNS. */
export async function gateCheck(dns: DnsLookup, hostname: string, identity: CaaIssuer): Promise<Check> {
  const verdict = await explainCaa({ ...identity, hostname, lookup: caaLookupOver(dns) });
  return caaCheck(verdict, identity.issuer);
}

/**
 * Issues, or says why not: first what the DNS of the hostname says, then CAA (RFC 8659), then the root's own constraints.
 * Synchronous, so that nothing can happen to the domain between the decision and the leaf.
 */
export function attemptToIssue(
  domain: AttachedDomain,
  caa: Check | null,
  { issuer, nowMs }: { issuer: CertificateIssuer; nowMs: EpochMs },
): Attempt {
  const { hostname } = domain;
  const refuse = (code: CheckCode, message: string, checks: readonly Check[]): Attempt => ({
    event: { type: 'refused', atMs: nowMs, code, message },
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
  const checks = suffix === null ? [caa] : [caa, suffix];
  if (caa.outcome !== 'ok') return refuse(caa.code, caa.message, checks);
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

/** A root that could sign for any name would be worth stealing; so this one is told for whom it may. */
export function suffixCheck(hostname: string, issuer: Pick<CertificateIssuer, 'permits'>): Check | null {
  if (issuer.permits(hostname)) return null;
  const suffix = apexOf(hostname);
  return {
    code: 'suffix_not_permitted',
    outcome: 'failed',
    expected: `a root that may sign for ${hostname}`,
    found: `${suffix} is not among its permitted suffixes`,
    message: `The root’s name constraints exclude ${hostname}, so no client that trusts it would accept the certificate.`,
    fix: `Extend the root with ca.extend {"suffix": "${suffix}"}, and trust its new certificate: this one follows by itself. Or attach a name under .test.`,
  };
}
