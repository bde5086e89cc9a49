import type { EpochMs } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Connection } from './connection.ts';
import { codeOf } from './faults.ts';

export interface ZoneRow {
  /** Lower case, A-labels, no trailing dot. */
  name: string;
  supportsAlias: boolean;
  createdAtMs: EpochMs;
}

/** A zone and how many records its owner wants in it. */
export type CountedZone = ZoneRow & { records: number };

export interface Zones {
  /** By name. */
  list(): CountedZone[];
  get(name: string): CountedZone | null;
  /** @throws VivariumError `conflict` when there is one of that name. */
  insert(row: ZoneRow): void;
  /** Removes the zone with its records; null when there is none. */
  remove(name: string): CountedZone | null;
  count(): number;
}

type Stored = Omit<CountedZone, 'supportsAlias'> & { supportsAlias: number };

const SELECT = 'SELECT name, supports_alias AS supportsAlias, created_at_ms AS createdAtMs, records FROM zones';

export function createZones({ sqlite, guarded, transactional }: Connection): Zones {
  const all = sqlite.prepare<[], Stored>(`${SELECT} ORDER BY name`);
  const byName = sqlite.prepare<[string], Stored>(`${SELECT} WHERE name = ?`);
  const insert = sqlite.prepare<[string, number, EpochMs]>(
    'INSERT INTO zones (name, supports_alias, created_at_ms) VALUES (?, ?, ?)',
  );
  const remove = sqlite.prepare<[string]>('DELETE FROM zones WHERE name = ?');
  const count = sqlite.prepare<[], number>('SELECT count(*) FROM zones').pluck();

  const read = (row: Stored): CountedZone => ({ ...row, supportsAlias: row.supportsAlias === 1 });
  const get = (name: string): CountedZone | null => {
    const row = byName.get(name);
    return row === undefined ? null : read(row);
  };

  return {
    list: guarded(() => all.all().map(read)),
    get: guarded(get),
    insert: guarded((row: ZoneRow) => {
      try {
        insert.run(row.name, row.supportsAlias ? 1 : 0, row.createdAtMs);
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
