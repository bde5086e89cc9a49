import { describe, expect, it } from 'vitest';
import { BYTES_MAX, createRecorder, ENTRIES_MAX } from '../../../main/traffic/recorder.ts';
import { createClock } from '../../../main/base/clock.ts';
import { exchange, record } from '../../support/traffic-entries.ts';

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

  it('keeps no more entries than its limit: the oldest go', () => {
    const { recorder } = setUp();
    for (let count = 0; count < ENTRIES_MAX + 5; count++) recorder.take(exchange());
    expect(recorder.size()).toBe(ENTRIES_MAX);
    expect(recorder.get(5)).toBeNull();
    expect(recorder.get(6)?.number).toBe(6);
  });

  it('keeps no more bytes than its limit, and always the newest', () => {
    const { recorder } = setUp();
    const large = 1024 * 1024;
    const body = { chunks: [Buffer.alloc(large)], bytes: large };
    for (let count = 0; count < 100; count++) recorder.take(exchange({ record: record({ responseBody: body }) }));
    expect(recorder.size()).toBeLessThanOrEqual(BYTES_MAX / large);
    expect(recorder.size()).toBeGreaterThan(50);
    const giant = { chunks: [Buffer.alloc(BYTES_MAX * 2)], bytes: BYTES_MAX * 2 };
    recorder.take(exchange({ target: '/giant', record: record({ responseBody: giant }) }));
    expect([...recorder.newestFirst()].map(({ target }) => target)).toEqual(['/giant']);
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
    expect((await recorder.from(1, 1_000))?.target).toBe('/before');
    const coming = recorder.from(2, 1_000);
    recorder.take(exchange({ port: 2, target: '/after' }));
    expect((await coming)?.target).toBe('/after');
    expect(await recorder.from(3, 1)).toBeNull();
  });
});
