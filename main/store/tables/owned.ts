import { z } from 'zod';
import { epochMs } from '../../contract/values.ts';
import { worldChange } from '../../contract/world.ts';
import type { Connection } from '../connection.ts';
import { flag, json, table, type RowOf } from './table.ts';

/** The entries that a `vivarium.yaml` owns. */
export const OWNED = table('owned', ['kind', 'what'], {
  kind: worldChange.shape.kind,
  what: z.string(),
  /** The absolute path of the file. */
  file: z.string(),
  /** Whether it came from the file; otherwise it existed before. */
  created: flag,
  /** The data needed to undo it; anything that JSON can represent. */
  detail: json(z.unknown()),
  /** In real time. */
  sinceMs: epochMs,
});
export type OwnedRow = RowOf<typeof OWNED>;

export type Owned = ReturnType<typeof createOwned>;

export function createOwned({ rows, run }: Connection) {
  const upsert = run<[object]>(`INSERT OR REPLACE INTO owned ${OWNED.inserted}`);
  return {
    /** By file, then in the order of kind and name. */
    list: rows<[], OwnedRow>(`SELECT ${OWNED.selected} FROM owned ORDER BY file, kind, what`, OWNED.read),
    /** An entry has one owner: this one replaces another. */
    put: (row: OwnedRow) => upsert(OWNED.write(row)),
    remove: run<[Pick<OwnedRow, 'kind' | 'what'>]>('DELETE FROM owned WHERE kind = :kind AND what = :what'),
  };
}
