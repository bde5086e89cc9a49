import type { AdjustableClock } from '../base/clock.ts';
import { formatDuration, parseDuration } from '../base/duration.ts';
import type { ClockReading } from '../contract/clock.ts';
import type { Services } from '../contract/index.ts';
import { inputError } from './project-rules.ts';

export function createClockServices(clock: AdjustableClock): Services['clock'] {
  function reading(): ClockReading {
    const { now, realNow, offsetMs, frozen } = clock.state();
    return {
      now: new Date(now).toISOString(),
      realNow: new Date(realNow).toISOString(),
      offset: formatDuration(offsetMs),
      frozen,
    };
  }

  async function adjusted(path: string, adjustment: () => Promise<void>): Promise<ClockReading> {
    try {
      await adjustment();
    } catch (error) {
      if (error instanceof RangeError) throw inputError(path, error.message);
      throw error;
    }
    return reading();
  }

  return {
    get: () => reading(),
    advance: ({ by }) => adjusted('by', () => clock.advance(parseDuration(by))),
    set: ({ to }) => adjusted('to', () => clock.set(Date.parse(to))),
    freeze() {
      clock.freeze();
      return reading();
    },
    resume() {
      clock.resume();
      return reading();
    },
    reset: () => adjusted('', () => clock.reset()),
  };
}
