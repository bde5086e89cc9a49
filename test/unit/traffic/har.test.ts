import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { toHar } from '../../../main/traffic/har.ts';
import { entry, record, REDACTOR } from '../../support/traffic-entries.ts';

const require = createRequire(import.meta.url);

/** The archive format's own schema (HAR 1.2), written for an older draft of JSON Schema. */
function createValidator() {
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addMetaSchema(require('ajv/dist/refs/json-schema-draft-06.json') as object);
  for (const schema of Object.values(require('har-schema') as Record<string, object>)) ajv.addSchema(schema);
  const validate = ajv.getSchema('har.json');
  if (validate === undefined) throw new Error('har-schema has no schema of that name any more.');
  return (log: unknown): string[] => {
    void validate({ log });
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

const faultsOf = createValidator();
const body = (text: string | Buffer) => ({ chunks: [text], bytes: Buffer.byteLength(text) });

describe('an archive of traffic', () => {
  it.each([
    ['a plain request', entry()],
    ['one with a body', entry({ method: 'POST', record: record({ requestBody: body('{"name":"Rex"}') }) })],
    [
      'bytes that are not text',
      entry({ record: record({ requestBody: body(Buffer.from([0xff, 0])), responseBody: body(Buffer.from([0xff])) }) }),
    ],
    [
      'a client that disconnected',
      entry({
        status: null,
        aborted: true,
        record: record({ responseFields: [], firstByteMs: null, responseBody: { chunks: [], bytes: 0 } }),
      }),
    ],
    ['a request without a Host', entry({ authority: null, route: null, stage: 'authority', status: 400 })],
    [
      'HTTP/2 with pseudo header fields',
      entry({ httpVersion: '2.0', record: record({ requestFields: [':method', 'GET', 'accept', '*/*'] }) }),
    ],
    [
      'a secret in a query, and characters that a URL must not contain',
      entry({ target: '/v1/pets?key=viv_0123456789abcdef&q=<é "|> ^`{}' }),
    ],
    ['a redirect', entry({ status: 301, record: record({ responseFields: ['Location', 'https://www.acme.test/'] }) })],
    ['a WebSocket', entry({ status: 101, durationMs: 90_000.5 })],
  ])('fits the schema of HAR 1.2 with %s', async (_name, kept) => {
    expect(faultsOf(await toHar([kept], REDACTOR))).toEqual([]);
  });

  it('is valid without entries, too; and the schema does not accept everything', async () => {
    expect(faultsOf(await toHar([], REDACTOR))).toEqual([]);
    expect(faultsOf({ ...(await toHar([], REDACTOR)), creator: {} })).not.toEqual([]);
  });

  it('has timings that add up to the time, and no pseudo header fields', async () => {
    const requestFields = [':method', 'GET', 'accept', '*/*'];
    const kept = entry({ httpVersion: '2.0', durationMs: 12.5, record: record({ requestFields, firstByteMs: 10 }) });
    const { entries } = (await toHar([kept], REDACTOR)) as {
      entries: { time: number; timings: Record<string, number>; request: { headers: unknown } }[];
    };
    expect(entries[0]).toMatchObject({ time: 12.5, timings: { send: 0, wait: 10, receive: 2.5 } });
    expect(entries[0]?.request.headers).toEqual([{ name: 'accept', value: '*/*' }]);
  });

  it('has readable addresses', async () => {
    const { entries } = (await toHar(
      [entry({ target: '/a é' }), entry({ number: 2, target: '/b?x=a%20b' })],
      REDACTOR,
    )) as {
      entries: { request: { url: string; queryString: unknown } }[];
    };
    expect(entries.map(({ request }) => request.url)).toEqual([
      'http://demo.vivarium.localhost:8080/a%20%C3%A9',
      'http://demo.vivarium.localhost:8080/b?x=a%20b',
    ]);
    expect(entries[1]?.request.queryString).toEqual([{ name: 'x', value: 'a b' }]);
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
