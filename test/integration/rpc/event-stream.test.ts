import { describe, expect } from 'vitest';
import { KEEP_ALIVE_MS } from '../../../main/rpc/http-api.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import type { ChangeEvent } from '../../../main/contract/status.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { CONTROL_TOKEN, startControl, type Control, controlTest as it } from '../../support/rpc/rpc-control.ts';
import { countingStream } from '../../support/rpc/rpc-streams.ts';

async function watch(control: Control) {
  const caller = new AbortController();
  const response = await fetch(`${control.url}/api/events/watch`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${CONTROL_TOKEN}` },
    signal: caller.signal,
  });
  if (response.body === null) throw new Error('There is no body.');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    response,
    leave: () => caller.abort(),
    async until(part: string): Promise<string> {
      while (!text.includes(part)) {
        const { value, done } = await reader.read();
        if (done) return text;
        text += value;
      }
      return text;
    },
  };
}

const EVENT: ChangeEvent = { type: 'ready', at: '2026-11-20T09:00:00.000Z' };

describe('a stream over HTTP', () => {
  it('sends each value as an event, and marks its end', async ({ control }) => {
    control.fake.stub('events', 'watch', async function* () {
      yield EVENT;
      yield { ...EVENT, type: 'pets.changed' };
    });
    const { response, until } = await watch(control);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const text = await until('never');
    expect(text.split('\n\n').slice(1)).toEqual([
      `event: message\ndata: ${JSON.stringify(EVENT)}`,
      `event: message\ndata: ${JSON.stringify({ ...EVENT, type: 'pets.changed' })}`,
      'event: done',
      '',
    ]);
  });

  it('begins at once although nothing happens, and sends keep-alives', async () => {
    const clock = createFakeClock();
    const control = await startControl({ clock });
    control.fake.stub('events', 'watch', countingStream({ pauseAfter: 0 }).open);
    const { until, leave } = await watch(control);
    await until(': watching\n\n');
    expect(control.server.clients()).toBe(1);
    await clock.pass(KEEP_ALIVE_MS);
    await until(': still watching\n\n');
    await clock.pass(KEEP_ALIVE_MS);
    await until(': still watching\n\n: still watching\n\n');
    leave();
  });

  it('ends for its service when the reader disconnects', async ({ control }) => {
    const stream = countingStream({ pauseAfter: 2 });
    control.fake.stub('events', 'watch', stream.open);
    const { until, leave } = await watch(control);
    await until('"2"');
    leave();
    await stream.ended;
  });

  it('does not run ahead of a slow reader', async ({ control }) => {
    const stream = countingStream({ padding: 64 * 1024 });
    control.fake.stub('events', 'watch', stream.open);
    const { leave } = await watch(control);
    await stream.stalled();
    expect(stream.produced()).toBeLessThan(2_000);
    leave();
    await stream.ended;
  });

  it('ends when the server stops', async ({ control }) => {
    const stream = countingStream({ pauseAfter: 1 });
    control.fake.stub('events', 'watch', stream.open);
    const { until } = await watch(control);
    await until('"1"');
    const stopped = control.server.stop(60_000);
    expect(await until('event: done')).toContain('event: done');
    await Promise.all([stopped, stream.ended]);
    expect(control.server.clients()).toBe(0);
  });

  it.for<[string, Error, object]>([
    [
      'an error of the catalogue',
      new VivariumError('unavailable', 'Not now.'),
      { code: 'unavailable', message: 'Not now.' },
    ],
    ['another error', new Error('secret'), { code: 'internal_error', message: expect.not.stringContaining('secret') }],
  ])('that fails with %s ends with an error event', async ([_what, error, body], { control }) => {
    control.fake.stub('events', 'watch', async function* () {
      yield EVENT;
      throw error;
    });
    const { until } = await watch(control);
    const data = /event: error\ndata: (.*)\n/.exec(await until('never'))?.[1] ?? 'null';
    expect(JSON.parse(data)).toEqual(body);
  });

  it('that yields a value outside the contract fails instead of sending it', async ({ control }) => {
    control.fake.stub('events', 'watch', async function* () {
      yield { type: 'secret' } as unknown as ChangeEvent;
    });
    const { until } = await watch(control);
    expect(await until('never')).toMatch(/event: error\ndata: .*internal_error/);
    expect(control.lines.some(({ level, fields }) => level === 'error' && fields['procedure'] === 'events.watch')).toBe(
      true,
    );
  });
});
