import { z } from 'zod';
import type { EpochMs } from '../../base/clock.ts';
import { notFound } from '../../contract/errors.ts';
import { epochMs, identifier } from '../../contract/values.ts';
import { record, recordType } from '../../contract/zones.ts';
import { isWithin } from '../../base/text/hostname.ts';
import type { Connection } from '../connection.ts';
import { count as counted, table, type RowOf, writeOr } from './table.ts';
import { storedName, type Serials } from './zones.ts';

/** One version of a record. */
export const RECORDS = table(
  'records',
  ['key'],
  {
    /** Never reused. */
    key: counted,
    /** The record's id, shared by its versions. */
    id: identifier,
    zone: storedName,
    /** Absolute. */
    name: storedName,
    type: recordType,
    ttlSeconds: { schema: record.shape.ttl.min(0).max(2_147_483_647), name: 'ttl' },
    /** In zone-file notation with absolute names, which is lossless. */
    value: z.string(),
    /** When it becomes, or became, visible; for display. */
    visibleAtMs: epochMs,
    /** Set while the beginning propagates; null once visible. */
    visibleFromMs: epochMs.nullable(),
    /** Set while the end propagates; null for the final version. */
    visibleUntilMs: epochMs.nullable(),
  },
  {},
  ({ name, zone }) => (isWithin(name, zone) ? null : 'name must be that of zone, or below it.'),
);
export type VersionRow = Omit<RowOf<typeof RECORDS>, 'type'> & { type: string };

export type BegunVersion = Omit<VersionRow, 'key'> & Partial<Pick<VersionRow, 'key'>>;

export interface VersionChanges {
  /** With a key, it restores a version that had ended. */
  begun: readonly BegunVersion[];
  /** Versions with a changed visibility. */
  moved: readonly Pick<VersionRow, 'key' | 'visibleAtMs' | 'visibleFromMs' | 'visibleUntilMs'>[];
  /** Keys of versions that are over. */
  ended: readonly number[];
  /** The zone with changed answers; null while the whole change is pending. */
  visibleIn: string | null;
}

export interface Owner {
  zone: string;
  name: string;
}

export interface Settled {
  gone: VersionRow[];
  added: VersionRow[];
  /** RRsets whose last due versions these are. */
  rrsets: number;
}

type Rrset = Pick<VersionRow, 'zone' | 'name' | 'type'>;

/** Current records are the final ones, visible or not yet. */
export type Records = ReturnType<typeof createRecords>;

const COLUMNS = RECORDS.selected;
const SELECT = `SELECT ${COLUMNS} FROM records`;

const CURRENT = `${SELECT} INDEXED BY records_current
  WHERE zone = ? AND name = ? AND type = ? AND value = ? AND visible_until_ms IS NULL`;

export const createRecords = (connection: Connection, serials: Pick<Serials, 'advance'>) => ({
  ...ofCurrent(connection),
  ...ofVersions(connection),
  ...ofChanges(connection, serials),
  ...ofPropagation(connection, serials),
});

function ofCurrent({ rows, row, value, count }: Connection) {
  // The apex's own records come first, through `at`.
  const below = rows<[{ zone: string }], VersionRow>(
    `${SELECT} WHERE zone = :zone AND name <> :zone AND visible_until_ms IS NULL ORDER BY name, type, key`,
  );
  const at = rows<[zone: string, name: string], VersionRow>(
    `${SELECT} WHERE zone = ? AND name = ? AND visible_until_ms IS NULL ORDER BY type, key`,
  );
  const after = rows<[{ zone: string; name: string; type: string; key: number; max: number }], VersionRow>(
    `${SELECT} WHERE zone = :zone AND name <> :zone AND visible_until_ms IS NULL
       AND (name, type, key) > (:name, :type, :key) ORDER BY name, type, key LIMIT :max`,
  );
  const partAfter = (zone: string, last: VersionRow | undefined, max: number) =>
    after({ zone, name: last?.name ?? '', type: last?.type ?? '', key: last?.key ?? 0, max });
  // One of the next type, past any number of values: a search in the index.
  const nextType = row<[string, string, string], Pick<VersionRow, 'type' | 'value'>>(
    `SELECT type, value FROM records INDEXED BY records_current
     WHERE zone = ? AND name = ? AND type > ? AND visible_until_ms IS NULL ORDER BY type, value LIMIT 1`,
  );
  const current = row<[string, string, string, string], VersionRow>(CURRENT);
  const currentOf =
    'FROM records INDEXED BY records_current WHERE zone = ? AND name = ? AND type = ? AND visible_until_ms IS NULL';
  const valuesOf = rows<[string, string, string, number], { value: string }>(`SELECT value ${currentOf} LIMIT ?`);
  const visible = `FROM records WHERE zone = :zone AND name = :name AND type = :type
    AND (visible_from_ms IS NULL OR visible_from_ms <= :now) AND (visible_until_ms IS NULL OR visible_until_ms > :now)`;
  const lowestTtl = value<[Rrset & { known: number; now: EpochMs }], number>(
    `SELECT coalesce((SELECT ttl ${visible} AND ttl = :known LIMIT 1), (SELECT min(ttl) ${visible}))`,
  );
  const countCurrent = count('SELECT coalesce(sum(records), 0) FROM zones WHERE removed = 0');
  const countEnding = count('SELECT count(*) FROM records WHERE visible_until_ms IS NOT NULL');

  return {
    /** A zone's current records: those of its apex, then by name; within a name by type and age. */
    list: (zone: string) => [...at(zone, zone), ...below({ zone })],
    /** The same in parts of at most `max`, except those of the apex; each part is read on demand. */
    *parts(zone: string, max: number): Generator<VersionRow[], void, void> {
      yield at(zone, zone);
      let part = partAfter(zone, undefined, max);
      while (part.length > 0) {
        yield part;
        part = partAfter(zone, part.at(-1), max);
      }
    },
    /** The current records at one name, by type and age. */
    at,
    get: row<[id: string], VersionRow>(
      `${SELECT} WHERE id = ? AND visible_until_ms IS NULL
         AND (SELECT removed FROM zones WHERE zones.name = records.zone) = 0`,
    ),
    /** One current record of each type at a name. */
    typesAt(zone: string, name: string) {
      const found: Pick<VersionRow, 'type' | 'value'>[] = [];
      for (let next = nextType(zone, name, ''); next !== null; next = nextType(zone, name, next.type)) found.push(next);
      return found;
    },
    countOf: count<[zone: string, name: string, type: string]>(`SELECT count(*) ${currentOf}`),
    /** Up to `max` values of the current records of one RRset. */
    valuesOf: (zone: string, name: string, type: string, max: number) =>
      valuesOf(zone, name, type, max).map(({ value: text }) => text),
    /** In seconds. */
    ttlOf: ({ zone, name, type, value: text }: Rrset & Pick<VersionRow, 'value'>) =>
      current(zone, name, type, text)?.ttlSeconds,
    /**
     * The lowest TTL of one RRset as visible at `nowMs`, in seconds; undefined if nothing is visible. `known` is a lower
     * bound; if a record has it, the search ends immediately.
     */
    lowestTtl: ({ zone, name, type }: Rrset, known: number, now: EpochMs) =>
      lowestTtl({ zone, name, type, known, now }) ?? undefined,
    /** The number of current records, and of versions, over all zones. */
    count() {
      const records = countCurrent();
      return { current: records, versions: records + countEnding() };
    },
  };
}

function ofVersions({ rows, row }: Connection) {
  const current = row<[string, string, string, string], VersionRow>(CURRENT);
  const later = (column: string, index: string) =>
    `${SELECT} INDEXED BY ${index} WHERE ${column} > :atMs AND zone = :zone AND name = :name AND type = :type`;
  const beginsOrEndsLater = rows<[Rrset & { atMs: EpochMs }], VersionRow>(
    `${later('visible_from_ms', 'records_beginning')} UNION ALL ${later('visible_until_ms', 'records_ending')}`,
  );

  return {
    /** All versions of one RRset, oldest first. */
    rrset: rows<[zone: string, name: string, type: string], VersionRow>(
      `${SELECT} WHERE zone = ? AND name = ? AND type = ? ORDER BY key`,
    ),
    /**
     * The versions of one RRset that putting or removing `values` affects, for a change that is visible from `atMs` on:
     * the current ones with these values, and those whose beginning or end comes later.
     */
    concerned({ zone, name, type }: Rrset, values: readonly string[], atMs: EpochMs) {
      const found = new Map(beginsOrEndsLater({ zone, name, type, atMs }).map((version) => [version.key, version]));
      for (const value of values) {
        const version = current(zone, name, type, value);
        if (version !== null) found.set(version.key, version);
      }
      return [...found.values()].sort((one, other) => one.key - other.key);
    },
    versions: rows<[zone: string], VersionRow>(`${SELECT} WHERE zone = ? ORDER BY key`),
    /** All versions at a name, oldest first. */
    versionsAt: rows<[zone: string, name: string], VersionRow>(`${SELECT} WHERE zone = ? AND name = ? ORDER BY key`),
  };
}

function ofChanges({ run, transactional, inPart, sync }: Connection, serials: Pick<Serials, 'advance'>) {
  const insert = run<[Omit<VersionRow, 'key'> & { key: number | null }]>(`INSERT INTO records ${RECORDS.inserted}`);
  const move = run<[VersionChanges['moved'][number]]>(
    `UPDATE records SET visible_at_ms = :visibleAtMs, visible_from_ms = :visibleFromMs,
       visible_until_ms = :visibleUntilMs WHERE key = :key`,
  );
  const end = run<[key: number]>('DELETE FROM records WHERE key = ?');

  function begin(version: BegunVersion): void {
    const noZone = (cause: Error) => notFound(`There is no zone "${version.zone}"; create it first.`, { cause });
    writeOr({ FOREIGNKEY: noZone }, () => insert({ ...version, key: version.key ?? null }));
  }

  function applyAll(changes: VersionChanges): void {
    // Removals precede insertions, because a record has at most one version without an end.
    changes.ended.forEach((key) => end(key));
    changes.moved.forEach((version) => move(version));
    changes.begun.forEach(begin);
    if (changes.visibleIn !== null) serials.advance(changes.visibleIn);
  }

  return {
    /** Stores all changes or none, with the new serial. @throws VivariumError `not_found` for an unknown zone. */
    apply: transactional(applyAll),
    /** The same for a part of a long change, which ends with `sync`: only then does it survive a power failure. */
    applyPart: inPart(applyAll),
    sync,
  };
}

function ofPropagation({ rows, value, count, run, transactional }: Connection, serials: Pick<Serials, 'advance'>) {
  const due = rows<[{ now: EpochMs; max: number }], Owner>(
    `SELECT * FROM (SELECT zone, name FROM records WHERE visible_from_ms IS NOT NULL AND visible_from_ms <= :now LIMIT :max)
     UNION
     SELECT * FROM (SELECT zone, name FROM records WHERE visible_until_ms IS NOT NULL AND visible_until_ms <= :now LIMIT :max)`,
  );
  const countSome = count<[Owner & { max: number }]>(
    'SELECT count(*) FROM (SELECT 1 FROM records WHERE zone = :zone AND name = :name LIMIT :max)',
  );
  /** The index by name suits names with few versions; with many, the index by moment contains only the due ones. */
  const settling = (index: string) => {
    const due = (column: string, byMoment: string) =>
      `key IN (SELECT key FROM records INDEXED BY ${index === '' ? byMoment : index}
         WHERE zone = :zone AND name = :name AND ${column} <= :now LIMIT :max)`;
    const prepare = (sql: string) =>
      rows<[Owner & { now: EpochMs; max: number }], VersionRow>(`${sql} RETURNING ${COLUMNS}`);
    return {
      end: prepare(`DELETE FROM records WHERE ${due('visible_until_ms', 'records_ending')}`),
      begin: prepare(`UPDATE records SET visible_from_ms = NULL WHERE ${due('visible_from_ms', 'records_beginning')}`),
    };
  };
  const settlingFew = settling('records_by_name');
  const settlingMany = settling('');
  const isDue = (column: string, byMoment: string) =>
    `EXISTS (SELECT 1 FROM records INDEXED BY ${byMoment} WHERE ${column} <= :now AND zone = :zone AND name = :name)`;
  const isMoreDue = count<[Owner & { now: EpochMs }]>(
    `SELECT ${isDue('visible_until_ms', 'records_ending')} OR ${isDue('visible_from_ms', 'records_beginning')}`,
  );
  const moveBack = run<[{ by: number; now: EpochMs }]>(
    `UPDATE records SET visible_from_ms = visible_from_ms - :by, visible_until_ms = visible_until_ms - :by,
       visible_at_ms = CASE WHEN visible_from_ms IS NULL THEN min(visible_at_ms, :now) ELSE visible_at_ms - :by END
     WHERE visible_from_ms IS NOT NULL OR visible_until_ms IS NOT NULL OR visible_at_ms > :now`,
  );

  return {
    /** The next moment at which a version begins or ends. */
    nextChangeMs: value<[], EpochMs>(
      `SELECT min(at) FROM (
         SELECT min(visible_from_ms) AS at FROM records WHERE visible_from_ms IS NOT NULL
         UNION ALL SELECT min(visible_until_ms) FROM records WHERE visible_until_ms IS NOT NULL)`,
    ),
    /** Names with versions that began or ended by `nowMs` and are not settled; about `ownersMax` of them. */
    due: (now: EpochMs, max: number) => due({ now, max }),
    /**
     * Persists the changes that became visible and deletes past versions; the zones get a new serial. Settles about `max`
     * versions: names with at most that many completely, and of larger ones the past versions first.
     */
    settle: transactional((owners: readonly Owner[], now: EpochMs, max: number) => {
      const settled: Settled = { gone: [], added: [], rrsets: 0 };
      const zones = new Set<string>();
      for (const { zone, name } of owners) {
        if (settled.gone.length + settled.added.length >= max) break;
        zones.add(zone);
        const isLarge = countSome({ zone, name, max: max + 1 }) > max;
        const { end, begin } = isLarge ? settlingMany : settlingFew;
        const gone = end({ zone, name, now, max });
        const added = gone.length < max ? begin({ zone, name, now, max: max - gone.length }) : [];
        settled.gone.push(...gone);
        settled.added.push(...added);
        if (isLarge && isMoreDue({ zone, name, now }) === 1) continue;
        settled.rrsets += new Set([...gone, ...added].map(({ type }) => type)).size;
      }
      for (const zone of zones) serials.advance(zone);
      return settled;
    }),
    /** After the clock went back to `now`: moves pending changes back by as much. */
    moveBack: (by: number, now: EpochMs) => moveBack({ by, now }),
  };
}
