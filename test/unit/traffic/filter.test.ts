import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { completeFilter, readFilter, matches } from '../../../main/contract/traffic-filter.ts';
import { type Entry, MATCHED } from '../../../main/traffic/entry.ts';
import { ENTRIES_MAX } from '../../../main/traffic/entry-log.ts';
import { createRecorder } from '../../../main/traffic/recorder.ts';
import { createSearch } from '../../../main/traffic/search.ts';
import { capturedRecord, entry, exchange, record, REDACTOR } from '../../support/traffic-entries.ts';

const CONTEXT = {
  ...MATCHED,
  idOf: ({ number }: Entry) => `trf_a_${number}`,
  nameOf: (keyId: string) => (keyId === 'key_demo' ? 'Demo key' : null),
  search: createSearch(REDACTOR, { once: false }),
};

const REFUSED = {
  refusal: { code: 'rate_limit_exceeded' as const, retryAfterSeconds: 7, message: 'Used up.' },
  rate: { limit: 60, remaining: 0, resetAtMs: 1 },
};

/** Records of a request or a response with a body. */
const body = (...chunks: (string | Buffer)[]) => ({ chunks, bytes: Buffer.byteLength(chunks.join('')) });
const answered = (...chunks: (string | Buffer)[]) => ({ record: record({ responseBody: body(...chunks) }) });
const GZIPPED = record({
  responseFields: ['Content-Encoding', 'gzip'],
  responseBody: { chunks: [gzipSync('it was packed')], bytes: 33 },
});

const PROVIDER: Parameters<typeof entry>[0] = {
  route: { projectId: 'prj_1', environment: 'production', target: { kind: 'provider', provider: 'vercel' } },
  stage: 'break',
};
const at = (target: string) => ({ target: `/v1/${target}` });

/** Began at 10:00:05 of real time, and took two seconds. */
const AT_TEN = { realAtMs: Date.UTC(2026, 10, 22, 10, 0, 5), durationMs: 2_000 };

describe('a filter', () => {
  it.each<[text: string, changes: Parameters<typeof entry>[0], fits: boolean]>([
    ['', {}, true],
    ['method:get', {}, true],
    ['method:POST,GET', {}, true],
    ['-method:get', {}, false],
    ['status:2xx', {}, true],
    ['status:200', {}, true],
    ['status:>=400', {}, false],
    ['status:>=200', {}, true],
    ['status:>200', {}, false],
    ['status:<=200', {}, true],
    ['status:<200', {}, false],
    ['status:<300', {}, true],
    ['status:4xx,2xx', {}, true],
    ['status:none', {}, false],
    ['status:none', { status: null }, true],
    ['status:2xx', { status: null }, false],
    ['host:demo', {}, true],
    ['host:shop', {}, false],
    ['path:/v1/pets', {}, true],
    ['path:"limit=20"', {}, true],
    ['header:demo.vivarium', {}, true],
    ['header:"content-type: application"', {}, true],
    ['header:text/html', {}, false],
    ['header:viv_secr', {}, true],
    // A redacted value cannot be guessed piece by piece.
    ['header:viv_secretsecret', {}, false],
    ['body:BISCUIT', answered('{"name":"Biscuit"}'), true],
    ['body:biscuit', { record: record({ requestBody: body('Bis', Buffer.from('cuit')) }) }, true],
    ['body:grün', answered(Buffer.from('grün')), true],
    ['body:packed', { record: GZIPPED }, true],
    ['-body:biscuit', {}, true],
    ['key:key_demo', {}, true],
    ['key:demo', {}, true],
    ['key:other', {}, false],
    ['key:none', { keyId: null }, true],
    ['address:127.0.0.1', {}, true],
    ['address:127.0.0', {}, false],
    ['stage:target', {}, true],
    ['stage:api', {}, true],
    ['stage:upstream', {}, false],
    ['stage:api', { stage: 'limit' }, false],
    ['stage:route', {}, false],
    ['environment:staging', {}, false],
    ['scheme:https', {}, false],
    ['since:2026-11-22T10:00:00Z until:2026-11-22T10:00:05.001z', AT_TEN, true],
    ['since:2026-11-22T10:00:07Z', AT_TEN, true],
    ['since:2026-11-22T10:00:07.001Z', AT_TEN, false],
    ['until:2026-11-22T11:00:05+01:00', AT_TEN, false],
    ['since:2026-11-22 until:2026-11-23', AT_TEN, true],
    ['took:>10ms', {}, true],
    ['took:>1s', {}, false],
    ['took:<0.02s', {}, true],
    ['took:>=12', {}, true],
    ['is:refused', {}, false],
    ['is:refused', { decision: REFUSED, status: 429 }, true],
    ['is:failed', { status: 502 }, true],
    ['is:failed', {}, false],
    ['is:aborted', { aborted: true }, true],
    ['is:websocket', { status: 101 }, true],
    ['is:replay', { replayOf: 3 }, true],
    ['is:provider', {}, false],
    ['is:provider', PROVIDER, true],
    ['pets 200', {}, true],
    ['pets -200', {}, false],
    ['"limit=20"', {}, true],
    ['"status:2xx"', {}, false],
    ['"sttus:4xx"', at('pets?q=sttus:4xx'), true],
    ['-"sttus:4xx"', at('pets?q=sttus:4xx'), false],
    ['"a b"', at('pets?q=a b'), true],
    ['"-x"', at('pets-x'), true],
    ['http://x', at('pets?next=http://x/y'), true],
    ['HTTPS://X', at('pets?next=https://x/y'), true],
    ['a:b', at('a:b'), true],
    ['/pets:batch', at('pets:batch'), true],
    ['demo.vivarium.localhost:80', { authority: 'demo.vivarium.localhost:8080' }, true],
    ['localhost:8080', { authority: 'localhost:8080' }, true],
    ['[::1]:8080', { authority: '[::1]:8080' }, true],
    ['127.0.0.1:8080', { authority: '127.0.0.1:8080' }, true],
    ['2026-11-20T09:00', at('pets?since=2026-11-20T09:00'), true],
    ['path:http://x', at('pets?next=http://x'), true],
    ['path:pets:batch', at('pets:batch'), true],
    ['""', {}, true],
    ['id:trf_a_1', {}, true],
    ['id:trf_a_2,TRF_A_1', {}, true],
    ['id:trf_a_12', {}, false],
    ['method:get status:5xx', {}, false],
  ])('%s of %o: %s', (text, changes, fits) => {
    const read = readFilter(text);
    if (!read.ok) throw new Error(read.message);
    expect(matches(entry(changes), read.terms, CONTEXT)).toBe(fits);
  });

  const NO_FIELD = 'is not a field. Did you mean';
  const QUOTE = 'To search for it as text, put it in quotes:';
  it.each([
    ['status:6xx', 'status:6xx is not valid; use 429, 4xx, >=500'],
    ['status:', 'status: needs a value: 429, 4xx, >=500'],
    [
      'stage:cache',
      'stage:cache is not valid; use one of listener, authority, route, redirect, identify, limit, break, target, api, provider, upstream',
    ],
    ['since:10:30', expect.stringMatching(/^since:10:30 is not valid; use a real time: 2026-/)],
    ['until:2026-13-40', expect.stringContaining('is not valid')],
    ['took:fast', 'took:fast is not valid; use >100ms, <2s'],
    ['is:slow', 'is:slow is not valid; use one of refused, failed, replay, websocket, provider, aborted'],
    ['sttus:4xx', `sttus: ${NO_FIELD} "status"? ${QUOTE} "sttus:4xx"`],
    ['-Methd:get', `methd: ${NO_FIELD} "method"? ${QUOTE} "Methd:get"`],
    ['st:4xx', `st: ${NO_FIELD} "stage" or "status"? ${QUOTE} "st:4xx"`],
    [
      'unknown:"two words"',
      `unknown: is not a field; use one of method, status, host, path, header, body, key, address, stage, environment, scheme, took, since, until, id, is. ${QUOTE} "unknown:two words"`,
    ],
    ['sttus:', `sttus: ${NO_FIELD} "status"? ${QUOTE} "sttus:"`],
    ['pets mailto:x', expect.stringContaining('mailto: is not a field')],
    ['x '.repeat(31), 'must have at most 30 terms'],
  ])('%s is refused with an explanation', (text, message) => {
    expect(readFilter(text)).toEqual({ ok: false, message });
  });
});

it.each([
  ['st', ['status:', 'stage:']],
  ['status:4', ['status:4xx', 'status:401', 'status:404', 'status:429']],
  ['method:GET status:4xx,5', ['method:GET status:4xx,5xx']],
  ['-is:re', ['-is:refused', '-is:replay']],
  ['host:sh', ['host:shop.acme.test']],
  ['host:shop.acme.test', []],
  ['nothing:x', []],
])('the completion of the filter %s', (text, texts) => {
  const offered = completeFilter(text, { host: ['demo.vivarium.localhost', 'shop.acme.test'] });
  expect(offered.map((completion) => completion.text)).toEqual(texts);
});

it('a search finds the same whether or not equal bodies are searched once', () => {
  const recorder = createRecorder(createClock(), { onChanged: () => undefined });
  for (let count = 0; count < ENTRIES_MAX; count++) {
    const text = `${count % 7} ${'x'.repeat(2_000)}`;
    recorder.take(exchange({ record: capturedRecord({ responseBody: { chunks: [text], bytes: text.length } }) }));
  }
  const found = (once: boolean) => {
    const search = createSearch(REDACTOR, { once });
    return [...recorder.newestFirst()].filter((entry) => search.hasBody(entry, '3 x')).map(({ number }) => number);
  };
  expect(found(true)).toHaveLength(Math.floor((ENTRIES_MAX + 3) / 7));
  expect(found(true)).toEqual(found(false));
});
