import type { EpochMs } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Connection } from './connection.ts';
import { codeOf } from '../base/error-code.ts';
import type { Serials } from './zones.ts';

/** One version of a record. */
export interface VersionRow {
  /** Never reused. */
  key: number;
  /** The record's id, shared by its versions. */
  id: string;
  zone: string;
  /** Absolute, lower case, A-labels, no trailing dot. */
  name: string;
  type: string;
  ttlSeconds: number;
  /** In zone-file notation with absolute names, which is lossless. */
  value: string;
  /** When it becomes, or became, visible; for display. */
  visibleAtMs: EpochMs;
  /** Set while the beginning propagates; null once visible. */
  visibleFromMs: EpochMs | null;
  /** Set while the end propagates; null for the final version. */
  visibleUntilMs: EpochMs | null;
}

export interface VersionChanges {
  begun: readonly Omit<VersionRow, 'key'>[];
  /** Versions with a changed visibility. */
  moved: readonly Pick<VersionRow, 'key' | 'visibleAtMs' | 'visibleFromMs' | 'visibleUntilMs'>[];
  /** Keys of versions that are over. */
  ended: readonly number[];
  /** The zone with changed answers; null while the whole change is pending. */
  visibleIn: string | null;
}

/** A name of a zone. */
export interface Owner {
  zone: string;
  name: string;
}

/** Current records are the final ones, visible or not yet. */
export interface Records {
  /** A zone's current records: those of its apex, then by name; within a name by type and age. */
  list(zone: string): VersionRow[];
  /** The same in parts of at most `max`, except for those of the apex; each is read when it is asked for. */
  parts(zone: string, max: number): Generator<VersionRow[], void, void>;
  /** The current records at one name, by type and age. */
  at(zone: string, name: string): VersionRow[];
  /** The current record with that id. */
  get(id: string): VersionRow | null;
  /** One current record of each type at a name. */
  typesAt(zone: string, name: string): Pick<VersionRow, 'type' | 'value'>[];
  /** The number of current records of one RRset. */
  countOf(zone: string, name: string, type: string): number;
  /** The values of the current records of one RRset. */
  valuesOf(zone: string, name: string, type: string): string[];
  /** The TTL of a current record, in seconds. */
  ttlOf(record: Pick<VersionRow, 'zone' | 'name' | 'type' | 'value'>): number | undefined;
  /**
   * The lowest TTL of one RRset as visible at `nowMs`, in seconds; undefined if nothing is visible. `known` is a lower
   * bound, and at once found if a record has it.
   */
  lowestTtl(rrset: Pick<VersionRow, 'zone' | 'name' | 'type'>, known: number, nowMs: EpochMs): number | undefined;
  /** All versions of one RRset, oldest first. */
  rrset(zone: string, name: string, type: string): VersionRow[];
  /**
   * The versions of one RRset that putting or removing `values` concerns, for a change that is visible from `atMs` on: the current
   * ones with these values, and those whose beginning or end comes later.
   */
  concerned(rrset: Pick<VersionRow, 'zone' | 'name' | 'type'>, values: readonly string[], atMs: EpochMs): VersionRow[];
  /** All versions in a zone. */
  versions(zone: string): VersionRow[];
  /** All versions at a name, oldest first. */
  versionsAt(zone: string, name: string): VersionRow[];
  /** Stores all changes or none, with the new serial. @throws VivariumError `not_found` for an unknown zone. */
  apply(changes: VersionChanges): void;
  /** The number of current records, and of versions, over all zones. */
  count(): { current: number; versions: number };
  /** The next moment at which a version begins or ends. */
  nextChangeMs(): EpochMs | null;
  /** Names with versions that began or ended by `nowMs` and are not settled; about `ownersMax` of them. */
  due(nowMs: EpochMs, ownersMax: number): Owner[];
  /**
   * Persists what has become visible there and deletes what is over; the zones get a new serial. Returns the number of
   * RRsets that this concerns.
   */
  settle(owners: readonly Owner[], nowMs: EpochMs): number;
  /** After the clock went back to `nowMs`: moves pending changes back by as much. */
  moveBack(byMs: number, nowMs: EpochMs): void;
}

const SELECT = `SELECT key, id, zone, name, type, ttl AS ttlSeconds, value, visible_at_ms AS visibleAtMs,
  visible_from_ms AS visibleFromMs, visible_until_ms AS visibleUntilMs FROM records`;

export function createRecords({ sqlite, guarded, transactional }: Connection, serials: Pick<Serials, 'next'>): Records {
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
  const current = sqlite.prepare<[string, string, string, string], VersionRow>(
    `${SELECT} INDEXED BY records_current
     WHERE zone = ? AND name = ? AND type = ? AND value = ? AND visible_until_ms IS NULL`,
  );
  const currentOf =
    'FROM records INDEXED BY records_current WHERE zone = ? AND name = ? AND type = ? AND visible_until_ms IS NULL';
  const countOf = sqlite.prepare<[string, string, string], number>(`SELECT count(*) ${currentOf}`).pluck();
  const valuesOf = sqlite.prepare<[string, string, string], string>(`SELECT value ${currentOf}`).pluck();
  const visible = `FROM records WHERE zone = :zone AND name = :name AND type = :type
    AND (visible_from_ms IS NULL OR visible_from_ms <= :now) AND (visible_until_ms IS NULL OR visible_until_ms > :now)`;
  const lowestTtl = sqlite
    .prepare<Pick<VersionRow, 'zone' | 'name' | 'type'> & { known: number; now: EpochMs }, number | null>(
      `SELECT coalesce((SELECT ttl ${visible} AND ttl = :known LIMIT 1), (SELECT min(ttl) ${visible}))`,
    )
    .pluck();
  const later = (column: string, index: string) =>
    sqlite.prepare<[Pick<VersionRow, 'zone' | 'name' | 'type'> & { atMs: EpochMs }], VersionRow>(
      `${SELECT} INDEXED BY ${index} WHERE ${column} > :atMs AND zone = :zone AND name = :name AND type = :type`,
    );
  const beginsLater = later('visible_from_ms', 'records_beginning');
  const endsLater = later('visible_until_ms', 'records_ending');
  const rrset = sqlite.prepare<[string, string, string], VersionRow>(
    `${SELECT} WHERE zone = ? AND name = ? AND type = ? ORDER BY key`,
  );
  const versions = sqlite.prepare<[string], VersionRow>(`${SELECT} WHERE zone = ? ORDER BY key`);
  const versionsAt = sqlite.prepare<[string, string], VersionRow>(`${SELECT} WHERE zone = ? AND name = ? ORDER BY key`);
  const advance = sqlite.prepare<[number, string]>('UPDATE zones SET serial = ? WHERE name = ?');
  const insert = sqlite.prepare<[Omit<VersionRow, 'key'>]>(
    `INSERT INTO records (id, zone, name, type, ttl, value, visible_at_ms, visible_from_ms, visible_until_ms)
     VALUES (:id, :zone, :name, :type, :ttlSeconds, :value, :visibleAtMs, :visibleFromMs, :visibleUntilMs)`,
  );
  const move = sqlite.prepare<[VersionChanges['moved'][number]]>(
    `UPDATE records SET visible_at_ms = :visibleAtMs, visible_from_ms = :visibleFromMs,
       visible_until_ms = :visibleUntilMs WHERE key = :key`,
  );
  const end = sqlite.prepare<[number]>('DELETE FROM records WHERE key = ?');
  const countCurrent = sqlite
    .prepare<[], number>('SELECT coalesce(sum(records), 0) FROM zones WHERE removed = 0')
    .pluck();
  const countEnding = sqlite
    .prepare<[], number>('SELECT count(*) FROM records WHERE visible_until_ms IS NOT NULL')
    .pluck();
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
  const countDue = sqlite
    .prepare<Owner & { now: EpochMs }, number>(
      `SELECT count(DISTINCT type) FROM records
       WHERE zone = :zone AND name = :name AND (visible_from_ms <= :now OR visible_until_ms <= :now)`,
    )
    .pluck();
  const purge = sqlite.prepare<Owner & { now: EpochMs }>(
    'DELETE FROM records WHERE zone = :zone AND name = :name AND visible_until_ms <= :now',
  );
  const settle = sqlite.prepare<Owner & { now: EpochMs }>(
    'UPDATE records SET visible_from_ms = NULL WHERE zone = :zone AND name = :name AND visible_from_ms <= :now',
  );
  const moveBack = sqlite.prepare<[{ by: number; now: EpochMs }]>(
    `UPDATE records SET visible_from_ms = visible_from_ms - :by, visible_until_ms = visible_until_ms - :by,
       visible_at_ms = CASE WHEN visible_from_ms IS NULL THEN min(visible_at_ms, :now) ELSE visible_at_ms - :by END
     WHERE visible_from_ms IS NOT NULL OR visible_until_ms IS NOT NULL OR visible_at_ms > :now`,
  );

  return {
    list: guarded((zone: string) => [...at.all(zone, zone), ...below.all({ zone })]),
    *parts(zone, max) {
      yield at.all(zone, zone);
      let part = partAfter(zone, undefined, max);
      while (part.length > 0) {
        yield part;
        part = partAfter(zone, part.at(-1), max);
      }
    },
    at: guarded((zone: string, name: string) => at.all(zone, name)),
    get: guarded((id: string) => byId.get(id) ?? null),
    typesAt: guarded((zone: string, name: string) => {
      const found: Pick<VersionRow, 'type' | 'value'>[] = [];
      for (let row = nextType.get(zone, name, ''); row !== undefined; row = nextType.get(zone, name, row.type)) {
        found.push(row);
      }
      return found;
    }),
    concerned: guarded(
      (rrset: Pick<VersionRow, 'zone' | 'name' | 'type'>, values: readonly string[], atMs: EpochMs) => {
        const { zone, name, type } = rrset;
        const found = new Map<number, VersionRow>();
        for (const row of [...beginsLater.all({ ...rrset, atMs }), ...endsLater.all({ ...rrset, atMs })]) {
          found.set(row.key, row);
        }
        for (const value of values) {
          const row = current.get(zone, name, type, value);
          if (row !== undefined) found.set(row.key, row);
        }
        return [...found.values()].sort((one, other) => one.key - other.key);
      },
    ),
    countOf: guarded((zone: string, name: string, type: string) => countOf.get(zone, name, type) ?? 0),
    valuesOf: guarded((zone: string, name: string, type: string) => valuesOf.all(zone, name, type)),
    ttlOf: guarded(
      ({ zone, name, type, value }: Pick<VersionRow, 'zone' | 'name' | 'type' | 'value'>) =>
        current.get(zone, name, type, value)?.ttlSeconds,
    ),
    lowestTtl: guarded(
      ({ zone, name, type }: Pick<VersionRow, 'zone' | 'name' | 'type'>, known: number, now: EpochMs) =>
        lowestTtl.get({ zone, name, type, known, now }) ?? undefined,
    ),
    rrset: guarded((zone: string, name: string, type: string) => rrset.all(zone, name, type)),
    versions: guarded((zone: string) => versions.all(zone)),
    versionsAt: guarded((zone: string, name: string) => versionsAt.all(zone, name)),
    apply: transactional((changes: VersionChanges) => {
      // Removals precede insertions, because a record has at most one version without an end.
      for (const key of changes.ended) end.run(key);
      for (const version of changes.moved) move.run(version);
      for (const version of changes.begun) insertInto(insert, version);
      if (changes.visibleIn !== null) advance.run(serials.next(), changes.visibleIn);
    }),
    count: guarded(() => {
      const records = countCurrent.get() ?? 0;
      return { current: records, versions: records + (countEnding.get() ?? 0) };
    }),
    nextChangeMs: guarded(() => next.get() ?? null),
    due: guarded((now: EpochMs, max: number) => due.all({ now, max })),
    settle: transactional((owners: readonly Owner[], now: EpochMs) => {
      let rrsets = 0;
      for (const { zone, name } of owners) {
        rrsets += countDue.get({ zone, name, now }) ?? 0;
        purge.run({ zone, name, now });
        settle.run({ zone, name, now });
      }
      for (const zone of new Set(owners.map((owner) => owner.zone))) advance.run(serials.next(), zone);
      return rrsets;
    }),
    moveBack: guarded((by: number, now: EpochMs) => void moveBack.run({ by, now })),
  };
}

function insertInto(
  insert: { run(version: Omit<VersionRow, 'key'>): unknown },
  version: Omit<VersionRow, 'key'>,
): void {
  try {
    insert.run(version);
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_CONSTRAINT_FOREIGNKEY') throw error;
    throw new VivariumError('not_found', `There is no zone "${version.zone}"; create it first.`, { cause: error });
  }
}
