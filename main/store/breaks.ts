import type { BreakRow } from '../model/fault.ts';
import type { Connection } from './connection.ts';

export interface Breaks {
  /** In start order. */
  list(): BreakRow[];
  insert(row: BreakRow): void;
  reschedule(row: Pick<BreakRow, 'id' | 'untilMs'>): void;
  /**
   * Survives the end of the process, but not always a power failure: a commit to disk would delay each request.
   */
  count(rows: readonly Pick<BreakRow, 'id' | 'seen' | 'struck'>[]): void;
  remove(id: string): void;
}

type Stored = Omit<BreakRow, 'rule' | 'undo'> & { rule: string; undo: string | null };
type Counted = Pick<BreakRow, 'id' | 'seen' | 'struck'>;

export function createBreaks({ sqlite, guarded, transactional }: Connection): Breaks {
  const all = sqlite.prepare<[], Stored>(
    `SELECT id, entry, rule, started_at_ms AS startedAtMs, for_ms AS forMs, until_ms AS untilMs, seen, struck, undo
     FROM breaks ORDER BY rowid`,
  );
  const insert = sqlite.prepare<[Stored]>(
    `INSERT INTO breaks (id, entry, rule, started_at_ms, for_ms, until_ms, seen, struck, undo)
     VALUES (:id, :entry, :rule, :startedAtMs, :forMs, :untilMs, :seen, :struck, :undo)`,
  );
  const reschedule = sqlite.prepare<[number, string]>('UPDATE breaks SET until_ms = ? WHERE id = ?');
  const count = sqlite.prepare<[number, number, string]>('UPDATE breaks SET seen = ?, struck = ? WHERE id = ?');
  const remove = sqlite.prepare<[string]>('DELETE FROM breaks WHERE id = ?');

  const countAll = transactional((rows: readonly Counted[]) => {
    for (const { id, seen, struck } of rows) count.run(seen, struck, id);
  });

  return {
    list: guarded(() =>
      all.all().map((stored) => ({
        ...stored,
        rule: JSON.parse(stored.rule) as BreakRow['rule'],
        undo: stored.undo === null ? null : (JSON.parse(stored.undo) as NonNullable<BreakRow['undo']>),
      })),
    ),
    insert: guarded((row: BreakRow) => {
      insert.run({
        ...row,
        rule: JSON.stringify(row.rule),
        undo: row.undo === null ? null : JSON.stringify(row.undo),
      });
    }),
    reschedule: guarded(({ id, untilMs }: Pick<BreakRow, 'id' | 'untilMs'>) => void reschedule.run(untilMs, id)),
    count: guarded((rows: readonly Counted[]) => {
      sqlite.pragma('synchronous = NORMAL');
      try {
        countAll(rows);
      } finally {
        if (sqlite.open) sqlite.pragma('synchronous = FULL');
      }
    }),
    remove: guarded((id: string) => void remove.run(id)),
  };
}
