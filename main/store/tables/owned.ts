import { z } from 'zod';
import { epochMs } from '../../contract/values.ts';
import { worldChange } from '../../contract/world.ts';
import type { Connection } from '../connection.ts';
import { flag, json, table, type RowOf, type Stored } from './table.ts';

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

export function createOwned({ sqlite, guarded }: Connection) {
  const all = sqlite.prepare<[], Stored>(`SELECT ${OWNED.selected} FROM owned ORDER BY file, kind, what`);
  const upsert = sqlite.prepare<[object]>(`INSERT OR REPLACE INTO owned ${OWNED.inserted}`);
  const remove = sqlite.prepare<[string, string]>('DELETE FROM owned WHERE kind = ? AND what = ?');
  return {
    /** By file, then in the order of kind and name. */
    list: guarded(() => all.all().map(OWNED.read)),
    /** An entry has one owner: this one replaces another. */
    put: guarded((row: OwnedRow) => void upsert.run(OWNED.write(row))),
    remove: guarded(({ kind, what }: Pick<OwnedRow, 'kind' | 'what'>) => void remove.run(kind, what)),
  };
}
