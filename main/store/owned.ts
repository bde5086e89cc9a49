import type { EpochMs } from '../base/clock.ts';
import type { Connection } from './connection.ts';

/** An entry that a `vivarium.yaml` owns. */
export interface OwnedRow {
  /** `project`, `zone` and the like, as in the contract. */
  kind: string;
  what: string;
  /** The absolute path of the file. */
  file: string;
  /** Whether it came from the file; otherwise it existed before. */
  created: boolean;
  /** The data needed to undo it; anything that JSON can represent. */
  detail: unknown;
  /** In real time. */
  sinceMs: EpochMs;
}

export interface Owned {
  /** By file, then in the order of kind and name. */
  list(): OwnedRow[];
  /** An entry has one owner: this one replaces another. */
  put(row: OwnedRow): void;
  remove(entry: Pick<OwnedRow, 'kind' | 'what'>): void;
}

type Stored = Omit<OwnedRow, 'created' | 'detail'> & { created: number; detail: string };

export function createOwned({ sqlite, guarded }: Connection): Owned {
  const all = sqlite.prepare<[], Stored>(
    'SELECT kind, what, file, created, detail, since_ms AS sinceMs FROM owned ORDER BY file, kind, what',
  );
  const upsert = sqlite.prepare<[Stored]>(
    `INSERT OR REPLACE INTO owned (kind, what, file, created, detail, since_ms)
     VALUES (:kind, :what, :file, :created, :detail, :sinceMs)`,
  );
  const remove = sqlite.prepare<[string, string]>('DELETE FROM owned WHERE kind = ? AND what = ?');
  return {
    list: guarded(() =>
      all.all().map((row) => ({ ...row, created: row.created === 1, detail: JSON.parse(row.detail) as unknown })),
    ),
    put: guarded((row: OwnedRow) => {
      upsert.run({ ...row, created: Number(row.created), detail: JSON.stringify(row.detail) });
    }),
    remove: guarded(({ kind, what }: Pick<OwnedRow, 'kind' | 'what'>) => void remove.run(kind, what)),
  };
}
