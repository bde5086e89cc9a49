import { DOMAIN_EDITS } from '../breaks/domain-edits.ts';
import type { StateBreak } from '../breaks/state-break.ts';
import { aliasBreak } from '../services/alias-break.ts';
import { claimBreak } from '../services/claim-break.ts';
import { recordBreak } from '../services/record-breaks.ts';
import { signingBreak } from '../services/signing-breaks.ts';
import type { Dns } from './dns.ts';
import type { Domains } from './domains.ts';
import type { Foundation } from './foundation.ts';

/** Adds the edits of zones and their records to those that breaks make. */
export function addZoneBreaks(
  states: Map<string, StateBreak>,
  { clock, log, store, events }: Pick<Foundation, 'clock' | 'log' | 'store' | 'events'>,
  {
    dns,
    domains,
  }: {
    dns: Pick<Dns, 'zoneOf' | 'signingChanged' | 'zoneChanged' | 'namesChanged'>;
    domains: Pick<Domains, 'lifecycle'>;
  },
): void {
  const { lifecycle } = domains;
  const { zoneOf } = dns;
  const { zones } = store;
  const signing = {
    zones,
    zoneOf,
    changed(zone: string): void {
      dns.signingChanged(zone);
      events.emit('zones.changed');
    },
  };
  states.set('dns.dnssec-expired', signingBreak('expired', signing));
  states.set('dns.dnssec-missing', signingBreak('missing', signing));
  states.set('domain.dnssec-bogus', signingBreak('wrong-key', signing));

  function domain(text: string) {
    const { hostname, kind, verifiedAtMs, lastCheckedAtMs } = lifecycle.get(text);
    return { hostname, kind, verifiedBefore: verifiedAtMs !== null, checkedAtMs: lastCheckedAtMs };
  }
  states.set(
    'domain.alias-unsupported',
    aliasBreak({
      ...{ zones, zoneOf, domain },
      changed(zone) {
        dns.zoneChanged(zone);
        events.emit('zones.changed');
      },
    }),
  );
  states.set('domain.claimed-elsewhere', claimBreak({ projects: store.projects, lifecycle }));
  for (const entry of Object.keys(DOMAIN_EDITS)) {
    const edit = recordBreak(entry, {
      ...{ clock, log, zones, records: store.records, domain, zoneOf },
      running: store.breaks.list,
      publish: dns.namesChanged,
      async verifyAgain({ hostname, checkedAtMs }) {
        const now = lifecycle.find(hostname);
        if (now === null || now.lastCheckedAtMs === checkedAtMs) return;
        await lifecycle.verify(hostname).catch((error: unknown) => {
          log.error('A repaired domain could not be checked again; verify it', { error, hostname });
        });
      },
    });
    states.set(entry, edit);
  }
}
