// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { AppClock } from '../../../../../renderer/shared/time/app-clock.svelte.ts';
import { createFakeClock, FAKE_NOW_MS } from '../../../../support/fake-clock.ts';

const reading = (offsetMs = 0, rest: { frozen?: boolean; offset?: string } = {}) => ({
  now: new Date(FAKE_NOW_MS + offsetMs).toISOString(),
  realNow: new Date(FAKE_NOW_MS).toISOString(),
  offset: 'PT0S',
  frozen: false,
  ...rest,
});

describe('the app’s clock on the page', () => {
  it('is unknown until the engine reports the time', () => {
    const clock = new AppClock(createFakeClock());
    expect([clock.known, clock.moved]).toEqual([false, false]);
  });

  it('ticks by itself, once a second', async () => {
    const time = createFakeClock();
    const clock = new AppClock(time);
    clock.accept(reading(300));
    expect(clock.nowMs).toBe(FAKE_NOW_MS + 300);
    await time.pass(600);
    expect(clock.nowMs).toBe(FAKE_NOW_MS + 300);
    await time.pass(200);
    expect(clock.nowMs).toBe(FAKE_NOW_MS + 1_005);
    await time.pass(10_000);
    expect(Math.floor((clock.nowMs - FAKE_NOW_MS) / 1_000)).toBe(11);
  });

  it('does not stutter when readings arrive a little late', async () => {
    const time = createFakeClock();
    const clock = new AppClock(time);
    clock.accept(reading());
    await time.pass(1_100);
    clock.accept(reading(900));
    expect(clock.nowMs).toBe(FAKE_NOW_MS + 1_005);
  });

  it('follows a jump at once, and shows that it is not the real time', () => {
    const clock = new AppClock(createFakeClock());
    clock.accept(reading());
    clock.accept(reading(7_200_000, { offset: 'PT2H' }));
    expect(clock.nowMs).toBe(FAKE_NOW_MS + 7_200_000);
    expect([clock.moved, clock.offsetMs]).toEqual([true, 7_200_000]);
  });

  it('stops while frozen, and continues from there', async () => {
    const time = createFakeClock();
    const clock = new AppClock(time);
    clock.accept(reading(0, { frozen: true }));
    await time.pass(5_000);
    expect([clock.nowMs, clock.moved]).toEqual([FAKE_NOW_MS, true]);
    clock.accept(reading(0, { offset: '-PT5S' }));
    await time.pass(2_000);
    expect(Math.floor((clock.nowMs - FAKE_NOW_MS) / 1_000)).toBe(1);
  });

  it('does nothing once stopped', async () => {
    const time = createFakeClock();
    const clock = new AppClock(time);
    clock.accept(reading());
    clock.stop();
    await time.pass(5_000);
    expect(clock.nowMs).toBe(FAKE_NOW_MS);
  });
});
