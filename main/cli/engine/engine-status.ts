import { VivariumError } from '../../contract/errors.ts';
import type { StatusReport } from '../../contract/status.ts';
import { ANSWER_MS_MAX, askHealth, callProcedure, noAnswer } from './client.ts';
import { failureOf, RemoteFailure } from '../text/io.ts';
import { readRuntime, type Running } from '../../base/system/runtime-file.ts';
import { findRunning, NotRunningError } from './running.ts';

/** An engine that answered with its own token. */
export interface AnsweringEngine {
  running: Running;
  report: StatusReport;
}

/**
 * Asks the Vivarium on a data folder for its status, which proves that the process in its runtime file is that
 * Vivarium.
 * @throws NotRunningError when none runs; VivariumError `unavailable` when something else answers, or nothing does.
 */
export async function askForStatus(dataDir: string): Promise<AnsweringEngine> {
  const running = findRunning(dataDir);
  const patience = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    const reply = await callProcedure(running, 'status.get', '', patience);
    if (reply.kind === 'result') return { running, report: JSON.parse(reply.json) as StatusReport };
  } catch (error) {
    if (error instanceof NotRunningError) throw error;
    if (patience.aborted) throw noAnswer(running);
    if (!(error instanceof RemoteFailure)) throw error;
    throw unavailable(`What answers at ${running.url} is not the Vivarium of ${dataDir}: ${failureOf(error).message}`);
  }
  throw unavailable(`What answers at ${running.url} is not a Vivarium.`);
}

/** The same; null when none runs. */
export async function findAnswering(dataDir: string): Promise<AnsweringEngine | null> {
  try {
    return await askForStatus(dataDir);
  } catch (error) {
    if (error instanceof NotRunningError) return null;
    throw error;
  }
}

/** Whether the Vivarium on a data folder listens on all its ports; one that does not answer in time does not. */
export async function isServing(dataDir: string, withinMs = ANSWER_MS_MAX): Promise<boolean> {
  const runtime = readRuntime(dataDir);
  if (runtime.state !== 'read' || !runtime.alive) return false;
  return (await askHealth(runtime.control.url, AbortSignal.timeout(Math.min(withinMs, ANSWER_MS_MAX)))) === 200;
}

const unavailable = (message: string): VivariumError => new VivariumError('unavailable', message);
