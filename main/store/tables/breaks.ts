import { z } from 'zod';
import { runningBreak } from '../../contract/breaks.ts';
import { epochMs } from '../../contract/values.ts';
import type { BreakRow } from '../../model/fault.ts';
import type { Connection } from '../connection.ts';
import { count, json, nullableJson, table } from './table.ts';

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

export function createBreaks({ rows, run, inPart }: Connection) {
  const insert = run<[object]>(`INSERT INTO breaks ${BREAKS.inserted}`);
  const count = run<[Counted]>('UPDATE breaks SET seen = :seen, struck = :struck WHERE id = :id');
  return {
    /** In start order. */
    list: rows<[], BreakRow>(`SELECT ${BREAKS.selected} FROM breaks ORDER BY rowid`, BREAKS.read),
    insert: (row: BreakRow) => insert(BREAKS.write(row)),
    reschedule: run<[Pick<BreakRow, 'id' | 'untilMs'>]>('UPDATE breaks SET until_ms = :untilMs WHERE id = :id'),
    /** Survives the end of the process, but not always a power failure: a commit to disk would delay each request. */
    count: inPart((counted: readonly Counted[]) => counted.forEach((row) => count(row))),
    remove: run<[id: string]>('DELETE FROM breaks WHERE id = ?'),
  };
}
