import { createId, createUpdateKey } from '../../base/secret.ts';
import { VivariumError } from '../../contract/errors.ts';
import { formatZoneValue } from '../../dns/wire/record-text.ts';
import type { Updatable } from '../../dns/server/update-exchange.ts';
import { UPDATE_RECORDS_MAX } from '../../dns/server/update-exchange.ts';
import { planUpdate, type UpdatedZone, type Values } from '../../dns/server/update.ts';
import { createZone, withoutSerial } from '../../dns/zones/zone.ts';
import type { RecordRows, StoredZone, ZoneRows } from '../dependencies.ts';
import type { RecordWriter } from './record-writer.ts';

/** The secret of a zone's key in base64, made on first use or on request. */
export function updateSecret(zones: ZoneRows, zone: string, renew: boolean): string {
  const known = renew ? null : zones.updateSecret(zone);
  if (known !== null) return known;
  const secret = createUpdateKey();
  zones.setUpdateSecret(zone, secret);
  return secret;
}

/** Updates over DNS: with the same rules, propagation and events as for entered records. */
export function createRecordUpdates(options: {
  zones: ZoneRows;
  records: RecordRows;
  writer: RecordWriter;
  nameServer: string;
  realNow: Updatable['realNow'];
}): Updatable {
  const { zones, records, writer } = options;

  function updated({ name: apex, supportsAlias }: StoredZone): UpdatedZone {
    const { nameServer } = options;
    const made = (type: string): Values => {
      const own = createZone({ apex, nameServer }).records.filter(({ data }) => data.type === type);
      return new Map(own.map(({ ttlSeconds, data }) => [formatZoneValue(withoutSerial(data)), ttlSeconds]));
    };
    const rrset = (name: string, type: string): Values => {
      if (name === apex && records.countOf(apex, name, type) === 0) return made(type);
      return {
        get size() {
          return records.countOf(apex, name, type);
        },
        get: (value) => records.ttlOf({ zone: apex, name, type, value }),
        // One more than an update can delete, so one value remains unless these are all.
        keys: () => records.valuesOf(apex, name, type, UPDATE_RECORDS_MAX + 1).values(),
      };
    };
    return {
      apex,
      supportsAlias,
      nameServer,
      rrset,
      typesAt(name) {
        const stored = records.typesAt(apex, name);
        const missing = name === apex ? ['SOA', 'NS'].filter((type) => !stored.some((row) => row.type === type)) : [];
        return [...stored, ...missing.flatMap((type) => [...made(type).keys()].map((value) => ({ type, value })))];
      },
    };
  }

  return {
    realNow: options.realNow,
    hasZone: (name) => zones.get(name) !== null,
    secretOf(key) {
      const secret = zones.updateSecret(key);
      return secret === null ? null : Buffer.from(secret, 'base64');
    },
    apply(update) {
      const zone = zones.get(update.zone.name);
      if (zone === null) return { rcode: 'NOTAUTH' };
      const plan = planUpdate(update, updated(zone));
      if (!plan.ok) return plan;
      const changes = plan.rrsets.map(({ name, type, put, gone }) => ({
        name,
        type,
        put: [...put].map(([value, ttlSeconds]) => ({ id: createId('rec'), ttlSeconds, value })),
        gone: [...gone],
      }));
      try {
        writer.change(zone.name, changes);
      } catch (error) {
        if (!(error instanceof VivariumError)) throw error;
        return { rcode: 'REFUSED', reason: error.message };
      }
      return { rcode: 'NOERROR' };
    },
  };
}
