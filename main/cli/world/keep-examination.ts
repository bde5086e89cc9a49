import { existsSync } from 'node:fs';
import { realTime } from '../../base/clock.ts';
import { messageOf } from '../../base/error-code.ts';
import { openExaminations } from '../../base/system/examinations.ts';
import type { About } from '../../examine/report.ts';
import type { Task } from '../../examine/examine.ts';
import { askFor } from '../engine/client.ts';
import { findRunning } from '../engine/running.ts';

/** A row does not wait longer for an engine that hangs. */
const ANNOUNCED_MS_MAX = 1_000;

/**
 * Keeps an examination in the user's data folder, if there is one, for the window. What cannot be kept is reported once,
 * and does not end the examination.
 */
export function keeperIn(dataDir: string, { subject, repeat }: About, report: (line: string) => void) {
  if (!existsSync(dataDir)) return {};
  const kept = openExaminations(dataDir);
  const at = new Date(realTime.now()).toISOString();
  const id = `${at.replaceAll(/\D/g, '')}-${process.pid}`;
  let isFailed = false;
  const keep: NonNullable<Task['keep']> = async ({ rows, ...found }, total, stage) => {
    if (isFailed) return;
    try {
      const last = rows.at(-1);
      if (last === undefined) kept.begin(id);
      // Without a run, the stage has the requests of another one.
      if (last?.verdict !== 'not_met') {
        const { log } = await stage.call('traffic.har');
        kept.writeRequests(id, rows.length, log);
      }
      kept.write({ id, at, subject, repeat, total, ...found, rows });
      await announce(dataDir);
      if (rows.length === total) report('the window has the requests of each row: Break it, Examine');
    } catch (error) {
      stage.interruption.throwIfAborted();
      isFailed = true;
      report(`The examination is not kept in ${dataDir}: ${messageOf(error)}`);
    }
  };
  let last = Promise.resolve();
  // Rows that end at the same time are written one after the other.
  return { keep: (...what: Parameters<typeof keep>) => (last = last.then(() => keep(...what))) };
}

/** Tells the window, if one is open. */
async function announce(dataDir: string): Promise<void> {
  try {
    await askFor(findRunning(dataDir), 'examinations.changed', {}, AbortSignal.timeout(ANNOUNCED_MS_MAX));
  } catch {
    // None runs there, or it is about to stop: the window reads the folder when it is opened.
  }
}
