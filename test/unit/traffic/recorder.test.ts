import { describe, expect, it } from 'vitest';
import { bytesOf } from '../../../main/traffic/present.ts';
import { BYTES_MAX, ENTRIES_MAX } from '../../../main/traffic/entry-log.ts';
import { createRecorder, WATCHERS_MAX } from '../../../main/traffic/recorder.ts';
import { RESERVE_BYTES_MAX, RESERVE_ENTRIES_MAX, SHARE_ENTRIES } from '../../../main/traffic/reserve.ts';
import type { RecordedBody, RecordedExchange } from '../../../main/model/exchange-record.ts';
import type { Entry } from '../../../main/traffic/entry.ts';
import { createFakeClock, FAKE_NOW_MS, type FakeClock } from '../../support/fake-clock.ts';
import { sequence } from '../../support/sequence.ts';
import { exchange, capturedRecord } from '../../support/traffic-entries.ts';

function setUp() {
  let changes = 0;
  const clock = createFakeClock();
  const recorder = createRecorder(clock, { onChanged: () => (changes += 1) });
  const numbers = () => [...recorder.newestFirst()].map(({ number }) => number);
  const dates = () => [...recorder.oldestFirst()].map(({ atMs, realAtMs }) => [atMs, realAtMs]);
  const take = (of: Parameters<typeof exchange>[0], count = 1) => {
    for (let taken = 0; taken < count; taken++) recorder.take(exchange(of));
  };
  return { recorder, numbers, dates, take, changes: () => changes, clock };
}

const textOf = (body: RecordedBody = { chunks: [], bytes: 0 }) => bytesOf(body).toString();

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Lets the waiting exchanges be written, and the time of a batch for watchers pass. */
async function passNotice(clock: FakeClock): Promise<void> {
  await nextTurn();
  await clock.pass(100);
}

/** Exchanges with few differences, random but the same in every run. */
function manyAlike(count: number): RecordedExchange[] {
  const below = sequence(11);
  const oneOf = <Each>(choices: readonly Each[]): Each => choices[below(choices.length)] as Each;
  const long = Array.from({ length: 20 }, (_, n) => `${n % 10}`.repeat(n * 900));
  const refusal = { code: 'rate_limit_exceeded' as const, retryAfterSeconds: 1, message: 'Wait.' };
  const route = { projectId: 'prj_a', environment: 'production' as const, target: { kind: 'api' as const } };
  const routes = [null, route, { ...route, projectId: 'prj_b' }, { ...route, environment: 'staging' as const }];
  const rate = () => ({ limit: 60, remaining: below(60), resetAtMs: below(1_000) });
  const body = (): RecordedBody => {
    const encoding = oneOf(['latin1', 'utf8'] as const);
    const texts = ['[]', 'caf\xe9', 'caf\xe8', '', ...(encoding === 'utf8' ? ['Ω'] : []), ...long];
    const chunk = () => (below(4) === 0 ? Buffer.from(oneOf(texts)) : oneOf(texts));
    return { chunks: Array.from({ length: below(3) }, chunk), encoding, bytes: below(100_000) };
  };
  return Array.from({ length: count }, () =>
    exchange({
      authority: oneOf([null, 'a.test', 'b.test:8080']),
      route: oneOf(routes),
      keyId: oneOf([null, 'key_a', 'key_b']),
      decision: oneOf([null, { refusal: null, rate: rate() }, { refusal, rate: rate() }]),
      stage: oneOf(['limit', 'target']),
      scheme: oneOf(['http', 'https']),
      connection: below(1_000),
      place: below(1_000),
      httpVersion: oneOf(['1.1', '2.0']),
      method: oneOf(['GET', 'POST']),
      target: oneOf(['/a', '/b', '/c']),
      status: oneOf([null, 200, 429]),
      durationMs: below(1_000) / 7,
      address: oneOf(['127.0.0.1', '::1']),
      port: below(65_536),
      aborted: oneOf([true, false]),
      byProxy: oneOf([true, false]),
      record: capturedRecord({
        requestFields: oneOf([[], ['Host', 'a'], ['Host', 'b'], ['Host', 'a', 'X', ''], ['Host', 'a', '', 'X']]),
        responseHead: oneOf(['', `HTTP/1.1 200 OK\r\nX-Number: ${below(100)}\r\n\r\n`]),
        requestBody: body(),
        responseBody: body(),
        handedMs: oneOf([null, below(10)]),
        firstByteMs: oneOf([null, below(10)]),
      }),
    }),
  );
}

/** What an exchange and its entry have in common, bodies and heads as their bytes. */
function shown({ record, ...rest }: Entry | RecordedExchange) {
  const told = Object.entries({ ...rest }).filter(([name]) => !OF_ONE_ONLY.has(name));
  if (record === null) return told;
  const { handedMs, firstByteMs, requestFields, requestBody, responseBody } = record;
  const head = 'responseHead' in record ? record.responseHead.split('\r\n')[1] : record.responseFields.join(': ');
  return {
    ...Object.fromEntries(told),
    handedMs,
    firstByteMs,
    requestFields,
    head: head ?? '',
    requestBody: [keptOf(requestBody), requestBody.bytes],
    responseBody: [keptOf(responseBody), responseBody.bytes],
  };
}

const OF_ONE_ONLY = new Set(['number', 'atMs', 'realAtMs', 'startedMs', 'replayOf', 'running']);

const keptOf = ({ chunks, encoding }: RecordedBody): string =>
  Buffer.concat(chunks.map((each) => (typeof each === 'string' ? Buffer.from(each, encoding) : each))).toString('hex');

describe('the recorder', () => {
  it('keeps what it receives, newest first, and numbers each entry', () => {
    const { recorder, numbers } = setUp();
    for (const target of ['/a', '/b', '/c']) recorder.take(exchange({ target }));
    expect(numbers()).toEqual([3, 2, 1]);
    expect([...recorder.newestFirst(3)].map(({ target }) => target)).toEqual(['/b', '/a']);
    expect(recorder.get(2)?.target).toBe('/b');
    expect([recorder.get(0), recorder.get(4)]).toEqual([null, null]);
  });

  it('writes the exchanges of one turn together, with one notification', async () => {
    const { recorder, take, changes } = setUp();
    take({}, 10);
    expect(changes()).toBe(0);
    await nextTurn();
    expect(changes()).toBe(1);
    // However many end in a turn, few wait.
    take({}, 1_000);
    expect(changes()).toBeGreaterThan(10);
    expect(recorder.size()).toBe(1_010);
  });

  it('dates waiting exchanges by the clock before it was moved', async () => {
    const { clock, take, dates } = setUp();
    await clock.pass(5_000);
    take({ startedMs: 4_000, durationMs: 1_000 });
    await clock.set(FAKE_NOW_MS + 86_400_000);
    take({ startedMs: 5_000, durationMs: 0 });
    expect(dates()).toEqual([
      [FAKE_NOW_MS + 4_000, FAKE_NOW_MS + 4_000],
      [FAKE_NOW_MS + 86_400_000, FAKE_NOW_MS + 5_000],
    ]);
  });

  it('dates long exchanges on a frozen clock by the frozen time', async () => {
    const { clock, take, dates } = setUp();
    await clock.freeze();
    await clock.pass(5_000);
    take({ startedMs: 4_000, durationMs: 1_000 });
    expect(dates()).toEqual([[FAKE_NOW_MS, FAKE_NOW_MS + 4_000]]);
  });

  it('is read oldest first, except what was removed meanwhile or came later', () => {
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

  it('continues a reading after entries were overwritten meanwhile', () => {
    const { recorder, take } = setUp();
    for (let count = 0; count < 10; count++) recorder.take(exchange({ target: `/${count}` }));
    const reading = recorder.oldestFirst();
    expect(reading.next().value?.target).toBe('/0');
    take({ target: '/later' }, ENTRIES_MAX - 3);
    expect(recorder.size()).toBe(ENTRIES_MAX);
    expect([...reading].map(({ target }) => target)).toEqual(['/7', '/8', '/9']);
  });

  it('keeps no more entries than its limit, and removes the oldest', () => {
    const { recorder, take } = setUp();
    take({}, ENTRIES_MAX + 5);
    expect(recorder.size()).toBe(ENTRIES_MAX);
    expect(recorder.get(5)).toBeNull();
    expect(recorder.get(6)?.number).toBe(6);
  });

  it('keeps the newest entries of each project, whatever the others do, and counts dropped ones', () => {
    const { recorder, numbers, take } = setUp();
    const of = (projectId: string) => ({ ...exchange().route, projectId }) as RecordedExchange['route'];
    const body = (text: string) => capturedRecord({ responseBody: { chunks: [text], bytes: text.length } });
    for (let count = 0; count < SHARE_ENTRIES + 20; count++) {
      recorder.take(exchange({ route: of('prj_quiet'), target: `/${count}`, record: body(`body ${count}`) }));
    }
    take({ route: of('prj_loud') }, 2 * ENTRIES_MAX);
    const quiet = () => [...recorder.newestFirst()].filter(({ route }) => route?.projectId === 'prj_quiet');
    expect(quiet().map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, index) => 120 - index));
    expect(textOf(recorder.get(21)?.record.responseBody)).toBe('body 20');
    expect(recorder.size()).toBe(ENTRIES_MAX + SHARE_ENTRIES);
    expect([recorder.dropped('prj_quiet'), recorder.dropped()]).toEqual([20, ENTRIES_MAX + 20]);
    expect([...recorder.oldestFirst(30)].map(({ number }) => number)).toEqual(numbers().reverse().slice(10));
    expect([...recorder.newestFirst(30)].map(({ number }) => number)).toEqual([29, 28, 27, 26, 25, 24, 23, 22, 21]);
    // A new one takes the place of the project's oldest.
    take({ route: of('prj_quiet') });
    expect([quiet().length, recorder.get(21), recorder.dropped('prj_quiet')]).toEqual([SHARE_ENTRIES, null, 21]);
    recorder.clear();
    expect([recorder.size(), recorder.dropped()]).toEqual([0, 0]);
  });

  it('keeps no more for all quiet projects together than its limits', () => {
    const { recorder, take } = setUp();
    const taken = (projectId: string, bytes: number) =>
      exchange({
        route: { projectId, environment: 'production', target: { kind: 'api' } },
        record: capturedRecord({ responseBody: { chunks: [Buffer.alloc(bytes, projectId)], bytes } }),
      });
    for (let count = 0; count < 3_000; count++) recorder.take(taken(`prj_${Math.floor(count / 50)}`, 1));
    take({}, ENTRIES_MAX);
    expect(recorder.size()).toBe(ENTRIES_MAX + RESERVE_ENTRIES_MAX);
    recorder.clear();
    const bytes = 64 * 1024;
    for (let count = 0; count < 200; count++) recorder.take(taken(`prj_${count}`, bytes));
    take({}, ENTRIES_MAX);
    const reserved = recorder.size() - ENTRIES_MAX;
    expect(reserved).toBeLessThanOrEqual(RESERVE_BYTES_MAX / bytes);
    expect(reserved).toBeGreaterThan((RESERVE_BYTES_MAX / bytes) * 0.9);
  });

  it('keeps no more bytes than its limit: the oldest are removed, the newest never', () => {
    const { recorder, numbers } = setUp();
    const bytes = 64 * 1024;
    const taken = Array.from({ length: 2_000 }, () => Buffer.alloc(bytes, 'x'));
    for (const chunk of taken)
      recorder.take(exchange({ record: capturedRecord({ responseBody: { chunks: [chunk], bytes } }) }));
    expect(recorder.size()).toBeLessThanOrEqual(BYTES_MAX / bytes);
    expect(recorder.size()).toBeGreaterThan((BYTES_MAX / bytes) * 0.8);
    expect(numbers()[0]).toBe(2_000);
    const whole = Buffer.alloc(bytes, 'x');
    expect([...recorder.newestFirst()].every(({ record }) => bytesOf(record.responseBody).equals(whole))).toBe(true);
    // What the log has copied is freed at once.
    expect(taken.every(({ length }) => length === 0)).toBe(true);
  });

  it('stores repeated requests and answers once, so that the maximum number of entries fits', () => {
    const { recorder } = setUp();
    const texts = ['x', 'y', 'z'].map((letter) => letter.repeat(60_000));
    for (let count = 0; count < ENTRIES_MAX; count++) {
      const text = texts[count % texts.length] as string;
      recorder.take(exchange({ record: capturedRecord({ responseBody: { chunks: [text], bytes: text.length } }) }));
    }
    expect(recorder.size()).toBe(ENTRIES_MAX);
    const expected = (number: number) => texts[(number - 1) % texts.length];
    const kept = [...recorder.oldestFirst()];
    expect(kept.filter(({ number, record }) => textOf(record.responseBody) !== expected(number))).toEqual([]);
  });

  it('keeps every exchange unchanged, however similar to others', () => {
    const { recorder } = setUp();
    const taken = manyAlike(4_000);
    for (const each of taken) recorder.take(each);
    const kept = [...recorder.oldestFirst()];
    expect(kept.length).toBeGreaterThan(1_000);
    expect(kept.map(shown)).toEqual(kept.map(({ number }) => shown(taken[number - 1] as RecordedExchange)));
  });

  it('keeps headers and bodies unchanged, but only the first 64 KiB of a body', () => {
    const { recorder, take } = setUp();
    const requestFields = ['X-Name', 'Bisquit é', 'X-Empty', ''];
    const record = capturedRecord({
      requestFields,
      responseHead: 'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2: c\r\n\r\n',
      requestBody: { chunks: ['{"name":"', Buffer.from('Ω'), '"}'], bytes: 13 },
      responseBody: { chunks: ['x'.repeat(50_000), 'y'.repeat(50_000)], bytes: 100_000 },
    });
    take({ record });
    const kept = recorder.get(1)?.record;
    expect(kept?.requestFields).toEqual(requestFields);
    expect(kept?.responseFields).toEqual(['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2: c']);
    expect(textOf(kept?.requestBody)).toBe('{"name":"Ω"}');
    expect([textOf(kept?.responseBody).length, kept?.responseBody.bytes]).toEqual([65_536, 100_000]);
  });

  it('returns nothing of another entry under the id of a removed one', () => {
    const { recorder, take } = setUp();
    take({});
    const gone = recorder.get(1);
    take({ target: '/other' }, ENTRIES_MAX);
    expect(recorder.size()).toBe(ENTRIES_MAX);
    expect(gone?.target).toBe('/v1/pets?limit=20');
    expect([gone?.record.requestFields, gone?.record.responseBody.chunks]).toEqual([[], []]);
  });

  it('deletes all, keeps counting, and does not bring back deleted entries', () => {
    const { recorder, numbers, take } = setUp();
    take({}, 2);
    expect(recorder.clear()).toBe(2);
    expect([numbers(), recorder.get(1)]).toEqual([[], null]);
    take({});
    expect(numbers()).toEqual([3]);
  });

  it('returns nothing of a deleted entry to a reader that still holds it', () => {
    const { recorder, take } = setUp();
    take({});
    const gone = recorder.get(1);
    recorder.clear();
    expect([gone?.record.requestFields, gone?.record.responseBody.chunks]).toEqual([[], []]);
  });

  it('marks an entry as a replay, but not one that has overwritten it', () => {
    const { recorder, take } = setUp();
    take({});
    const first = recorder.get(1) ?? expect.fail('There is no first entry.');
    recorder.markReplay(first, 7);
    expect(recorder.get(1)?.replayOf).toBe(7);
    take({}, ENTRIES_MAX);
    expect(recorder.size()).toBe(ENTRIES_MAX);
    recorder.markReplay(first, 7);
    expect(recorder.get(ENTRIES_MAX + 1)?.replayOf).toBeNull();
  });

  it('ignores what has no record', () => {
    const { recorder } = setUp();
    recorder.take(exchange({ record: null }));
    expect(recorder.size()).toBe(0);
  });

  it('sends watchers several entries at a time, only matching ones, and the number of those that came too fast', async () => {
    const { recorder, take, clock } = setUp();
    const abort = new AbortController();
    const watching = recorder.watch(({ status }) => status === 429, abort.signal);
    const first = watching.next();
    for (let count = 0; count < 300; count++) recorder.take(exchange({ status: count % 2 === 0 ? 429 : 200 }));
    await passNotice(clock);
    const { value } = await first;
    expect([value?.entries.length, value?.missed]).toEqual([150, 0]);
    const second = watching.next();
    take({ status: 429 }, 250);
    await passNotice(clock);
    const { value: more } = await second;
    expect([more?.entries.length, more?.missed]).toEqual([200, 50]);
    const end = watching.next();
    abort.abort();
    expect(await end).toEqual({ value: undefined, done: true });
  });

  it('accepts a limited number of watchers', async () => {
    const { recorder } = setUp();
    const watching = Array.from({ length: WATCHERS_MAX }, () => recorder.watch(() => true).next());
    const outcome = await Promise.race([recorder.watch(() => true).next(), nextTurn()]);
    expect(outcome).toEqual({ value: undefined, done: true });
    recorder.close();
    expect((await Promise.all(watching)).every(({ done }) => done === true)).toBe(true);
  });

  it('tells watchers that all was deleted, and sends no deleted entry', async () => {
    const { recorder, clock } = setUp();
    const watching = recorder.watch(() => true);
    const first = watching.next();
    recorder.take(exchange({ target: '/before' }));
    recorder.clear();
    recorder.take(exchange({ target: '/after' }));
    await passNotice(clock);
    const { value } = await first;
    expect([value?.cleared, value?.entries.map(({ target }) => target)]).toEqual([true, ['/after']]);
    const second = watching.next();
    recorder.clear();
    await passNotice(clock);
    expect((await second).value).toEqual({ entries: [], missed: 0, cleared: true });
    recorder.close();
  });

  it('finds the entry of a connection, even one still in progress', async () => {
    const { recorder, clock } = setUp();
    recorder.take(exchange({ port: 1, target: '/before' }));
    expect((await recorder.from(1, 1, 1_000))?.target).toBe('/before');
    const coming = recorder.from(2, 2, 1_000);
    recorder.take(exchange({ port: 2, target: '/after' }));
    expect((await coming)?.target).toBe('/after');
    // The port had another connection before.
    const never = [recorder.from(3, 1, 1), recorder.from(1, 2, 1)];
    await clock.pass(1);
    expect(await Promise.all(never)).toEqual([null, null]);
  });
});
