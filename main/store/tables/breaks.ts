import { z } from 'zod';
import { runningBreak } from '../../contract/breaks.ts';
import { epochMs } from '../../contract/values.ts';
import type { BreakRow } from '../../model/fault.ts';
import type { Connection } from '../connection.ts';
import { count, json, nullableJson, table, type Stored } from './table.ts';

const { id, entry, on, first, after, rate, nth, seed, parameters } = runningBreak.shape;

export const BREAKS = table<BreakRow>('breaks', ['id'], {
  id,
  entry,
  rule: json(
    z.object({ on, first, after: after.default(0), rate, nth, seed, parameters, isHidden: z.literal(true).optional() }),
  ),
  startedAtMs: epochMs,
  forMs: count,
  untilMs: epochMs,
  seen: count,
  struck: count,
  undo: nullableJson(z.object({ edits: z.string(), detail: z.unknown() })),
});

type Counted = Pick<BreakRow, 'id' | 'seen' | 'struck'>;

export function createBreaks({ sqlite, guarded, transactional }: Connection) {
  const all = sqlite.prepare<[], Stored>(`SELECT ${BREAKS.selected} FROM breaks ORDER BY rowid`);
  const insert = sqlite.prepare<[object]>(`INSERT INTO breaks ${BREAKS.inserted}`);
  const reschedule = sqlite.prepare<[number, string]>('UPDATE breaks SET until_ms = ? WHERE id = ?');
  const count = sqlite.prepare<[number, number, string]>('UPDATE breaks SET seen = ?, struck = ? WHERE id = ?');
  const remove = sqlite.prepare<[string]>('DELETE FROM breaks WHERE id = ?');

  const countAll = transactional((rows: readonly Counted[]) => {
    for (const { id, seen, struck } of rows) count.run(seen, struck, id);
  });

  return {
    /** In start order. */
    list: guarded(() => all.all().map(BREAKS.read)),
    insert: guarded((row: BreakRow) => void insert.run(BREAKS.write(row))),
    reschedule: guarded(({ id, untilMs }: Pick<BreakRow, 'id' | 'untilMs'>) => void reschedule.run(untilMs, id)),
    /**
     * Survives the end of the process, but not always a power failure: a commit to disk would delay each request.
     */
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
