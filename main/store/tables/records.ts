import { z } from 'zod';
import type { EpochMs } from '../../base/clock.ts';
import { notFound } from '../../contract/errors.ts';
import { epochMs, identifier } from '../../contract/values.ts';
import { record, recordType } from '../../contract/zones.ts';
import { isWithin } from '../../base/text/hostname.ts';
import type { Connection } from '../connection.ts';
import { codeOf } from '../../base/error-code.ts';
import { count as counted, table, type RowOf } from './table.ts';
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

function ofCurrent({ sqlite, guarded }: Connection) {
  // The apex's own records come first, through `at`.
  const below = sqlite.prepare<[{ zone: string }], VersionRow>(
    `${SELECT} WHERE zone = :zone AND name <> :zone AND visible_until_ms IS NULL ORDER BY name, type, key`,
  );
  const at = sqlite.prepare<[string, string], VersionRow>(
    `${SELECT} WHERE zone = ? AND name = ? AND visible_until_ms IS NULL ORDER BY type, key`,
  );
  const after = sqlite.prepare<[{ zone: string; name: string; type: string; key: number; max: number }], VersionRow>(
    `${SELECT} WHERE zone = :zone AND name <> :zone AND visible_until_ms IS NULL
       AND (name, type, key) > (:name, :type, :key) ORDER BY name, type, key LIMIT :max`,
  );
  const partAfter = guarded((zone: string, last: VersionRow | undefined, max: number) =>
    after.all({ zone, name: last?.name ?? '', type: last?.type ?? '', key: last?.key ?? 0, max }),
  );
  const byId = sqlite.prepare<[string], VersionRow>(
    `${SELECT} WHERE id = ? AND visible_until_ms IS NULL
       AND (SELECT removed FROM zones WHERE zones.name = records.zone) = 0`,
  );
  // One of the next type, past any number of values: a search in the index.
  const nextType = sqlite.prepare<[string, string, string], Pick<VersionRow, 'type' | 'value'>>(
    `SELECT type, value FROM records INDEXED BY records_current
     WHERE zone = ? AND name = ? AND type > ? AND visible_until_ms IS NULL ORDER BY type, value LIMIT 1`,
  );
  const current = sqlite.prepare<[string, string, string, string], VersionRow>(CURRENT);
  const currentOf =
    'FROM records INDEXED BY records_current WHERE zone = ? AND name = ? AND type = ? AND visible_until_ms IS NULL';
  const countOf = sqlite.prepare<[string, string, string], number>(`SELECT count(*) ${currentOf}`).pluck();
  const valuesOf = sqlite
    .prepare<[string, string, string, number], string>(`SELECT value ${currentOf} LIMIT ?`)
    .pluck();
  const visible = `FROM records WHERE zone = :zone AND name = :name AND type = :type
    AND (visible_from_ms IS NULL OR visible_from_ms <= :now) AND (visible_until_ms IS NULL OR visible_until_ms > :now)`;
  const lowestTtl = sqlite
    .prepare<Rrset & { known: number; now: EpochMs }, number | null>(
      `SELECT coalesce((SELECT ttl ${visible} AND ttl = :known LIMIT 1), (SELECT min(ttl) ${visible}))`,
    )
    .pluck();
  const countCurrent = sqlite
    .prepare<[], number>('SELECT coalesce(sum(records), 0) FROM zones WHERE removed = 0')
    .pluck();
  const countEnding = sqlite
    .prepare<[], number>('SELECT count(*) FROM records WHERE visible_until_ms IS NOT NULL')
    .pluck();

  return {
    /** A zone's current records: those of its apex, then by name; within a name by type and age. */
    list: guarded((zone: string) => [...at.all(zone, zone), ...below.all({ zone })]),
    /** The same in parts of at most `max`, except those of the apex; each part is read on demand. */
    *parts(zone: string, max: number): Generator<VersionRow[], void, void> {
      yield at.all(zone, zone);
      let part = partAfter(zone, undefined, max);
      while (part.length > 0) {
        yield part;
        part = partAfter(zone, part.at(-1), max);
      }
    },
    /** The current records at one name, by type and age. */
    at: guarded((zone: string, name: string) => at.all(zone, name)),
    get: guarded((id: string) => byId.get(id) ?? null),
    /** One current record of each type at a name. */
    typesAt: guarded((zone: string, name: string) => {
      const found: Pick<VersionRow, 'type' | 'value'>[] = [];
      for (let row = nextType.get(zone, name, ''); row !== undefined; row = nextType.get(zone, name, row.type)) {
        found.push(row);
      }
      return found;
    }),
    countOf: guarded((zone: string, name: string, type: string) => countOf.get(zone, name, type) ?? 0),
    /** Up to `max` values of the current records of one RRset. */
    valuesOf: guarded((zone: string, name: string, type: string, max: number) => valuesOf.all(zone, name, type, max)),
    /** In seconds. */
    ttlOf: guarded(
      ({ zone, name, type, value }: Rrset & Pick<VersionRow, 'value'>) =>
        current.get(zone, name, type, value)?.ttlSeconds,
    ),
    /**
     * The lowest TTL of one RRset as visible at `nowMs`, in seconds; undefined if nothing is visible. `known` is a lower
     * bound; if a record has it, the search ends immediately.
     */
    lowestTtl: guarded(
      ({ zone, name, type }: Rrset, known: number, now: EpochMs) =>
        lowestTtl.get({ zone, name, type, known, now }) ?? undefined,
    ),
    /** The number of current records, and of versions, over all zones. */
    count: guarded(() => {
      const records = countCurrent.get() ?? 0;
      return { current: records, versions: records + (countEnding.get() ?? 0) };
    }),
  };
}

function ofVersions({ sqlite, guarded }: Connection) {
  const current = sqlite.prepare<[string, string, string, string], VersionRow>(CURRENT);
  const later = (column: string, index: string) =>
    `${SELECT} INDEXED BY ${index} WHERE ${column} > :atMs AND zone = :zone AND name = :name AND type = :type`;
  const beginsOrEndsLater = sqlite.prepare<[Rrset & { atMs: EpochMs }], VersionRow>(
    `${later('visible_from_ms', 'records_beginning')} UNION ALL ${later('visible_until_ms', 'records_ending')}`,
  );
  const rrset = sqlite.prepare<[string, string, string], VersionRow>(
    `${SELECT} WHERE zone = ? AND name = ? AND type = ? ORDER BY key`,
  );
  const versions = sqlite.prepare<[string], VersionRow>(`${SELECT} WHERE zone = ? ORDER BY key`);
  const versionsAt = sqlite.prepare<[string, string], VersionRow>(`${SELECT} WHERE zone = ? AND name = ? ORDER BY key`);

  return {
    /** All versions of one RRset, oldest first. */
    rrset: guarded((zone: string, name: string, type: string) => rrset.all(zone, name, type)),
    /**
     * The versions of one RRset that putting or removing `values` affects, for a change that is visible from `atMs` on:
     * the current ones with these values, and those whose beginning or end comes later.
     */
    concerned: guarded(({ zone, name, type }: Rrset, values: readonly string[], atMs: EpochMs) => {
      const found = new Map(beginsOrEndsLater.all({ zone, name, type, atMs }).map((row) => [row.key, row]));
      for (const value of values) {
        const row = current.get(zone, name, type, value);
        if (row !== undefined) found.set(row.key, row);
      }
      return [...found.values()].sort((one, other) => one.key - other.key);
    }),
    versions: guarded((zone: string) => versions.all(zone)),
    /** All versions at a name, oldest first. */
    versionsAt: guarded((zone: string, name: string) => versionsAt.all(zone, name)),
  };
}

function ofChanges({ sqlite, transactional, inPart, sync }: Connection, serials: Pick<Serials, 'advance'>) {
  const insert = sqlite.prepare<[Omit<VersionRow, 'key'> & { key: number | null }]>(
    `INSERT INTO records ${RECORDS.inserted}`,
  );
  const move = sqlite.prepare<[VersionChanges['moved'][number]]>(
    `UPDATE records SET visible_at_ms = :visibleAtMs, visible_from_ms = :visibleFromMs,
       visible_until_ms = :visibleUntilMs WHERE key = :key`,
  );
  const end = sqlite.prepare<[number]>('DELETE FROM records WHERE key = ?');

  function applyAll(changes: VersionChanges): void {
    // Removals precede insertions, because a record has at most one version without an end.
    for (const key of changes.ended) end.run(key);
    for (const version of changes.moved) move.run(version);
    for (const version of changes.begun) insertInto(insert, version);
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

function ofPropagation({ sqlite, guarded, transactional }: Connection, serials: Pick<Serials, 'advance'>) {
  const next = sqlite
    .prepare<[], number | null>(
      `SELECT min(at) FROM (
         SELECT min(visible_from_ms) AS at FROM records WHERE visible_from_ms IS NOT NULL
         UNION ALL SELECT min(visible_until_ms) FROM records WHERE visible_until_ms IS NOT NULL)`,
    )
    .pluck();
  const due = sqlite.prepare<{ now: EpochMs; max: number }, Owner>(
    `SELECT * FROM (SELECT zone, name FROM records WHERE visible_from_ms IS NOT NULL AND visible_from_ms <= :now LIMIT :max)
     UNION
     SELECT * FROM (SELECT zone, name FROM records WHERE visible_until_ms IS NOT NULL AND visible_until_ms <= :now LIMIT :max)`,
  );
  const countSome = sqlite
    .prepare<Owner & { max: number }, number>(
      'SELECT count(*) FROM (SELECT 1 FROM records WHERE zone = :zone AND name = :name LIMIT :max)',
    )
    .pluck();
  /** The index by name suits names with few versions; with many, the index by moment contains only the due ones. */
  const settling = (index: string) => {
    const due = (column: string, byMoment: string) =>
      `key IN (SELECT key FROM records INDEXED BY ${index === '' ? byMoment : index}
         WHERE zone = :zone AND name = :name AND ${column} <= :now LIMIT :max)`;
    const prepare = (sql: string) =>
      sqlite.prepare<Owner & { now: EpochMs; max: number }, VersionRow>(`${sql} RETURNING ${COLUMNS}`);
    return {
      end: prepare(`DELETE FROM records WHERE ${due('visible_until_ms', 'records_ending')}`),
      begin: prepare(`UPDATE records SET visible_from_ms = NULL WHERE ${due('visible_from_ms', 'records_beginning')}`),
    };
  };
  const settlingFew = settling('records_by_name');
  const settlingMany = settling('');
  const isDue = (column: string, byMoment: string) =>
    `EXISTS (SELECT 1 FROM records INDEXED BY ${byMoment} WHERE ${column} <= :now AND zone = :zone AND name = :name)`;
  const isMoreDue = sqlite
    .prepare<Owner & { now: EpochMs }, number>(
      `SELECT ${isDue('visible_until_ms', 'records_ending')} OR ${isDue('visible_from_ms', 'records_beginning')}`,
    )
    .pluck();
  const moveBack = sqlite.prepare<[{ by: number; now: EpochMs }]>(
    `UPDATE records SET visible_from_ms = visible_from_ms - :by, visible_until_ms = visible_until_ms - :by,
       visible_at_ms = CASE WHEN visible_from_ms IS NULL THEN min(visible_at_ms, :now) ELSE visible_at_ms - :by END
     WHERE visible_from_ms IS NOT NULL OR visible_until_ms IS NOT NULL OR visible_at_ms > :now`,
  );

  return {
    /** The next moment at which a version begins or ends. */
    nextChangeMs: guarded(() => next.get() ?? null),
    /** Names with versions that began or ended by `nowMs` and are not settled; about `ownersMax` of them. */
    due: guarded((now: EpochMs, max: number) => due.all({ now, max })),
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
        const isLarge = (countSome.get({ zone, name, max: max + 1 }) ?? 0) > max;
        const { end, begin } = isLarge ? settlingMany : settlingFew;
        const gone = end.all({ zone, name, now, max });
        const added = gone.length < max ? begin.all({ zone, name, now, max: max - gone.length }) : [];
        settled.gone.push(...gone);
        settled.added.push(...added);
        if (isLarge && isMoreDue.get({ zone, name, now }) === 1) continue;
        settled.rrsets += new Set([...gone, ...added].map(({ type }) => type)).size;
      }
      for (const zone of zones) serials.advance(zone);
      return settled;
    }),
    /** After the clock went back to `now`: moves pending changes back by as much. */
    moveBack: guarded((by: number, now: EpochMs) => void moveBack.run({ by, now })),
  };
}

function insertInto(
  insert: { run(version: Omit<VersionRow, 'key'> & { key: number | null }): unknown },
  version: BegunVersion,
): void {
  try {
    insert.run({ ...version, key: version.key ?? null });
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_CONSTRAINT_FOREIGNKEY') throw error;
    throw notFound(`There is no zone "${version.zone}"; create it first.`, { cause: error });
  }
}
