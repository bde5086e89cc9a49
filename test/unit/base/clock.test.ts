import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CLOCK_MAX_MS, sleep } from '../../../main/base/clock.ts';
import { createFakeClock, FAKE_NOW_MS, type FakeClock, settle } from '../../support/fake-clock.ts';

const HOUR_MS = 3_600_000;

let clock: FakeClock;
/** When timers ran, since the start. */
let ran: number[];
const note = () => void ran.push(clock.now() - FAKE_NOW_MS);
beforeEach(() => {
  clock = createFakeClock();
  ran = [];
});

describe('reading', () => {
  it('shows the real time until it is adjusted', async () => {
    await clock.pass(1_500);
    expect(clock.state()).toEqual({
      now: FAKE_NOW_MS + 1_500,
      realNow: FAKE_NOW_MS + 1_500,
      offsetMs: 0,
      frozen: false,
    });
  });

  it('moves the offset by exactly the advance', async () => {
    await clock.advance(48 * HOUR_MS);
    await clock.pass(1_000);
    expect(clock.state()).toMatchObject({ now: FAKE_NOW_MS + 48 * HOUR_MS + 1_000, offsetMs: 48 * HOUR_MS });
  });

  it('keeps monotonic time independent of adjustments', async () => {
    await clock.advance(HOUR_MS);
    await clock.pass(10);
    await clock.set(0);
    expect(clock.monotonic()).toBe(10);
  });

  it.each([
    ['freeze', 'stands still', 0],
    ['resume', 'runs on from where it stood', 700],
  ] as const)('after %s it %s', async (verb, _fact, passes) => {
    clock.freeze();
    await clock.pass(5_000);
    if (verb === 'resume') clock.resume();
    await clock.pass(700);
    expect(clock.now()).toBe(FAKE_NOW_MS + passes);
  });

  it('freezing twice does not move it', async () => {
    clock.freeze();
    await clock.pass(5_000);
    clock.freeze();
    expect(clock.now()).toBe(FAKE_NOW_MS);
  });

  it('reset returns to the real time and unfreezes it', async () => {
    await clock.advance(HOUR_MS);
    clock.freeze();
    await clock.pass(1_000);
    await clock.reset();
    await clock.pass(1_000);
    expect(clock.state()).toEqual({
      now: FAKE_NOW_MS + 2_000,
      realNow: FAKE_NOW_MS + 2_000,
      offsetMs: 0,
      frozen: false,
    });
  });

  it('a stored setting restores offset and freeze', async () => {
    await clock.advance(HOUR_MS);
    const running = createFakeClock({ setting: clock.setting() });
    await running.pass(5);
    expect(running.now()).toBe(FAKE_NOW_MS + HOUR_MS + 5);
    clock.freeze();
    const frozen = createFakeClock({ setting: clock.setting() });
    await frozen.pass(5);
    expect(frozen.now()).toBe(FAKE_NOW_MS + HOUR_MS);
  });

  it.each([
    ['a negative advance', () => clock.advance(-1)],
    ['an advance by NaN', () => clock.advance(Number.NaN)],
    ['an advance past its last year', () => clock.advance(CLOCK_MAX_MS)],
    ['a time before 1970', () => clock.set(-1)],
  ])('refuses %s and stays unchanged', async (_what, adjust) => {
    await expect(adjust()).rejects.toThrow(RangeError);
    expect(clock.now()).toBe(FAKE_NOW_MS);
  });
});

describe('storing', () => {
  const MOVES = {
    advance: () => clock.advance(HOUR_MS),
    'set back': () => clock.set(0),
    freeze: async () => clock.freeze(),
    resume: async () => clock.resume(),
    reset: () => clock.reset(),
  };
  const moved = async (isFrozen: boolean) => {
    await clock.advance(1_000);
    if (isFrozen) clock.freeze();
    clock.at(FAKE_NOW_MS + 1_500, note);
  };

  it.each(Object.entries(MOVES))('of %s fails: nothing has moved, and no timer has run', async (verb, move) => {
    await moved(verb === 'resume');
    let announced = 0;
    clock.onAdjusted(() => announced++);
    const before = clock.state();
    clock.storeWith(() => {
      throw new Error('The disk is full.');
    });
    await expect(move()).rejects.toThrow('The disk is full.');
    expect([clock.state(), ran, announced]).toEqual([before, [], 0]);
    clock.storeWith(() => undefined);
    await move();
    expect(announced).toBe(1);
  });

  it.each(Object.entries(MOVES))('of %s is what the clock then has', async (verb, move) => {
    await moved(verb === 'resume');
    const stored: unknown[] = [];
    clock.storeWith((setting) => void stored.push(setting));
    await move();
    expect(stored).toEqual([clock.setting()]);
  });

  it('follows a freeze on the way', async () => {
    await moved(false);
    clock.at(FAKE_NOW_MS + 2_000, () => clock.freeze());
    let stored: unknown;
    clock.storeWith((setting) => (stored = setting));
    await clock.advance(HOUR_MS);
    expect(clock.state()).toMatchObject({ now: FAKE_NOW_MS + 1_000 + HOUR_MS, frozen: true });
    expect(stored).toEqual(clock.setting());
  });
});

describe('timers', () => {
  it('run when time passes, not before', async () => {
    clock.at(FAKE_NOW_MS + 100, note);
    await clock.pass(99);
    expect(ran).toEqual([]);
    await clock.pass(1);
    expect(ran).toEqual([100]);
  });

  it('that fall due during an advance have run, in order and at their own time, when it returns', async () => {
    const named: string[] = [];
    const noting = (name: string) => () => void named.push(`${name} ${clock.now() - FAKE_NOW_MS}`);
    clock.at(FAKE_NOW_MS + 300, noting('third'));
    clock.at(FAKE_NOW_MS + 100, noting('first'));
    clock.at(FAKE_NOW_MS + 100, noting('second'));
    clock.at(FAKE_NOW_MS + 2_000, noting('later'));
    await clock.advance(1_000);
    expect(named).toEqual(['first 100', 'second 100', 'third 300']);
    expect(clock.now()).toBe(FAKE_NOW_MS + 1_000);
  });

  it('created by a timer during an advance run in the same advance', async () => {
    clock.at(FAKE_NOW_MS + 100, () => void clock.at(clock.now() + 50, note));
    await clock.advance(1_000);
    expect(ran).toEqual([150]);
  });

  it('are awaited: an advance returns after the work of its timers', async () => {
    let finished = false;
    clock.at(FAKE_NOW_MS + 1, async () => {
      await settle();
      finished = true;
    });
    await clock.advance(1);
    expect(finished).toBe(true);
  });

  it('with a past time run in the next turn, not inside the call that created them', async () => {
    clock.at(FAKE_NOW_MS - 1, note);
    expect(ran).toEqual([]);
    await clock.pass(0);
    expect(ran).toEqual([0]);
  });

  it('do not run while the clock is frozen, and run when it is advanced', async () => {
    clock.at(FAKE_NOW_MS + 100, note);
    clock.freeze();
    await clock.pass(10_000);
    expect(ran).toEqual([]);
    await clock.advance(100);
    expect(ran).toEqual([100]);
  });

  it('that are cancelled do not run', async () => {
    const timer = clock.at(FAKE_NOW_MS + 100, note);
    timer.cancel();
    timer.cancel();
    await clock.advance(1_000);
    expect(ran).toEqual([]);
  });

  it('that fail are reported, and the others run', async () => {
    const errors: unknown[] = [];
    clock = createFakeClock({ onError: (error) => errors.push(error) });
    clock.at(FAKE_NOW_MS + 1, () => Promise.reject(new Error('no')));
    clock.at(FAKE_NOW_MS + 2, note);
    await clock.advance(10);
    expect([errors, ran]).toEqual([[new Error('no')], [2]]);
  });

  it('are run in time when the real clock has jumped ahead, as after sleep', async () => {
    clock.at(FAKE_NOW_MS + 10 * HOUR_MS, note);
    await clock.pass(10 * HOUR_MS);
    expect(ran).toEqual([10 * HOUR_MS]);
  });

  it('of two concurrent advances run one after the other', async () => {
    await Promise.all([clock.advance(100), clock.advance(200)]);
    expect(clock.now()).toBe(FAKE_NOW_MS + 300);
  });
});

describe('repeating timers', () => {
  it('run once per interval', async () => {
    clock.every(100, note);
    await clock.pass(350);
    expect(ran).toEqual([100, 200, 300]);
  });

  it('collapse into the last repeat when the clock jumps and nothing else is due between', async () => {
    clock.every(100, note);
    await clock.advance(1_050);
    expect(ran).toEqual([1_000]);
    await clock.advance(50);
    expect(ran).toEqual([1_000, 1_100]);
  });

  it('collapse only up to the next other timer', async () => {
    clock.every(100, note);
    clock.at(FAKE_NOW_MS + 450, note);
    await clock.advance(1_000);
    expect(ran).toEqual([400, 450, 1_000]);
  });

  it('re-arm after a step back instead of sleeping until the old future', async () => {
    await clock.advance(100 * HOUR_MS);
    clock.every(HOUR_MS, note);
    await clock.set(FAKE_NOW_MS);
    await clock.advance(HOUR_MS);
    expect(ran).toEqual([HOUR_MS]);
  });

  it('need an interval above zero', () => {
    expect(() => createFakeClock().every(0, () => undefined)).toThrow(RangeError);
  });
});

describe('adjustments', () => {
  it('are announced with their direction, after they have taken effect', async () => {
    const seen: [boolean, number][] = [];
    clock.onAdjusted(({ backward }) => seen.push([backward, clock.now() - FAKE_NOW_MS]));
    await clock.advance(100);
    await clock.set(FAKE_NOW_MS + 50);
    await clock.reset();
    expect(seen).toEqual([
      [false, 100],
      [true, 50],
      [true, 0],
    ]);
  });

  it('do not include the passing of time', async () => {
    let announced = 0;
    const stop = clock.onAdjusted(() => void announced++);
    await clock.pass(1_000);
    stop();
    await clock.advance(1);
    expect(announced).toBe(0);
  });
});

describe('a sleep', () => {
  afterEach(() => void vi.useRealTimers());

  it('ends after its time, by the timer for which Electron wakes Node’s loop', async () => {
    vi.useFakeTimers();
    const over = vi.fn();
    const { signal } = new AbortController();
    void sleep(1_000, signal).then(over);
    await vi.advanceTimersByTimeAsync(999);
    expect(over).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect([over.mock.calls.length, getEventListeners(signal, 'abort').length]).toEqual([1, 0]);
  });

  it('ends with an abort, before and after it began', async () => {
    const aborting = new AbortController();
    const asleep = sleep(600_000, aborting.signal);
    aborting.abort();
    await Promise.all([asleep, sleep(600_000, aborting.signal)]);
  });
});
