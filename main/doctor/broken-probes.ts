import { DAY_MS } from '../contract/duration.ts';
import { HOSTS_FILE, type SystemAnswer } from '../base/system/system-names.ts';
import type { StoreTrust } from '../contract/certificates.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { BROKEN_ON_PURPOSE } from '../model/dns-lookup.ts';
import type { Fault, FaultSource } from '../model/fault.ts';
import type { CertificateReading } from './root.ts';

/** Finds the running break of an entry, for the hostnames if the entry is limited to hostnames. */
export type Find = (entry: string, hostnames?: readonly string[]) => Fault | null;

/** A probe's `look` in which running breaks may replace evidence. Its findings then name the breaks. */
export const withBreaks =
  (faults: Pick<FaultSource, 'named'>, look: (find: Find) => DoctorCheck[] | Promise<DoctorCheck[]>) =>
  async (): Promise<DoctorCheck[]> => {
    const entries = new Set<string>();
    const checks = await look((entry, hostnames = []) => {
      const fault = faults.named?.(entry, hostnames) ?? null;
      if (fault !== null) entries.add(entry);
      return fault;
    });
    if (entries.size === 0) return checks;
    const mark = `${BROKEN_ON_PURPOSE}: ${[...entries].join(', ')}. Nothing on this machine was changed.`;
    return checks.map((check) =>
      check.status === 'failed' || check.status === 'warning'
        ? { ...check, evidence: [...check.evidence, mark] }
        : check,
    );
  };

/** The store that the probe sees; nothing on this machine is changed. */
export function storeSeen(find: Find, store: StoreTrust): StoreTrust {
  if (store.state !== 'trusted' || find('machine.root-gone') === null) return store;
  const { store: name, title } = store;
  return { ...store, store: name, title, state: 'untrusted', message: `${title} no longer has the root.` };
}

export function machineTimeSeen(find: Find, realNowMs: number): number {
  const fault = find('machine.clock-skewed');
  return fault === null ? realNowMs : realNowMs - Number(fault.parameters['days']) * DAY_MS;
}

/** The answer that the probe sees: a documentation address (RFC 5737), from a line that does not exist. */
export function systemSeen(find: Find, hostname: string, answer: SystemAnswer): SystemAnswer {
  if (find('machine.hosts-line', [hostname]) === null) return answer;
  const address = '192.0.2.1';
  return { addresses: [address], reason: null, hosts: { file: HOSTS_FILE, line: 1, address } };
}

export function rootSeen(find: Find, certificate: CertificateReading, realNowMs: number): CertificateReading {
  const fault = certificate.state === 'read' ? find('ca.root-ending') : null;
  if (fault === null || certificate.state !== 'read') return certificate;
  return { ...certificate, notAfterMs: realNowMs + Number(fault.parameters['days']) * DAY_MS };
}
