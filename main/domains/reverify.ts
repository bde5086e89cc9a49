import { nextTurn } from '../base/turns.ts';
import type { CheckCode } from '../contract/check-codes.ts';
import { VivariumError } from '../contract/errors.ts';
import { LEAF_LIFETIME_MS, type Leaf } from '../model/leaf.ts';
import { NO_CERTIFICATE } from './certificate-machine.ts';
import type { Verifier, VerifierOptions } from './checks/verify.ts';
import type { AttachedDomain, DomainSet } from './domain-set.ts';
import { type CertificateIssuer, gateChecks } from './issue.ts';
import type { DomainWork } from './schedule.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';

/** Verifies domains again when something that refused them has changed. */
export function createReverification(
  {
    clock,
    log,
    dns,
    issuer,
    settings,
  }: Pick<VerifierOptions, 'dns' | 'issuer' | 'settings'> & { clock: Pick<Clock, 'now'>; log: Pick<Log, 'error'> },
  parts: { domains: DomainSet; verifier: Verifier; inTurn: DomainWork['inTurn']; isStarted: () => boolean },
) {
  const { domains, verifier, inTurn, isStarted } = parts;
  let recordsAt: 'rest' | 'looking' | 'changed' = 'rest';

  async function verifyAgain({ hostname }: AttachedDomain, isDue = (_: AttachedDomain) => Promise.resolve(true)) {
    try {
      await inTurn(hostname, async (domain) => {
        if (await isDue(domain)) await verifier.verify(domain, true);
      });
    } catch (error) {
      log.error('A domain could not be verified again; re-verify it', { hostname, error });
    }
  }

  async function isPermitted(domain: AttachedDomain): Promise<boolean> {
    if (!waitsForCaa(domain)) return false;
    const [gate] = await gateChecks(dns, domain.hostname, settings().identity);
    return gate.outcome === 'ok';
  }

  async function recordsChanged(): Promise<void> {
    const isLooking = recordsAt !== 'rest';
    recordsAt = 'changed';
    if (isLooking) return;
    while (isStarted() && recordsAt === 'changed') {
      recordsAt = 'looking';
      await Promise.all(
        domains
          .list()
          .filter(waitsForCaa)
          .map((domain) => verifyAgain(domain, isPermitted)),
      );
    }
    recordsAt = 'rest';
  }

  return {
    /** Call after the root was extended; domains waiting for that have their certificates when this resolves. */
    async issuerExtended(): Promise<void> {
      const waiting = domains.list().filter(waitsForIssuer);
      await Promise.all(
        waiting.filter(({ hostname }) => issuer.permits(hostname)).map((domain) => verifyAgain(domain)),
      );
    },
    /** Call when answers of the local DNS may have changed; verifies domains again that CAA refused and now permits. */
    recordsChanged,
    /** Call after the resolver or the CA's identity changed; verifies domains without an answer or refused by CAA. */
    async lookupsChanged(): Promise<void> {
      const unknown = domains.list().filter(isUnknown);
      await Promise.all([...unknown.map((domain) => verifyAgain(domain)), recordsChanged()]);
    },
    /**
     * Issues leaves for domains whose certificates have none, because another root signed those: with the same dates on
     * the app's clock if the root permits the name, otherwise as for a new domain.
     */
    async issueMissing(): Promise<void> {
      const isMissing = (domain: AttachedDomain) =>
        domain.certificate.state === 'issued' &&
        (domains.leaf(domain.hostname) === null || !issuer.permits(domain.hostname));
      const refused: AttachedDomain[] = [];
      for (const domain of domains.list().filter(isMissing)) {
        const leaf = issueAgain(domain, issuer);
        if (leaf === null) refused.push(domain);
        const [seriesAtMs, nextAttemptAtMs] = [clock.now(), clock.now()];
        const pending = { ...NO_CERTIFICATE, state: 'pending', seriesAtMs, nextAttemptAtMs } as const;
        domains.put({ ...domain, ...(leaf === null && { certificate: pending }) }, leaf);
        await nextTurn();
      }
      await domains.commit();
      await Promise.all(refused.map((domain) => verifyAgain(domain)));
    },
  };
}

/** Whether the root's constraints refused the domain at its last attempt, given up or not. */
const waitsForIssuer = ({ state, certificateChecks }: AttachedDomain): boolean =>
  state === 'verified' && certificateChecks.some(({ code }) => code === 'suffix_not_permitted');

/** Whether the last check of the hostname got no answer. */
const isUnknown = ({ checks }: AttachedDomain): boolean => checks.some(({ outcome }) => outcome === 'unknown');

/** A leaf with the dates of the domain's certificate; null if the root cannot sign it. */
function issueAgain({ hostname, certificate }: AttachedDomain, issuer: CertificateIssuer): Leaf | null {
  const { notAfterMs } = certificate;
  if (notAfterMs === null || !issuer.permits(hostname)) return null;
  try {
    return { ...issuer.issue(hostname), notBeforeMs: notAfterMs - LEAF_LIFETIME_MS, notAfterMs };
  } catch (error) {
    if (error instanceof VivariumError) return null;
    throw error;
  }
}

const OF_CAA: ReadonlySet<CheckCode> = new Set(['caa_forbids', 'caa_on_target', 'caa_lookup_failed']);

/** Whether CAA refused the domain at its last attempt, or would refuse its renewal. */
const waitsForCaa = ({ state, certificateChecks }: AttachedDomain): boolean =>
  state === 'verified' &&
  certificateChecks.some(({ code, outcome }) => OF_CAA.has(code) && (outcome === 'failed' || outcome === 'unknown'));
