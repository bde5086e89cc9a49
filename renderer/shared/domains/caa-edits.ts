import type { CaaVerdict } from '../../../main/contract/certificates.ts';
import { closestZone, nameWithin } from '../../../main/contract/record-plan.ts';
import type { ZoneInfo } from '../../../main/contract/zones.ts';
import type { Client } from '../../connection/transport.ts';

export type CaaEdit = CaaVerdict['edits'][number];

/** A record in zone-file notation. */
export const caaLine = ({ name, value }: CaaEdit): string => `${name}. CAA ${value}`;

/** Whether all edited names are in these zones, so Vivarium can make the edits. */
export const canBeMade = (edits: readonly CaaEdit[], zones: readonly ZoneInfo[]): boolean =>
  edits.length > 0 && edits.every(({ name }) => closestZone(name, zones) !== null);

/** The default of most DNS providers. */
const TTL_SECONDS = 3600;

/** Makes the edits in Vivarium's own zones, in order. @returns a function that undoes them. */
export async function makeEdits(client: Client, edits: readonly CaaEdit[]): Promise<() => Promise<void>> {
  const zones = await client.zones.list({});
  const undo: (() => Promise<unknown>)[] = [];
  const undoAll = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  // A replacement keeps the TTL of the record it replaces.
  let ttl = TTL_SECONDS;
  try {
    for (const { action, name, value } of edits) {
      const zone = closestZone(name, zones)?.name ?? name;
      const place = { zone, name: nameWithin(name, zone) };
      if (action === 'add') {
        const { id } = await client.records.put({ ...place, type: 'CAA', ttl, value });
        undo.push(() => client.records.remove({ id }));
        continue;
      }
      const there = (await client.records.list(place)).find(
        (record) => record.type === 'CAA' && record.value === value,
      );
      if (there === undefined) continue;
      ({ ttl } = there);
      const before = { ...place, type: 'CAA', ttl, value } as const;
      await client.records.remove({ id: there.id });
      undo.push(() => client.records.put(before));
    }
  } catch (error) {
    await undoAll();
    throw error;
  }
  return undoAll;
}
