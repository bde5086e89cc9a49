import type { Clock } from '../../base/clock.ts';
import { nextTurn } from '../../base/turns.ts';
import { boundedText, conflict, ISSUE_CHARACTERS_MAX, VivariumError } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import { RECORDS_MAX } from '../../contract/zones.ts';
import type { ResourceRecord } from '../../dns/wire/record.ts';
import { type ZoneFileFault, readZoneFileInParts, writeZoneFile } from '../../dns/zones/zone-file.ts';
import type { ZoneIndex } from '../../dns/zones/zone-index.ts';
import { formatRecord, formatValue } from '../../dns/wire/record-text.ts';
import { createZone, isGenerated, withoutSerial } from '../../dns/zones/zone.ts';
import { relativeText } from '../../model/dns-name.ts';
import type { Effects, RecordRows, ZoneRows } from '../dependencies.ts';
import { type RecordWriter, updateSecret } from './record-writer.ts';
import { readData } from './records.ts';
import { inputError } from '../projects/project-rules.ts';
import { restoredMeanwhile } from '../snapshots.ts';
import { createZoneSigning, existingZone, newZoneName, presentZone, ZONES_MAX } from './zone-rules.ts';

/** Maximum lines of each kind that an import lists; the others are counted. */
export const LINES_LISTED_MAX = 100;

export const boundedLine = <Line extends { message: string }>(line: Line): Line => ({
  ...line,
  message: boundedText(line.message, ISSUE_CHARACTERS_MAX),
});

/** Zone file entries processed before yielding to other work: a few milliseconds. */
export const ENTRIES_PER_TURN = 75;

/** Stored records read before yielding to other work: about a millisecond. */
const RECORDS_PER_TURN = 500;

/** A zone that changes this often during its export is then exported in one turn. */
const EXPORT_ATTEMPTS_MAX = 3;

/** The existing records to compare with those of a file at the same name; the file's SOA replaces the zone's. */
const dataForImport = (apex: string, records: Pick<RecordRows, 'typesAt'>) => (owner: string) =>
  records
    .typesAt(apex, owner)
    .filter(({ type }) => type !== 'SOA')
    .flatMap((row) => readData(row));

interface ZoneParts {
  clock: Pick<Clock, 'now'>;
  zones: ZoneRows;
  records: RecordRows;
  writer: RecordWriter;
  /** The server's own name, in the NS of every zone. */
  nameServer: string;
  server: () => { port: number };
  emit: Effects['emit'];
  /** The platform's own zone, as served. */
  platform: Pick<ZoneIndex, 'apex' | 'records'>;
  publish: (name: string) => void;
  publishSerial: (name: string) => void;
  publishSigning: (name: string) => void;
  /** Calls its listener when all zones were replaced by those of a snapshot. */
  onRestored: (listener: () => void) => void;
}

export function createZoneServices(options: ZoneParts): Omit<Services['zones'], 'rehearse'> {
  const { clock, zones } = options;

  function changed(name: string): void {
    options.publish(name);
    options.emit('zones.changed');
  }

  return {
    list: () => zones.list().map(presentZone),
    create({ name: text, supportsAlias }) {
      const name = newZoneName(text);
      if (zones.get(name) !== null) {
        throw inputError('name', `"${name}" already exists; add records to it, or remove it first.`, 'conflict');
      }
      if (zones.count() >= ZONES_MAX) throw conflict(`There are ${ZONES_MAX} zones already; remove one first.`);
      zones.insert({ name, supportsAlias, createdAtMs: clock.now() });
      changed(name);
      return presentZone(existingZone(zones, name));
    },
    async remove({ name }) {
      const zone = existingZone(zones, name);
      zones.remove(zone.name);
      changed(zone.name);
      // Completes the removal, so a new zone of that name need not wait for it.
      await zones.purged();
      return presentZone(zone);
    },
    ...createZoneTexts(options),
    updateKey({ name: text, renew }) {
      const { name } = existingZone(zones, text);
      const secret = updateSecret(zones, name, renew);
      const { port } = options.server();
      return {
        name,
        algorithm: 'hmac-sha256' as const,
        secret,
        server: { address: '127.0.0.1', port },
        file: `# Updates of ${name} go to 127.0.0.1, port ${port}: nsupdate -k THIS_FILE\nkey "${name}" {\n  algorithm hmac-sha256;\n  secret "${secret}";\n};\n`,
      };
    },
    dnssec: createZoneSigning({
      clock,
      zones,
      changed(name) {
        options.publishSigning(name);
        options.emit('zones.changed');
      },
    }),
    platform() {
      const { apex } = options.platform;
      return {
        name: apex,
        records: [...options.platform.records()].map(({ name, ttlSeconds, data }) => ({
          name: relativeText(name, apex),
          type: data.type,
          ttl: ttlSeconds,
          value: formatValue(data),
        })),
      };
    },
  };
}

/** Zones as texts in the format of RFC 1035, read and written in turns. */
function createZoneTexts(options: ZoneParts): Pick<Services['zones'], 'export' | 'import'> {
  const { clock, zones, records, writer, nameServer } = options;

  /** @throws VivariumError with the number of imported records when an import stops part-way. */
  function putPart(
    apex: string,
    part: readonly ResourceRecord[],
    taken: number,
    nowMs: number,
  ): { created: number; existing: number } {
    try {
      existingZone(zones, apex);
      const own = part
        .filter((record) => !isGenerated(record, apex, nameServer))
        .map((record) => ({ ...record, data: withoutSerial(record.data) }));
      const created = writer.put(apex, own, nowMs);
      return { created, existing: own.length - created };
    } catch (error) {
      if (!(error instanceof VivariumError) || taken === 0) throw error;
      throw new VivariumError(error.code, `${taken} records were imported; then: ${error.message}`, { cause: error });
    }
  }

  /** The apex's records come first, and the zone's own SOA and NS depend on them only. */
  async function writeInTurns(
    { name: apex, supportsAlias, serial }: ReturnType<typeof existingZone>,
    max: number,
  ): Promise<string> {
    let text = '';
    for (const part of records.parts(apex, max)) {
      const read = part.flatMap((row) =>
        readData(row).map((data) => ({ name: row.name, ttlSeconds: row.ttlSeconds, data })),
      );
      text +=
        text === ''
          ? writeZoneFile(createZone({ apex, nameServer, serial, supportsAlias, records: read }))
          : read.map((record) => `${formatRecord(record, apex)}\n`).join('');
      if (max === RECORDS_PER_TURN) await nextTurn();
    }
    return text;
  }

  let worlds = 0;
  options.onRestored(() => (worlds += 1));

  return {
    async export({ name }) {
      for (let attempt = 1; ; attempt++) {
        const zone = existingZone(zones, name);
        const max = attempt < EXPORT_ATTEMPTS_MAX ? RECORDS_PER_TURN : RECORDS_MAX;
        const text = await writeInTurns(zone, max);
        if (existingZone(zones, name).serial === zone.serial) return { text };
      }
    },
    async import({ name, text, files, force }) {
      const { name: apex, supportsAlias, records: recordsBefore } = existingZone(zones, name);
      const parts = readZoneFileInParts(
        text,
        { apex, supportsAlias, force, files, at: dataForImport(apex, records) },
        ENTRIES_PER_TURN,
      );
      const report = { created: 0, existing: 0, rejectedTotal: 0, forcible: 0, warningsTotal: 0 };
      const rejected: ZoneFileFault[] = [];
      const warnings: ZoneFileFault[] = [];
      const nowMs = clock.now();
      const began = worlds;
      let serial = 0;
      try {
        // Each part is checked and stored synchronously, so no other change can come in between.
        for (const part of parts) {
          for (const { data } of part.records) if (data.type === 'SOA') ({ serial } = data);
          const { created, existing } = putPart(apex, part.records, report.created, nowMs);
          report.created += created;
          report.existing += existing;
          report.rejectedTotal += part.faults.length;
          report.forcible += part.faults.filter(({ forcible }) => forcible === true).length;
          report.warningsTotal += part.warnings.length;
          rejected.push(...part.faults.slice(0, LINES_LISTED_MAX - rejected.length).map(boundedLine));
          warnings.push(...part.warnings.slice(0, LINES_LISTED_MAX - warnings.length).map(boundedLine));
          await nextTurn();
          if (worlds !== began) throw restoredMeanwhile();
        }
        // 0 stands for none, as in an exported world.
        if (serial !== 0 && zones.countFrom(apex, serial, recordsBefore === 0)) options.publishSerial(apex);
      } finally {
        // Once at the end: otherwise each part, and with it every request, would wait for the disk.
        await records.sync();
      }
      return { ...report, rejected, warnings };
    },
  };
}
