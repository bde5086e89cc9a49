// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { ClockControl, PRESETS } from '../../../../../renderer/app/clock/clock-control.svelte.ts';
import { AppClock } from '../../../../../renderer/shared/time/app-clock.svelte.ts';
import { type Answers, refuses } from '../../../../support/fake-client.ts';
import { FAKE_NOW_MS } from '../../../../support/fake-clock.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';

/** The engine's answer to a move of the clock. */
const move = (offsetMs: number, happened: string[] = []) => ({
  now: new Date(FAKE_NOW_MS + offsetMs).toISOString(),
  realNow: new Date(FAKE_NOW_MS).toISOString(),
  offset: offsetMs === 0 ? 'PT0S' : 'PT1H',
  frozen: false,
  happened,
});

function setUp(answers: Answers) {
  const parts = pageParts(answers);
  const { client, toasts } = parts;
  const clock = new AppClock(parts.time);
  return { ...parts, clock, control: new ClockControl({ client, clock, toasts }) };
}

const HOUR = PRESETS.find(({ by }) => by === 'PT1H');
if (HOUR === undefined) throw new Error('There is no preset of an hour.');

describe('moving the clock', () => {
  it('shows the new time at once, and reports what fell due', async () => {
    const happened = ['1 ban is over.', '2 per-minute limits have reset.'];
    const { clock, control, said, asked } = setUp({ 'clock.advance': () => move(3_600_000, happened) });
    await control.advance(HOUR);
    expect(asked('clock.advance')).toEqual([{ by: 'PT1H' }]);
    expect(clock.nowMs).toBe(FAKE_NOW_MS + 3_600_000);
    expect(said()).toEqual(['Forward by 1 hour. 1 ban is over. 2 per-minute limits have reset.']);
  });

  it('reports that nothing fell due on the way forward, but not on the way back', async () => {
    const { control, said } = setUp({ 'clock.advance': () => move(3_600_000), 'clock.reset': () => move(0) });
    await control.advance(HOUR);
    await control.reset();
    expect(said()).toEqual(['Forward by 1 hour. Nothing fell due.', 'Back to the real time.']);
  });

  it('accepts lengths as users write them, and keeps what the engine refuses', async () => {
    const { answers, control, asked } = setUp({ 'clock.advance': () => move(9_000_000) });
    const { forwarding } = control;
    forwarding.values.by = '2 h 30 min';
    expect(await control.forward()).toBe(true);
    expect(asked('clock.advance')).toEqual([{ by: '2 h 30 min' }]);
    expect(forwarding.values.by).toBe('');
    const issue = { path: 'by', message: 'must be a duration' };
    answers['clock.advance'] = refuses('invalid_request', 'by: must be a duration', issue);
    forwarding.values.by = 'soon';
    expect(await control.forward()).toBe(false);
    expect([forwarding.values.by, forwarding.fault('by')]).toEqual(['soon', 'must be a duration']);
  });

  it.each([
    ['2030-12-05 00:30:15', '2030-12-05T00:30:15'],
    ['2030-12-05T00:30', '2030-12-05T00:30'],
    [' 2030-12-05 ', '2030-12-05T00:00'],
    ['2030-12-05T00:30:15Z', '2030-12-05T00:30:15Z'],
  ])('reads %j in the reader’s time zone, unless it names one', async (typed, moment) => {
    const { control, asked } = setUp({ 'clock.set': () => move(0) });
    control.setting.values.to = typed;
    expect(await control.set()).toBe(true);
    expect(asked('clock.set')).toEqual([{ to: new Date(moment).toISOString() }]);
    expect(control.setting.values.to).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  });

  it('shows why it failed', async () => {
    const { control, toasts } = setUp({ 'clock.reset': refuses('unavailable', 'Stopping.') });
    await control.reset();
    expect(toasts.list).toMatchObject([{ tone: 'failed', text: 'The clock was not moved. Stopping.' }]);
  });
});
