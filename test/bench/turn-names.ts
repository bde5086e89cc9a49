import { type Profiler, Session } from 'node:inspector';
import { basename } from 'node:path';
import { type PerformanceEntry, performance } from 'node:perf_hooks';

/** One turn of the event loop. */
export interface Turn {
  /** Processor time of this thread. */
  ms: number;
  beganMs: number;
  endedMs: number;
}

const SAMPLE_MICROSECONDS = 500;
const TURNS_NAMED = 5;
const CALLS_NAMED = 12;

/** Samples this thread's stack until the returned function is called within its turn. */
export function startSampling(): () => Profiler.Profile {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS });
  session.post('Profiler.start');
  return () => {
    let profile: Profiler.Profile | null = null;
    // It calls back at once, as the session belongs to this thread.
    session.post('Profiler.stop', (_error, result) => (profile = result.profile));
    session.disconnect();
    if (profile === null) throw new Error('V8 gave no profile.');
    return profile;
  };
}

/**
 * Explains the longest of the turns, which are in ascending order: V8's collections in each, and the functions that
 * were on the stack most of the time. Times are wall time, including other processes.
 */
export function nameTurns(
  { nodes, samples = [], timeDeltas = [], startTime }: Profiler.Profile,
  turns: readonly Turn[],
  collected: readonly PerformanceEntry[],
): string {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const callers = new Map(nodes.flatMap(({ id, children }) => (children ?? []).map((child) => [child, id] as const)));
  const namesOf = (sample: number): Set<string> => {
    const names = new Set<string>();
    for (let at: number | undefined = sample; at !== undefined; at = callers.get(at)) {
      const { functionName, url, lineNumber } = frames.get(at) ?? { functionName: '', url: '', lineNumber: 0 };
      names.add(`${functionName || '-'} ${basename(url)}:${lineNumber + 1}`);
    }
    return names;
  };
  // V8 counts from the start of the machine, as hrtime does.
  const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

  function nameTurn({ ms, beganMs, endedMs }: Turn): string {
    const spent = new Map<string, number>();
    let atMs = startTime / 1_000 - offsetMs;
    samples.forEach((sample, index) => {
      const sampleMs = (timeDeltas[index] ?? 0) / 1_000;
      atMs += sampleMs;
      if (atMs < beganMs || atMs > endedMs) return;
      for (const name of namesOf(sample)) spent.set(name, (spent.get(name) ?? 0) + sampleMs);
    });
    const calls = [...spent].sort(([, a], [, b]) => b - a).slice(0, CALLS_NAMED);
    const collections = collected
      .filter(({ startTime: fromMs, duration }) => fromMs < endedMs && fromMs + duration > beganMs)
      .map(({ duration }) => ['a collection of V8’s', duration] as const);
    const lines = [...collections, ...calls].map(([name, spentMs]) => `    ${spentMs.toFixed(1)} ms ${name}`);
    return [`  ${ms.toFixed(1)} ms:`, ...lines].join('\n');
  }

  return turns.slice(-TURNS_NAMED).toReversed().map(nameTurn).join('\n');
}
