import type { Clock } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import { recordType } from '../contract/zones.ts';
import type { createZone, readZoneFile, RecordData, ResourceRecord, writeZoneFile, ZoneIndex } from '../dns/index.ts';
import type { Effects, RecordRows, VersionRow, ZoneRows } from './dependencies.ts';
import type { RecordWriter } from './record-writer.ts';
import { readData, type RecordRules } from './records.ts';
import { existingZone, newZoneName, presentZone, ZONES_MAX } from './zone-rules.ts';

/** Lines of each kind that an import lists; the others are counted. */
const LINES_LISTED_MAX = 100;

/** The zone's own SOA is made by the server; the one in the file is passed over. */
const FILE_TYPES = [...recordType.options, 'SOA'] as const;

export type ZoneFileRules = RecordRules & {
  createZone: typeof createZone;
  readZoneFile: typeof readZoneFile;
  writeZoneFile: typeof writeZoneFile;
};

export function createZoneServices(options: {
  clock: Pick<Clock, 'now'>;
  zones: ZoneRows;
  records: RecordRows;
  rules: ZoneFileRules;
  writer: RecordWriter;
  /** The server's own name, which every zone has in its NS. */
  nameServer: string;
  emit: Effects['emit'];
  /** The platform's own zone, as it is answered from. */
  platform: Pick<ZoneIndex, 'apex' | 'records'>;
  /** Puts a zone that was made or removed into effect. */
  publish: (name: string) => void;
}): Services['zones'] {
  const { clock, zones, records, rules, writer, nameServer } = options;

  function changed(name: string): void {
    options.publish(name);
    options.emit('zones.changed');
  }

  const isOwn = ({ name, data }: ResourceRecord, apex: string): boolean =>
    data.type === 'SOA' || (data.type === 'NS' && name === apex && data.target === nameServer);

  return {
    list: () => zones.list().map(presentZone),
    create({ name: text, supportsAlias }) {
      const name = newZoneName(text);
      if (zones.get(name) !== null) {
        const message = `"${name}" is there already; put records into it, or remove it first.`;
        throw new VivariumError('conflict', `name: ${message}`, { issues: [{ path: 'name', message }] });
      }
      if (zones.count() >= ZONES_MAX) {
        throw new VivariumError('conflict', `There are ${ZONES_MAX} zones already; remove one first.`);
      }
      zones.insert({ name, supportsAlias, createdAtMs: clock.now() });
      changed(name);
      return presentZone(existingZone(zones, name));
    },
    remove({ name }) {
      const zone = existingZone(zones, name);
      zones.remove(zone.name);
      changed(zone.name);
      return presentZone(zone);
    },
    export({ name }) {
      const { name: apex, supportsAlias, serial } = existingZone(zones, name);
      const stored = records
        .list(apex)
        .flatMap((row) => readData(rules, row).map((data) => ({ name: row.name, ttlSeconds: row.ttlSeconds, data })));
      return {
        text: rules.writeZoneFile(rules.createZone({ apex, nameServer, serial, supportsAlias, records: stored })),
      };
    },
    import({ name, text, force }) {
      const { name: apex, supportsAlias } = existingZone(zones, name);
      const present = typesByName(rules, records.list(apex));
      const read = rules.readZoneFile(text, {
        apex,
        supportsAlias,
        types: FILE_TYPES,
        force,
        at: (owner) => present.get(owner) ?? [],
      });
      const created = writer.put(
        apex,
        read.records.filter((record) => !isOwn(record, apex)),
      );
      const { faults, warnings } = read;
      return {
        created,
        rejected: faults.slice(0, LINES_LISTED_MAX),
        rejectedTotal: faults.length,
        forcible: faults.filter(({ forcible }) => forcible === true).length,
        warnings: warnings.slice(0, LINES_LISTED_MAX),
        warningsTotal: warnings.length,
      };
    },
    platform() {
      const { apex } = options.platform;
      return {
        name: apex,
        records: [...options.platform.records()].map(({ name, ttlSeconds, data }) => ({
          name: rules.relativeText(name, apex),
          type: data.type,
          ttl: ttlSeconds,
          value: rules.formatValue(data),
        })),
      };
    },
  };
}

/** Data of a zone's records by name, one of each type, which is all that the rules look at. */
function typesByName(rules: RecordRules, rows: readonly VersionRow[]): ReadonlyMap<string, RecordData[]> {
  const names = new Map<string, RecordData[]>();
  for (const row of rows) {
    const here = names.get(row.name) ?? [];
    if (here.some(({ type }) => type === row.type)) continue;
    here.push(...readData(rules, row));
    names.set(row.name, here);
  }
  return names;
}
