// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { toHar } from '../../../../../../main/traffic/har.ts';
import { ArchiveLog } from '../../../../../../renderer/pages/traffic/archive/archive-log.svelte.ts';
import { openArchive } from '../../../../../../renderer/pages/traffic/archive/har-reader.ts';
import { createFakeClock, settle } from '../../../../../support/fake-clock.ts';
import { entry, record, REDACTOR } from '../../../../../support/traffic-entries.ts';

const fileOf = (content: string | object, name = 'capture.har'): File =>
  new File([typeof content === 'string' ? content : JSON.stringify(content)], name);

const read = (...entries: unknown[]) => openArchive(fileOf(log(...entries)));

const harEntry = (rest: object = {}, request: object = {}) => ({
  startedDateTime: '2026-11-20T09:00:00.000+01:00',
  time: 12.5,
  timings: { send: 0, wait: 10, receive: 2.5 },
  request: {
    method: 'POST',
    url: 'https://api.example.test:8443/v1/pets?x=1#y',
    httpVersion: 'h2',
    headers: [{ name: ':path', value: '/' }, { name: 'Accept', value: '*/*' }, 'odd'],
    postData: { mimeType: 'application/json', text: '{"name":"Réx"}' },
    bodySize: -1,
    ...request,
  },
  response: {
    status: 201,
    httpVersion: 'HTTP/2',
    headers: [{ name: 'Content-Type', value: 'application/json' }],
    content: { size: 12, text: Buffer.from('{"id":"é"}').toString('base64'), encoding: 'base64' },
  },
  ...rest,
});

const log = (...entries: unknown[]) => ({ log: { version: '1.2', pages: [{ title: '"entries":[' }], entries } });

describe('a HAR file', () => {
  it('is read as entries, newest first, with Vivarium’s own fields left empty', async () => {
    const older = harEntry({ startedDateTime: '2026-11-20T07:00:00.000Z', response: { status: 0 } });
    const { entries, left, name } = await read(older, harEntry());
    expect([name, left]).toEqual(['capture.har', undefined]);
    expect(entries).toMatchObject([{ id: 'har_2' }, { id: 'har_1', status: null }]);
    expect(entries[0]).toMatchObject({
      status: 201,
      at: '2026-11-20T08:00:00.000Z',
      method: 'POST',
      target: '/v1/pets?x=1',
      scheme: 'https',
      httpVersion: '2.0',
      authority: 'api.example.test:8443',
      durationMs: 12.5,
      firstByteMs: 10,
      requestHeaders: [{ name: 'Accept', value: '*/*' }],
      requestBody: { text: '{"name":"Réx"}', encoding: 'utf8', cut: false },
      responseBody: { text: '{"id":"é"}', encoding: 'utf8', cut: false },
      responseBytes: 12,
    });
  });

  it('of Vivarium is read unchanged', async () => {
    const responseBody = { chunks: [Buffer.from([0xff, 0x00, 0xfe])], bytes: 3 };
    const request = { method: 'PUT', target: '/v1/pets/1' };
    const kept = entry({ ...request, record: record({ responseBody }) });
    const { entries } = await openArchive(fileOf({ log: await toHar([kept], REDACTOR) }));
    expect(entries).toMatchObject([{ ...request, responseBody: { text: '/wD+', encoding: 'base64', bytes: 3 } }]);
  });

  it('of Vivarium marks what a break struck, and nothing else does', async () => {
    const fault = { entry: 'api.unavailable', breakId: 'brk_1' };
    const { entries } = await openArchive(fileOf({ log: await toHar([entry({ fault })], REDACTOR) }));
    expect(entries).toMatchObject([{ fault }]);
    const others = [7, {}, { entry: 7 }].map((_fault) => ({ ...harEntry(), _fault }));
    const strange = await read(...others);
    expect(strange.entries.map((each) => each.fault)).toEqual([undefined, undefined, undefined]);
  });

  it('has form parameters, broken base64 as text, and long bodies cut off', async () => {
    const params = [{ name: 'a b', value: 'ä' }, { name: 'c' }];
    const answered = (content: object) => harEntry({ response: { status: 200, content } });
    const { entries } = await read(
      harEntry({}, { postData: { mimeType: 'application/x-www-form-urlencoded', params } }),
      answered({ text: 'no base64!', encoding: 'base64' }),
      answered({ text: 'x'.repeat(10_000_000), size: 10_000_000 }),
    );
    const [form, broken, long] = entries;
    expect(form?.requestBody?.text).toBe('a+b=%C3%A4&c=');
    expect(broken?.responseBody).toMatchObject({ text: 'no base64!', encoding: 'utf8' });
    expect(long?.responseBody).toMatchObject({ text: 'x'.repeat(65_536), bytes: 10_000_000, cut: true });
  });

  it('omits what cannot be shown, and quotes the first of it', async () => {
    const data = harEntry({}, { url: 'data:text/html,x' });
    const { entries, left } = await read(harEntry(), data, { startedDateTime: '' }, harEntry());
    expect([entries.length, left?.count]).toEqual([2, 2]);
    expect(left?.reason).toMatch(
      /^entry 2 has no HTTP address as request.url \(data:text\/html,x\): \{"startedDateTime/,
    );
    const cut = await read(...Array.from({ length: 10_003 }, () => harEntry()));
    expect(cut.entries).toHaveLength(10_000);
    expect(cut.left).toEqual({ count: 3, reason: 'a list has 10,000 entries at most.' });
  });

  it.each([
    ['', 'It is empty.'],
    ['<html>', 'It is not a HAR file: it must begin with {"log": …, but begins with <html>'],
    ['{"log":{"pages":[]}}', 'It is not a HAR file: it has no list "entries" in an object "log".'],
    ['{"data":{"entries":[{}]}}', 'it has no list "entries" in an object "log"'],
    ['{"log":{"entries":{}}}', 'it has no list "entries" in an object "log"'],
    ['{"log":{"entries":[]}}', 'Its log has no entries.'],
    ['{"log":{"entries":[{"request":{"method":"GET', 'It ends in the middle of an entry: {"request":{"method":"GET'],
    [
      '{"log":{"entries":[{"request": 5}]}}',
      'None of its entries can be shown: entry 1 has no request: {"request": 5}',
    ],
    ['{"log":{"entries":[{nope}]}}', 'None of its entries can be shown: entry 1 is not JSON ('],
    ['\xff', 'not UTF-8'],
  ])('that is invalid is refused with the reason: %j', async (text, message) => {
    const file = text === '\xff' ? new File([Uint8Array.of(0xff)], 'x.har') : fileOf(text);
    await expect(openArchive(file)).rejects.toThrow(message);
  });

  it('that is too large is refused before it is read', async () => {
    const file = { name: 'huge.har', size: 200_000_000 } as File;
    await expect(openArchive(file)).rejects.toThrow('huge.har has 200 MB; a file of up to 64 MiB can be opened.');
  });
});

it('the entries of a HAR file are filtered like recorded ones', async () => {
  const archive = await read(
    harEntry(),
    harEntry({ response: { status: 500 } }, { method: 'GET', url: 'http://b.test/x' }),
    harEntry({ response: { status: 429 } }, { method: 'GET', url: 'http://c.test/' }),
  );
  const list = new ArchiveLog(archive, createFakeClock());
  for (const [filter, ids] of [
    ['method:post', 'har_1'],
    ['status:5xx host:b.test', 'har_2'],
    ['body:RÉX', 'har_1 har_2 har_3'],
    ['header:application/json', 'har_1'],
    ['-is:failed took:>10ms', 'har_1 har_3'],
    ['key:none example', 'har_1'],
    ['is:refused', 'har_3'],
    ['is:replay', ''],
    ['', 'har_1 har_2 har_3'],
  ] as const) {
    const narrowing = list.narrow(filter);
    await settle();
    await narrowing;
    expect(list.entries.map(({ id }) => id).toSorted(), filter).toEqual(ids.split(' ').filter(Boolean));
  }
});
