import type { AdjustableClock } from '../base/clock.ts';
import { formatDuration, parseDuration } from '../base/duration.ts';
import type { ClockMove, ClockReading } from '../contract/clock.ts';
import type { Services } from '../contract/index.ts';
import { describeMove, type Sunset, type TimedState } from './clock-moves.ts';
import { inputError } from './project-rules.ts';

export function createClockServices(options: {
  clock: AdjustableClock;
  /** What time alone can change, as it stands now. */
  observe: () => Omit<TimedState, 'nowMs'>;
  sunsets: readonly Sunset[];
}): Services['clock'] {
  const { clock, sunsets } = options;

  function reading(): ClockReading {
    const { now, realNow, offsetMs, frozen } = clock.state();
    return {
      now: new Date(now).toISOString(),
      realNow: new Date(realNow).toISOString(),
      offset: formatDuration(offsetMs),
      frozen,
    };
  }

  const observe = (): TimedState => ({ nowMs: clock.now(), ...options.observe() });

  async function move(path: string, adjustment: () => Promise<void>): Promise<ClockMove> {
    const before = observe();
    try {
      await adjustment();
    } catch (error) {
      if (error instanceof RangeError) throw inputError(path, error.message);
      throw error;
    }
    return { ...reading(), happened: describeMove(before, observe(), sunsets) };
  }

  return {
    get: () => reading(),
    advance: ({ by }) => move('by', () => clock.advance(parseDuration(by))),
    set: ({ to }) => move('to', () => clock.set(Date.parse(to))),
    freeze() {
      clock.freeze();
      return reading();
    },
    resume() {
      clock.resume();
      return reading();
    },
    reset: () => move('', () => clock.reset()),
  };
}
