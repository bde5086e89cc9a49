import type { CaaVerdict } from '../../../../main/contract/certificates.ts';
import type { CheckCode } from '../../../../main/contract/check-codes.ts';
import type { Domain } from '../../../../main/contract/domains.ts';
import { planRecord } from '../../../../main/contract/record-plan.ts';
import type { Summary } from '../../../shared/domains/domain-summary.ts';
import type { LocalRecords } from '../../../shared/domains/record-plan.ts';

/** How the DNS differs now from what the last check of a domain found. */
export type DomainChange = 'caa_forbids' | 'caa_permits' | 'record_found';

/** The DNS as it is now; undefined parts are not known. */
export interface LiveDns {
  /** By the CA of the settings. */
  verdict: CaaVerdict['verdict'] | undefined;
  local: LocalRecords | undefined;
  nowMs: number;
}

const OF_CAA: ReadonlySet<CheckCode> = new Set(['caa_forbids', 'caa_lookup_failed']);
const OF_RECORD: ReadonlySet<CheckCode> = new Set(['no_record', 'wrong_target', 'a_conflict', 'moved']);

/** The change since the last check that matters most. */
export function changeSince(domain: Domain, { verdict, local, nowMs }: LiveDns): DomainChange | undefined {
  if (domain.lastCheckedAt === undefined || domain.state === 'suspended') return undefined;
  const failed = (codes: ReadonlySet<CheckCode>): boolean =>
    domain.checks.some(({ code, outcome }) => codes.has(code) && outcome !== 'ok' && outcome !== 'warning');
  if (failed(OF_RECORD) && local?.resolver === 'local') {
    const plan = planRecord(domain, local);
    if (plan.kind === 'present' && Date.parse(plan.visibleAt) <= nowMs) return 'record_found';
  }
  if (domain.state !== 'verified') return undefined;
  if (verdict === 'forbidden' && !failed(OF_CAA)) return 'caa_forbids';
  if (verdict === 'allowed' && failed(OF_CAA)) return 'caa_permits';
  return undefined;
}

/** The summary that replaces the one of the last check. */
export function summaryOfChange(change: DomainChange, { certificate }: Domain): Summary {
  const issued = certificate.state === 'issued';
  switch (change) {
    case 'record_found':
      return {
        tone: 'water',
        icon: 'dns',
        title: 'The record is there now',
        text: 'The DNS has changed since the last check. Verify it to continue.',
        action: 'verify',
      };
    case 'caa_forbids':
      return {
        tone: 'amber',
        icon: 'warning',
        title: issued ? 'The next renewal will be refused' : 'CAA forbids the certificate now',
        text: `CAA has changed since the last check.${issued ? ' The present certificate stays valid.' : ''}`,
        ...(certificate.renewAt !== undefined && { due: { what: 'Renewal in', at: certificate.renewAt } }),
        action: 'verify',
      };
    case 'caa_permits':
      return {
        tone: 'water',
        icon: 'certificates',
        title: issued ? 'CAA permits the renewal now' : 'CAA permits the certificate now',
        text: 'CAA has changed since the last check.',
        action: issued ? 'renew' : 'verify',
      };
  }
}
