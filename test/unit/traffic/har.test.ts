import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toHar } from '../../../main/traffic/har.ts';
import { entry, record, REDACTOR } from '../../support/traffic-entries.ts';

const count = z.int().min(-1);
const field = z.looseObject({ name: z.string(), value: z.string() });
const message = { httpVersion: z.string(), headers: z.array(field), headersSize: count, bodySize: count };
const cookie = field.extend({ expires: z.iso.datetime({ offset: true }).nullish(), secure: z.boolean().optional() });
const milliseconds = z.number().min(-1);

/** A log as HAR 1.2 has it (http://www.softwareishard.com/blog/har-12-spec): its required properties and their types. */
const har = z.looseObject({
  version: z.literal('1.2'),
  creator: z.looseObject({ name: z.string(), version: z.string() }),
  entries: z.array(
    z.looseObject({
      startedDateTime: z.iso.datetime({ offset: true }),
      time: z.number().min(0),
      request: z.looseObject({
        ...message,
        method: z.string(),
        url: z.url(),
        cookies: z.array(cookie),
        queryString: z.array(field),
        postData: z.looseObject({ mimeType: z.string(), text: z.string() }).optional(),
      }),
      response: z.looseObject({
        ...message,
        status: z.int(),
        statusText: z.string(),
        cookies: z.array(cookie),
        content: z.looseObject({ size: z.int(), mimeType: z.string(), text: z.string().optional() }),
        redirectURL: z.string(),
      }),
      cache: z.looseObject({}),
      timings: z.looseObject({ send: milliseconds, wait: milliseconds, receive: milliseconds }),
    }),
  ),
});
const faultsOf = (log: unknown): string[] =>
  (har.safeParse(log).error?.issues ?? []).map(({ path, message: why }) => `${path.join('.')} ${why}`);
const body = (text: string | Buffer) => ({ chunks: [text], bytes: Buffer.byteLength(text) });

interface Archived {
  time: number;
  timings: Record<string, number>;
  request: { url: string; queryString: unknown; headers: unknown };
  response: object;
}
const archive = async (...kept: Parameters<typeof entry>[0][]) =>
  ((await toHar(kept.map(entry), REDACTOR)) as { entries: Archived[] }).entries;
const PSEUDO = [':method', 'GET', 'accept', '*/*'];

describe('an archive of traffic', () => {
  it.each<[string, Parameters<typeof entry>[0]]>([
    ['a plain request', {}],
    ['one with a body', { method: 'POST', record: record({ requestBody: body('{"name":"Rex"}') }) }],
    [
      'bytes that are not text',
      { record: record({ requestBody: body(Buffer.from([0xff, 0])), responseBody: body(Buffer.from([0xff])) }) },
    ],
    [
      'a client that disconnected',
      {
        status: null,
        aborted: true,
        record: record({ responseFields: [], firstByteMs: null, responseBody: body('') }),
      },
    ],
    ['a request without a Host', { authority: null, route: null, stage: 'authority', status: 400 }],
    ['HTTP/2 with pseudo header fields', { httpVersion: '2.0', record: record({ requestFields: PSEUDO }) }],
    [
      'a secret in a query, and characters that a URL must not contain',
      { target: '/v1/pets?key=viv_0123456789abcdef&q=<é "|> ^`{}' },
    ],
    ['a redirect', { status: 301, record: record({ responseFields: ['Location', 'https://www.acme.test/'] }) }],
    ['a WebSocket', { status: 101, durationMs: 90_000.5 }],
  ])('fits HAR 1.2 with %s', async (_name, changes) => {
    expect(faultsOf(await toHar([entry(changes)], REDACTOR))).toEqual([]);
  });

  it('is valid without entries, too; and the schema does not accept everything', async () => {
    expect(faultsOf(await toHar([], REDACTOR))).toEqual([]);
    expect(faultsOf({ ...(await toHar([], REDACTOR)), creator: {} })).not.toEqual([]);
  });

  it('has timings that add up to the time, and no pseudo header fields', async () => {
    const kept = record({ requestFields: PSEUDO, firstByteMs: 10 });
    const [only] = await archive({ httpVersion: '2.0', durationMs: 12.5, record: kept });
    expect(only).toMatchObject({ time: 12.5, timings: { send: 0, wait: 10, receive: 2.5 } });
    expect(only?.request.headers).toEqual([{ name: 'accept', value: '*/*' }]);
  });

  it('has readable addresses', async () => {
    const entries = await archive({ target: '/a é' }, { number: 2, target: '/b?x=a%20b' });
    expect(entries.map(({ request }) => request.url)).toEqual([
      'http://demo.vivarium.localhost:8080/a%20%C3%A9',
      'http://demo.vivarium.localhost:8080/b?x=a%20b',
    ]);
    expect(entries[1]?.request.queryString).toEqual([{ name: 'x', value: 'a b' }]);
  });

  it('has both messages, with their bodies', async () => {
    const [posted] = await archive({ method: 'POST', record: record({ requestBody: body('{}') }) });
    const postData = { mimeType: 'application/octet-stream', text: '{}' };
    expect(posted?.request).toMatchObject({ method: 'POST', httpVersion: 'HTTP/1.1', postData });
    const content = { size: 2, mimeType: 'application/json', text: '[]' };
    expect(posted?.response).toMatchObject({ status: 200, content });
  });

  it('is created in turns', async () => {
    let turns = 0;
    const large = entry({ record: record({ responseBody: body('x'.repeat(64 * 1024)) }) });
    function* counted() {
      for (let count = 0; count < 40; count++) {
        setImmediate(() => (turns += 1));
        yield large;
      }
    }
    await toHar(counted(), REDACTOR);
    expect(turns).toBeGreaterThan(20);
  });
});
