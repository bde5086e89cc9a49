import { promisify } from 'node:util';
import { gzipSync, zstdCompress, zstdDecompress } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RecordedExchange, RecordedFrame } from '../../../main/model/exchange-record.ts';
import { createEntryIds, type Entry } from '../../../main/traffic/entry.ts';
import { toHar } from '../../../main/traffic/har.ts';
import { presentDetail } from '../../../main/traffic/present.ts';
import { ENTRIES_MAX } from '../../../main/traffic/entry-log.ts';
import { createRecorder } from '../../../main/traffic/recorder.ts';
import { replayRefusal, replayRequest } from '../../../main/traffic/replay.ts';
import { createTrafficStorage, readStored, STORED_BYTES_MAX, writeStored } from '../../../main/traffic/stored.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { entry, exchange, capturedRecord, presentationOf, record, REDACTOR } from '../../support/traffic-entries.ts';

/** A recorder with what stores its entries, in a separate run. */
function setUp(startedAtMs = 1_000) {
  const clock = createFakeClock();
  const recorder = createRecorder(clock, { onChanged: () => undefined });
  const ids = createEntryIds(startedAtMs);
  const presentation = () => presentationOf(ids);
  const storage = createTrafficStorage({ recorder, ids, clock, presentation });
  const shown = () => [...recorder.newestFirst()].map((each) => presentDetail(each, presentation()));
  const shownIds = () => shown().map(({ id }) => id);
  const take = (changes: Partial<RecordedExchange> = {}) => recorder.take(exchange(changes));
  return { clock, recorder, ids, storage, shown, shownIds, take };
}

const SECRET = 'viv_abcdEFGHijklMNOPqrstUVWXyz012345';
const UPSTREAM = { kind: 'upstream', url: 'http://127.0.0.1:3000' } as const;

const frame = (changes: Partial<RecordedFrame>): RecordedFrame => {
  const payload = Buffer.from('hello');
  return { atMs: 1.5, from: 'client', opcode: 1, final: true, compressed: false, payload, bytes: 5, ...changes };
};

/** One of everything that an entry can have. */
const KINDS: readonly Partial<Entry & Pick<RecordedExchange, 'decision'>>[] = [
  {},
  { authority: null, route: null, keyId: null, decision: null, status: null, stage: 'listener', aborted: true },
  { route: { projectId: 'prj_a', environment: 'staging', target: UPSTREAM }, byProxy: true, status: 502, begun: 7 },
  { route: { projectId: 'prj_a', environment: 'production', target: UPSTREAM }, status: 101, replayOf: 1 },
  {
    stage: 'limit',
    status: 429,
    decision: {
      refusal: { code: 'rate_limit_exceeded', window: 'day', retryAfterSeconds: 5, message: 'Wait.' },
      rate: { limit: 60, remaining: 0, resetAtMs: 1_800_000_000_000 },
    },
  },
  {
    target: `/v1/pets?key=${SECRET}`,
    record: record({
      requestFields: ['Cookie', 'session=abc', 'X-Plain', 'caf\xe9'],
      requestBody: { chunks: [`{"secret":"${SECRET}"}`], bytes: 50 },
      responseFields: ['Content-Encoding', 'gzip', 'Content-Type', 'application/json'],
      responseBody: { chunks: [gzipSync(`{"token":"${SECRET}","name":"Mimi"}`)], bytes: 90 },
    }),
  },
  {
    record: record({
      responseFields: ['Content-Encoding', 'gzip'],
      // Compressed twice, so the result of unpacking could be unpacked again.
      responseBody: { chunks: [gzipSync(gzipSync('[]'))], bytes: 60 },
    }),
  },
  {
    record: record({
      requestBody: { chunks: [Buffer.from([0xff, 0, 0x80])], bytes: 70_000 },
      responseBody: { chunks: ['a\nb'], bytes: 99 },
      handedMs: 1.2349,
      firstByteMs: 9.4449,
      frames: {
        total: 9,
        newest: [
          frame({}),
          frame({ opcode: 2, from: 'upstream', payload: Buffer.from([0xfe]), bytes: 2_000 }),
          frame({ opcode: 8, payload: Buffer.from(`token=${SECRET}`), bytes: 42 }),
          frame({ opcode: 11, compressed: true }),
        ],
      },
    }),
  },
];

describe('stored traffic', () => {
  it('is shown, filtered and exported unchanged', async () => {
    const ids = createEntryIds(10);
    const presentation = presentationOf(ids);
    const entries = KINDS.map((kind, index) => entry({ ...kind, number: 2 * index + 3, durationMs: 12.3456 }));
    const { content, entries: count } = await writeStored(entries.toReversed(), presentation);
    expect(count).toBe(KINDS.length);
    const restored = await readStored(content);
    const again = restored.map((each) => each.entry);
    const both = [entries, again].map((all) => all.map((each) => presentDetail(each, presentation)));
    expect(both[1]).toEqual(both[0]);
    // A connection of another run has no number of this one.
    expect(again.map(({ connection, place }) => [connection, place])).toEqual(entries.map(() => [-1, 1]));
    expect(restored.map(({ id }) => id)).toEqual(both[0]?.map(({ id }) => id));
    expect(await toHar(again, REDACTOR)).toEqual(await toHar(entries, REDACTOR));
    // Stored again, it is the same, byte for byte.
    expect((await writeStored(again.toReversed(), presentation)).content).toEqual(content);
  });

  it('has no secret, so a request that had one can’t be sent again', async () => {
    const { storage, take, shown } = setUp();
    const secrets = [
      { target: `/v1/pets?key=${SECRET}` },
      { record: capturedRecord({ requestFields: ['Cookie', 'session=Zm9vYmFy'] }) },
      { record: capturedRecord({ requestBody: { chunks: ['{"password":"Zm9vYmFy"}'], bytes: 23 } }) },
      { keyId: null },
    ];
    for (const changes of [...secrets, {}]) take(changes);
    const { content } = await storage.write();
    const text = (await promisify(zstdDecompress)(content)).toString('latin1');
    expect(text).not.toMatch(/Zm9vYmFy|secretsecret|EFGH/);
    const entries = (await storage.read(content)).map((each) => each.entry);
    const refused = entries.map((each) => replayRefusal(each, {})?.includes('keeps no secrets') ?? false);
    expect(refused).toEqual([...secrets.map(() => true), false]);
    const [last] = entries.slice(-1);
    const request = last && replayRequest(last, {}, 'internal', REDACTOR);
    expect(request?.headers).toContainEqual(['Authorization', 'Bearer internal']);
    expect(shown()).toHaveLength(5);
  });

  it('keeps 10,000 entries, and repeated bodies once', async () => {
    const page = 'p'.repeat(2_000);
    const { storage, take, recorder } = setUp();
    const numbers = () => [...recorder.newestFirst()].map(({ number }) => number);
    const target = { kind: 'api' } as const;
    const routeTo = (projectId: string) => ({ route: { projectId, environment: 'production' as const, target } });
    for (let index = 0; index < 50; index++) take(routeTo('prj_quiet'));
    for (let index = 0; index < ENTRIES_MAX; index++) {
      take({ record: capturedRecord({ responseBody: { chunks: [page], bytes: page.length } }) });
    }
    const before = numbers();
    const { content, entries } = await storage.write();
    expect([entries, content.length < 2 ** 20]).toEqual([ENTRIES_MAX + 50, true]);
    storage.restore(await storage.read(content));
    expect([numbers(), recorder.dropped()]).toEqual([before, 0]);
    take();
    expect([recorder.size(), recorder.dropped()]).toEqual([ENTRIES_MAX + 50, 1]);
    // Restored entries make room first, except those of a project's share.
    for (let index = 0; index < ENTRIES_MAX; index++) take(routeTo('prj_b'));
    expect([recorder.size(), recorder.dropped('prj_demo')]).toEqual([ENTRIES_MAX + 150, ENTRIES_MAX + 1 - 100]);
    expect([...recorder.newestFirst()].at(-51)?.record.responseBody.bytes).toBe(page.length);
  });

  it('leaves out the oldest beyond its size', async () => {
    const body = (seed: number) => ({ chunks: [`${seed} `.repeat(9_000).slice(0, 60_000)], bytes: 60_000 });
    const presentation = presentationOf(createEntryIds(0), null);
    const entries = (function* () {
      for (let number = 900; number > 0; number--) {
        yield entry({ number, record: record({ responseBody: body(100_000 + number) }) });
      }
    })();
    const stored = await writeStored(entries, presentation);
    const restored = await readStored(stored.content);
    expect(stored.entries).toBeGreaterThan(STORED_BYTES_MAX / 70_000);
    const numbers = restored.map(({ entry: { number } }) => number);
    expect(numbers).toEqual(Array.from({ length: stored.entries }, (_, index) => 901 - stored.entries + index));
    expect(numbers[0]).toBeGreaterThan(1);
  });
});

describe('restored traffic', () => {
  it('has the ids of its run, also in another one, and later entries have new ones', async () => {
    const first = setUp(1_000);
    for (const begun of [null, 4, null]) first.take({ begun });
    const was = first.shownIds();
    expect(was).toEqual(['trf_rs_3', 'trf_rs_r4', 'trf_rs_1']);
    const { content } = await first.storage.write();

    const other = setUp(2_000);
    for (let index = 0; index < 10; index++) other.take({ begun: index === 0 ? 4 : null });
    const gone = other.shownIds();
    other.storage.restore(await other.storage.read(content));
    expect(other.shownIds()).toEqual(was);
    other.take({ begun: 4 });
    other.take();
    const [after, listed] = other.shownIds();
    expect([...gone, ...was]).not.toContain(after);
    expect([...gone, ...was]).not.toContain(listed);
    expect(Number(after?.split('_')[2])).toBe(5);
    const numberOf = (id: string) => {
      const begun = other.ids.begunOf(id);
      return begun === null ? other.ids.numberOf(id) : other.recorder.numberOf(begun);
    };
    expect([after ?? '', listed ?? '', ...was].map(numberOf)).toEqual([5, 4, 3, 2, 1]);
    expect(gone.map(numberOf).filter((number) => number !== null)).toEqual([]);
    expect(other.recorder.get(2)?.begun).toBe(4);

    // A snapshot of both runs, restored in the first.
    const both = other.shownIds();
    first.storage.restore(await first.storage.read((await other.storage.write()).content));
    expect(first.shownIds()).toEqual(both);
  });

  it('replaces the present entries: watchers are notified, and readers end', async () => {
    const { storage, recorder, take, clock } = setUp();
    take();
    take();
    const { content } = await storage.write();
    take();
    const controller = new AbortController();
    const news = recorder.watch(() => true, controller.signal);
    const next = news.next();
    const reading = [recorder.newestFirst(), recorder.oldestFirst(2)];
    expect(reading.map((entries) => entries.next().value?.number)).toEqual([3, 3]);
    storage.restore(await storage.read(content));
    expect(reading.map((entries) => [...entries].map(({ number }) => number))).toEqual([[], []]);
    await clock.pass(100);
    expect((await next).value).toEqual({ entries: [], missed: 2, cleared: true });
    controller.abort();
    expect(recorder.clear()).toBe(2);
    storage.restore([]);
    take();
    expect(recorder.size()).toBe(1);
  });
});

describe('an invalid member', () => {
  const presentation = presentationOf(createEntryIds(0), null);
  /** The text with this changed in each line. */
  const edit = (from: string, to: string) => (all: string[]) => all.map((each) => each.replace(from, to));
  const lines = async () => {
    const { content } = await writeStored([entry({ number: 2 }), entry({ number: 1 })], presentation);
    return (await promisify(zstdDecompress)(content)).toString().split('\n');
  };
  const packed = (all: readonly string[]) => promisify(zstdCompress)(Buffer.from(all.join('\n')));

  it.each<[string, (all: string[]) => string[], RegExp]>([
    ['of a newer form', ([, ...rest]) => ['{"form":2}', ...rest], /newer Vivarium; update/],
    ['without a form', (all) => all.slice(1), /damaged/],
    ['empty', () => [], /damaged/],
    ['not JSON', (all) => [...all.slice(0, 4), '{', ''], /damaged/],
    ['cut off', (all) => [...all.slice(0, -2), ''], /damaged/],
    ['out of order', (all) => [...all.slice(0, -3), ...all.slice(-3, -1).reverse(), ''], /damaged/],
    ['with a wrong type', edit('"status":200', '"status":"x"'), /damaged/],
    ['with a wrong upstream', edit('"detail":{', '"detail":{"upstream":"x",'), /damaged/],
    ['with a foreign id', edit('trf_0_2', 'trf'), /damaged/],
    ['with a body too few', edit('"responseText":0', '"responseText":1'), /damaged/],
    ['too long', edit('"[]"', `"${'x'.repeat(STORED_BYTES_MAX * 1.1)}"`), /damaged/],
    ['of too many', edit('"entries":2', '"entries":20000'), /damaged/],
  ])('%s is refused', async (_, change, message) => {
    await expect(readStored(await packed(change(await lines())))).rejects.toThrow(message);
  });

  it('is refused without compression', async () => {
    await expect(readStored(Buffer.from('{"form":1}\n'))).rejects.toThrow('its recorded traffic is damaged');
  });
});
