import type { StateBreak } from '../breaks/state-break.ts';
import { signingBreak } from '../services/signing-breaks.ts';
import type { Dns } from './dns.ts';
import type { Foundation } from './foundation.ts';

/** Adds the edits of zones and their records to those that breaks make. */
export function addZoneBreaks(
  states: Map<string, StateBreak>,
  { store, events }: Pick<Foundation, 'store' | 'events'>,
  { dns }: { dns: Pick<Dns, 'zoneOf' | 'signingChanged'> },
): void {
  const signing = {
    zones: store.zones,
    zoneOf: dns.zoneOf,
    changed(zone: string): void {
      dns.signingChanged(zone);
      events.emit('zones.changed');
    },
  };
  states.set('dns.dnssec-expired', signingBreak('expired', signing));
  states.set('dns.dnssec-missing', signingBreak('missing', signing));
}
