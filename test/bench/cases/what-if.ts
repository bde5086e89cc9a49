import { createClock } from '../../../main/base/clock.ts';
import { decideAgain } from '../../../main/manners/report.ts';
import { createMannersServices } from '../../../main/services/traffic/manners.ts';
import { createEntryIds } from '../../../main/traffic/entry.ts';
import { ENTRIES_MAX } from '../../../main/traffic/entry-log.ts';
import { createRecorder } from '../../../main/traffic/recorder.ts';
import { exchange } from '../../support/traffic-entries.ts';
import { type Figure, median, ROUNDS } from '../harness.ts';

const DAY_MS = 86_400_000;
const MILLION = 1_000_000;
const BAN = { afterRefusals: 20, durationMs: 600_000 };

/** The requests of a day by ten keys, and a full log, decided again in this process under limits that refuse most. */
export function whatIf(): Promise<Figure[]> {
  const limits = { perMinute: 20, perDay: 1_000 };
  const requests = Array.from({ length: MILLION }, (_, index) => ({
    caller: `key_${index % 10}`,
    atMs: (index * DAY_MS) / MILLION,
    limits,
    ban: BAN,
  }));
  const clock = createClock();
  const recorder = createRecorder(clock, { onChanged: () => undefined });
  for (let number = 0; number < ENTRIES_MAX; number++) recorder.take(exchange({ startedMs: clock.monotonic() }));
  const nobody = { get: () => null };
  const ids = createEntryIds(clock.now());
  const services = createMannersServices({ recorder, ids, clock, keys: nobody, projects: nobody, banRule: () => BAN });
  const figures = [
    figureOf('a day of 1,000,000 requests decided again', 1_500, () => decideAgain(requests)),
    figureOf('a full log decided again (`manners.whatIf`)', 50, () =>
      services.whatIf({ plan: 'free' }, { signal: undefined }),
    ),
  ];
  recorder.close();
  return Promise.resolve(figures);
}

function figureOf(what: string, wantedMs: number, work: () => unknown): Figure {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  const ms = Math.round(median(times));
  return {
    what: `${what}, by processor time`,
    measured: `${ms} ms`,
    wanted: `≤ ${wantedMs.toLocaleString('en')} ms`,
    met: ms <= wantedMs,
    detail: `rounds from ${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))} ms`,
  };
}
