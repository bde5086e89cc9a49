// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import { ClockControl, PRESETS } from '../../../../../renderer/app/clock/clock-control.svelte.ts';
import { KeptValues } from '../../../../../renderer/shared/session/storage.ts';
import { Session } from '../../../../../renderer/shared/session/session.svelte.ts';
import { createMemoryStorage } from '../../../../../renderer/shared/session/storage.ts';
import { createFakeClock, FAKE_NOW_MS, settle } from '../../../../support/fake-clock.ts';
import { createFakeTransport } from '../../../../support/page/page-link.ts';

const move = (offsetMs: number, happened: string[] = []) => ({
  now: new Date(FAKE_NOW_MS + offsetMs).toISOString(),
  realNow: new Date(FAKE_NOW_MS).toISOString(),
  offset: offsetMs === 0 ? 'PT0S' : 'PT1H',
  frozen: false,
  happened,
});

async function setUp() {
  const transport = createFakeTransport();
  const session = new Session({
    transport,
    time: createFakeClock(),
    storage: createMemoryStorage(),
    drafts: new KeptValues(createMemoryStorage(), ''),
    named: () => undefined,
  });
  const said: string[] = [];
  session.start();
  await settle();
  const control = new ClockControl({
    client: session.client,
    clock: session.clock,
    toasts: { say: (text) => said.push(text), fail: (text) => said.push(`failed: ${text}`) },
  });
  const asked = (procedure: string) => transport.calls.findLast((call) => call.procedure === procedure)?.input;
  return { transport, session, control, said, asked };
}

const HOUR = PRESETS.find(({ by }) => by === 'PT1H');
if (HOUR === undefined) throw new Error('There is no preset of an hour.');

describe('moving the clock', () => {
  it('shows the new time at once, and reports what fell due', async () => {
    const { transport, session, control, said, asked } = await setUp();
    transport.stub('clock.advance', () => move(3_600_000, ['1 ban is over.', '2 per-minute limits have reset.']));
    await control.advance(HOUR);
    expect(asked('clock.advance')).toEqual({ by: 'PT1H' });
    expect(session.clock.nowMs).toBe(FAKE_NOW_MS + 3_600_000);
    expect(said).toEqual(['Forward by 1 hour. 1 ban is over. 2 per-minute limits have reset.']);
  });

  it('reports that nothing fell due on the way forward, but not on the way back', async () => {
    const { transport, control, said } = await setUp();
    transport.stub('clock.advance', () => move(3_600_000));
    transport.stub('clock.reset', () => move(0));
    await control.advance(HOUR);
    await control.reset();
    expect(said).toEqual(['Forward by 1 hour. Nothing fell due.', 'Back to the real time.']);
  });

  it('accepts lengths as users write them, and keeps what the engine refuses', async () => {
    const { transport, control, asked } = await setUp();
    transport.stub('clock.advance', () => move(9_000_000));
    control.forwarding.values.by = '2 h 30 min';
    expect(await control.forward()).toBe(true);
    expect(asked('clock.advance')).toEqual({ by: '2 h 30 min' });
    expect(control.forwarding.values.by).toBe('');
    transport.stub('clock.advance', () =>
      Promise.reject(
        new ORPCError('invalid_request', {
          message: 'by: must be a duration',
          data: { issues: [{ path: 'by', message: 'must be a duration' }] },
        }),
      ),
    );
    control.forwarding.values.by = 'soon';
    expect(await control.forward()).toBe(false);
    expect([control.forwarding.values.by, control.forwarding.fault('by')]).toEqual(['soon', 'must be a duration']);
  });

  it('shows why it failed', async () => {
    const { transport, control, said } = await setUp();
    transport.stub('clock.reset', () => Promise.reject(new ORPCError('unavailable', { message: 'Stopping.' })));
    await control.reset();
    expect(said).toEqual(['failed: The clock was not moved. Stopping.']);
  });
});
