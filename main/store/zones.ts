import type { EpochMs } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Connection } from './connection.ts';
import { codeOf } from '../base/error-code.ts';
import type { Serials } from './serials.ts';

export interface ZoneRow {
  /** Lower case, A-labels, no trailing dot. */
  name: string;
  supportsAlias: boolean;
  createdAtMs: EpochMs;
}

/** A stored zone. */
export interface StoredZone extends ZoneRow {
  /** How many records its owner wants in it. */
  records: number;
  /** Its SOA's. */
  serial: number;
}

export interface Zones {
  /** By name. */
  list(): StoredZone[];
  get(name: string): StoredZone | null;
  /** @throws VivariumError `conflict` when there is one of that name. */
  insert(row: ZoneRow): void;
  /** Removes the zone with its records; null when there is none. */
  remove(name: string): StoredZone | null;
  count(): number;
}

type Row = Omit<StoredZone, 'supportsAlias'> & { supportsAlias: number };

const SELECT = 'SELECT name, supports_alias AS supportsAlias, created_at_ms AS createdAtMs, records, serial FROM zones';

export function createZones({ sqlite, guarded, transactional }: Connection, serials: Pick<Serials, 'next'>): Zones {
  const all = sqlite.prepare<[], Row>(`${SELECT} ORDER BY name`);
  const byName = sqlite.prepare<[string], Row>(`${SELECT} WHERE name = ?`);
  const insert = sqlite.prepare<[string, number, EpochMs, number]>(
    'INSERT INTO zones (name, supports_alias, created_at_ms, serial) VALUES (?, ?, ?, ?)',
  );
  const remove = sqlite.prepare<[string]>('DELETE FROM zones WHERE name = ?');
  const count = sqlite.prepare<[], number>('SELECT count(*) FROM zones').pluck();

  const read = (row: Row): StoredZone => ({ ...row, supportsAlias: row.supportsAlias === 1 });
  const get = (name: string): StoredZone | null => {
    const row = byName.get(name);
    return row === undefined ? null : read(row);
  };

  return {
    list: guarded(() => all.all().map(read)),
    get: guarded(get),
    insert: transactional((row: ZoneRow) => {
      try {
        insert.run(row.name, row.supportsAlias ? 1 : 0, row.createdAtMs, serials.next());
      } catch (error) {
        if (codeOf(error) !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
        throw new VivariumError('conflict', `There is a zone "${row.name}" already.`, { cause: error });
      }
    }),
    remove: transactional((name: string) => {
      const row = get(name);
      if (row !== null) remove.run(name);
      return row;
    }),
    count: guarded(() => count.get() ?? 0),
  };
}
