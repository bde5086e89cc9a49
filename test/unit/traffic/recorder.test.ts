import { describe, expect, it } from 'vitest';
import { bytesOf } from '../../../main/traffic/present.ts';
import { BYTES_MAX, createRecorder, ENTRIES_MAX } from '../../../main/traffic/recorder.ts';
import { createClock } from '../../../main/base/clock.ts';
import { exchange, handed } from '../../support/traffic-entries.ts';

function setUp() {
  let changes = 0;
  const clock = createClock();
  const recorder = createRecorder(clock, { onChanged: () => (changes += 1) });
  const numbers = () => [...recorder.newestFirst()].map(({ number }) => number);
  return { recorder, numbers, changes: () => changes, clock };
}

describe('the recorder', () => {
  it('keeps what it is handed, newest first, and gives each its number', () => {
    const { recorder, numbers, changes } = setUp();
    for (const target of ['/a', '/b', '/c']) recorder.take(exchange({ target }));
    expect(numbers()).toEqual([3, 2, 1]);
    expect([...recorder.newestFirst(3)].map(({ target }) => target)).toEqual(['/b', '/a']);
    expect(recorder.get(2)?.target).toBe('/b');
    expect([recorder.get(0), recorder.get(4)]).toEqual([null, null]);
    expect(changes()).toBe(3);
  });

  it('is read oldest first, but for what has gone meanwhile and what came later', () => {
    const { recorder } = setUp();
    for (const target of ['/a', '/b', '/c', '/d']) recorder.take(exchange({ target }));
    const reading = recorder.oldestFirst(1);
    expect(reading.next().value?.target).toBe('/b');
    recorder.take(exchange({ target: '/e' }));
    expect([...reading].map(({ target }) => target)).toEqual(['/c', '/d']);
    const late = recorder.oldestFirst();
    recorder.clear();
    expect([...late]).toEqual([]);
  });

  it('keeps no more entries than its limit: the oldest go', () => {
    const { recorder } = setUp();
    for (let count = 0; count < ENTRIES_MAX + 5; count++) recorder.take(exchange());
    expect(recorder.size()).toBe(ENTRIES_MAX);
    expect(recorder.get(5)).toBeNull();
    expect(recorder.get(6)?.number).toBe(6);
  });

  it('keeps no more bytes than its limit: the oldest go, the newest never', () => {
    const { recorder, numbers } = setUp();
    const bytes = 64 * 1024;
    const body = { chunks: [Buffer.alloc(bytes, 'x')], bytes };
    for (let count = 0; count < 2_000; count++) recorder.take(exchange({ record: handed({ responseBody: body }) }));
    expect(recorder.size()).toBeLessThanOrEqual(BYTES_MAX / bytes);
    expect(recorder.size()).toBeGreaterThan((BYTES_MAX / bytes) * 0.8);
    expect(numbers()[0]).toBe(2_000);
    expect(
      [...recorder.newestFirst()].every(({ record }) => bytesOf(record.responseBody).equals(body.chunks[0] as Buffer)),
    ).toBe(true);
  });

  it('keeps headers and bodies as they were, and of a body no more than its first 64 KiB', () => {
    const { recorder } = setUp();
    recorder.take(
      exchange({
        record: handed({
          requestFields: ['X-Name', 'Bisquit é', 'X-Empty', ''],
          responseHead: 'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2: c\r\n\r\n',
          requestBody: { chunks: ['{"name":"', Buffer.from('Ω'), '"}'], bytes: 13 },
          responseBody: { chunks: ['x'.repeat(50_000), 'y'.repeat(50_000)], bytes: 100_000 },
        }),
      }),
    );
    const kept = recorder.get(1)?.record;
    expect(kept?.requestFields).toEqual(['X-Name', 'Bisquit é', 'X-Empty', '']);
    expect(kept?.responseFields).toEqual(['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2: c']);
    expect(bytesOf(kept?.requestBody ?? { chunks: [], bytes: 0 }).toString()).toBe('{"name":"Ω"}');
    expect([bytesOf(kept?.responseBody ?? { chunks: [], bytes: 0 }).length, kept?.responseBody.bytes]).toEqual([
      65_536, 100_000,
    ]);
  });

  it('keeps a text that came in Latin-1 as the bytes that were sent', () => {
    const { recorder } = setUp();
    const body = { chunks: ['caf\xe9', Buffer.from('Ω')], encoding: 'latin1' as const, bytes: 6 };
    recorder.take(exchange({ record: handed({ responseBody: body }) }));
    const kept = recorder.get(1)?.record.responseBody;
    expect(bytesOf(kept ?? { chunks: [], bytes: 0 }).toString('hex')).toBe('636166e9cea9');
  });

  it('keeps nothing where there was nothing', () => {
    const { recorder } = setUp();
    recorder.take(
      exchange({
        decision: null,
        record: handed({
          requestFields: [],
          responseHead: '',
          responseBody: { chunks: [], bytes: 0 },
          handedMs: null,
          firstByteMs: null,
        }),
      }),
    );
    const kept = recorder.get(1);
    expect([kept?.decision, kept?.record.requestFields, kept?.record.responseFields]).toEqual([null, [], []]);
    expect([kept?.record.handedMs, kept?.record.firstByteMs, kept?.record.responseBody.chunks]).toEqual([
      null,
      null,
      [],
    ]);
  });

  it('has nothing of another entry under the name of one that is gone', () => {
    const { recorder } = setUp();
    recorder.take(exchange());
    const gone = recorder.get(1);
    for (let count = 0; count < ENTRIES_MAX; count++) recorder.take(exchange({ target: '/other' }));
    expect([gone?.target, gone?.record.requestFields, gone?.record.responseBody.chunks]).toEqual([
      '/v1/pets?limit=20',
      [],
      [],
    ]);
  });

  it('forgets all, goes on counting, and does not bring back what is gone', () => {
    const { recorder, numbers } = setUp();
    recorder.take(exchange());
    recorder.take(exchange());
    expect(recorder.clear()).toBe(2);
    expect([numbers(), recorder.get(1)]).toEqual([[], null]);
    recorder.take(exchange());
    expect(numbers()).toEqual([3]);
  });

  it('takes nothing that has no record', () => {
    const { recorder } = setUp();
    recorder.take(exchange({ record: null }));
    expect(recorder.size()).toBe(0);
  });

  it('tells watchers several at a time, only what fits, and how many came too fast', async () => {
    const { recorder } = setUp();
    const abort = new AbortController();
    const watching = recorder.watch(({ status }) => status === 429, abort.signal);
    const first = watching.next();
    for (let count = 0; count < 300; count++) recorder.take(exchange({ status: count % 2 === 0 ? 429 : 200 }));
    const { value } = await first;
    expect([value?.entries.length, value?.missed]).toEqual([150, 0]);
    const second = watching.next();
    for (let count = 0; count < 250; count++) recorder.take(exchange({ status: 429 }));
    const { value: more } = await second;
    expect([more?.entries.length, more?.missed]).toEqual([200, 50]);
    const end = watching.next();
    abort.abort();
    expect(await end).toEqual({ value: undefined, done: true });
  });

  it('tells watchers that all was forgotten, and nothing of what was', async () => {
    const { recorder } = setUp();
    const watching = recorder.watch(() => true);
    const first = watching.next();
    recorder.take(exchange({ target: '/before' }));
    recorder.clear();
    recorder.take(exchange({ target: '/after' }));
    const { value } = await first;
    expect([value?.cleared, value?.entries.map(({ target }) => target)]).toEqual([true, ['/after']]);
    const second = watching.next();
    recorder.clear();
    expect((await second).value).toEqual({ entries: [], missed: 0, cleared: true });
    recorder.close();
  });

  it('finds the entry of a connection, also one that is not over yet', async () => {
    const { recorder } = setUp();
    recorder.take(exchange({ port: 1, target: '/before' }));
    expect((await recorder.from(1, 1, 1_000))?.target).toBe('/before');
    const coming = recorder.from(2, 2, 1_000);
    recorder.take(exchange({ port: 2, target: '/after' }));
    expect((await coming)?.target).toBe('/after');
    expect(await recorder.from(3, 1, 1)).toBeNull();
    // The port had another connection before.
    expect(await recorder.from(1, 2, 1)).toBeNull();
  });
});
