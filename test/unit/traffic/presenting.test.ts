import { describe, expect, it } from 'vitest';
import { toHar } from '../../../main/traffic/har.ts';
import { createEntryIds } from '../../../main/traffic/entry.ts';
import { presentDetail } from '../../../main/traffic/present.ts';
import { entry, presentationOf, record, REDACTOR } from '../../support/traffic-entries.ts';

/** The run that began at 10 ms. */
const ids = createEntryIds(10);
const presentation = presentationOf(ids);
const detailOf = (...of: Parameters<typeof entry>) => presentDetail(entry(...of), presentation);

const UPSTREAM = {
  projectId: 'p',
  environment: 'production',
  target: { kind: 'upstream', url: 'http://127.0.0.1:3000/x' },
} as const;

const refusedIn = (window?: 'minute' | 'day') => ({
  rate: { limit: 60, remaining: 0, resetAtMs: 1_800_000_000_000 },
  refusal: {
    code: window === undefined ? ('api_key_banned' as const) : ('rate_limit_exceeded' as const),
    ...(window !== undefined && { window }),
    retryAfterSeconds: 5,
    message: 'Wait until 2027-01-15T08:00:00.000Z.',
  },
});

const SECRET = 'viv_abcdEFGHijklMNOPqrstUVWXyz012345';

describe('secrets', () => {
  it.each([
    ['Authorization', `Bearer ${SECRET}`, 'Bearer viv_abcd…'],
    ['authorization', 'Basic dXNlcjpwYXNz', 'Basic …'],
    ['Authorization', 'justatoken', '…'],
    ['Proxy-Authorization', 'Bearer x', 'Bearer …'],
    ['Cookie', 'session=abc; theme=dark', 'session=…; theme=…'],
    ['Set-Cookie', 'session=abc; Path=/; HttpOnly', 'session=…; Path=/; HttpOnly'],
    ['X-API-Key', 'abc', '…'],
    ['X-Auth-Token', 'abc', '…'],
    ['X-CSRF-Token', 'abc', '…'],
    ['Sec-WebSocket-Key', 'abc', '…'],
    ['Accept', 'application/json', 'application/json'],
    ['Referer', `http://demo.test/?key=${SECRET}&x`, 'http://demo.test/?key=viv_abcd…&x'],
    ['Location', `/next?key=${SECRET}`, '/next?key=viv_abcd…'],
  ])('of %s: %s is shown as %s', (name, value, shown) => {
    expect(REDACTOR.fields([name, value])).toEqual([{ name, value: shown }]);
  });

  it('do not appear anywhere in an entry', async () => {
    const requestFields = ['Authorization', `Bearer ${SECRET}`];
    const requestBody = { chunks: [`{"secret":"${SECRET}"}`], bytes: 50 };
    const text = JSON.stringify([
      detailOf({ target: `/v1/pets?key=${SECRET}`, record: record({ requestFields, requestBody }) }),
      await toHar([entry({ target: `/?k=${SECRET}`, record: record({ requestFields }) })], REDACTOR),
    ]);
    expect(text).not.toContain(SECRET);
    expect(text).toContain('viv_abcd…');
  });
});

describe('a body', () => {
  const grüß = Buffer.from('grüß');
  it.each([
    ['text', [Buffer.from('grüß')], 6, { text: 'grüß', encoding: 'utf8', bytes: 6, cut: false }],
    ['bytes', [Buffer.from([0xff, 0x00])], 2, { text: '/wA=', encoding: 'base64', bytes: 2, cut: false }],
    ['a split character', [grüß.subarray(0, 5)], 6, { text: 'grü', encoding: 'utf8', bytes: 6, cut: true }],
    ['nothing', [], 0, null],
    ['one that was only counted', [], 100, null],
  ])('of %s', (_what, chunks, bytes, shown) => {
    expect(detailOf({ record: record({ responseBody: { chunks, bytes } }) }).responseBody).toEqual(shown);
  });
});

it('shows a compressed frame as bytes, even if they could be text', () => {
  const frame = { atMs: 1, from: 'client', opcode: 1, final: true, payload: Buffer.from('abc'), bytes: 3 } as const;
  const newest = [frame, { ...frame, compressed: true }].map((each) => ({ compressed: false, ...each }));
  const { frames } = detailOf({ record: record({ frames: { newest, total: 2 } }) });
  expect(frames?.items).toMatchObject([
    { text: 'abc', encoding: 'utf8', compressed: false },
    { text: 'YWJj', encoding: 'base64', compressed: true },
  ]);
});

describe('an entry', () => {
  it.each([
    [{ code: 'rate_limit_exceeded', window: 'day' }, 'rate_limit_exceeded', 'day'],
    [{ code: 'api_key_banned' }, 'api_key_banned', undefined],
    [null, undefined, undefined],
  ] as const)('refused with %j has %j and the window %j', (refused, refusal, window) => {
    const decision = {
      refusal: refused && { ...refused, retryAfterSeconds: 7, message: 'Wait.' },
      rate: { limit: 60, remaining: 0, resetAtMs: 1 },
    };
    const shown = detailOf({ status: 429, decision });
    expect([shown.refusal, shown.window]).toEqual([refusal, window]);
  });

  it('tells where its time went', () => {
    const shown = ({ timings }: ReturnType<typeof detailOf>) =>
      timings.map(({ part, ms }) => `${part} ${ms}`).join(', ');
    expect(shown(detailOf())).toBe('stages 1, waiting 9, receiving 2.35');
    const early = detailOf({ stage: 'route', record: record({ handedMs: null, firstByteMs: null }) });
    expect(shown(early)).toBe('stages 12.35, receiving 0');
  });

  it.each([
    [{ status: null }, 'The client disconnected before there was an answer.'],
    [{ stage: 'route', status: 404, route: null }, 'No project is served at demo.vivarium.localhost:8080'],
    [{ stage: 'authority', status: 421 }, 'opened for another hostname'],
    [{ stage: 'identify', status: 401, keyId: null }, 'no valid API key'],
    [
      { stage: 'limit', status: 429, decision: refusedIn('minute') },
      'The limit of 60 requests per minute was used up.',
    ],
    [{ stage: 'limit', status: 429, decision: refusedIn() }, 'The API key is banned'],
    [{ route: UPSTREAM }, 'The upstream http://127.0.0.1:3000 answered.'],
    [{ status: 502, route: UPSTREAM }, 'The upstream http://127.0.0.1:3000 answered.'],
    [
      { status: 502, route: UPSTREAM, byProxy: true },
      '127.0.0.1:3000 gave no answer. The proxy answered 502 in its place.',
    ],
    [{ status: 508, route: UPSTREAM, byProxy: true }, 'the request loops'],
    [
      { fault: { entry: 'tls.ecc384', breakId: 'brk_1' } },
      'The built-in API answered. The break “tls.ecc384 title” changed the handshake of its connection, on purpose.',
    ],
    [
      { stage: 'limit', status: 429, decision: refusedIn('minute'), fault: { entry: 'http.x', breakId: 'brk_1' } },
      'The limit of 60 requests per minute was used up. The break “http.x title” spoiled the answer, on purpose.',
    ],
  ] as const)('%o explains itself', (changes, text) => {
    expect(detailOf(changes).explanation).toContain(text);
  });

  it.each([
    ['{"code":"bad_gateway","message":"Nothing is listening at 127.0.0.1:3000. Start it there.","status":502}'],
    ['<h1>Bad gateway</h1>\n<p>Nothing is listening at 127.0.0.1:3000. Start it there.</p>'],
  ])('names what happened to the upstream, from the proxy’s own answer %s', (body) => {
    const responseBody = { chunks: [body], bytes: body.length };
    const changes = { status: 502, route: UPSTREAM, byProxy: true, record: record({ responseBody }) } as const;
    const explanation = 'Nothing is listening at 127.0.0.1:3000. The proxy answered 502 in its place.';
    expect(detailOf(changes).explanation).toBe(explanation);
  });

  it.each([
    ['trf_a_1', 1],
    ['trf_a_0', null],
    ['trf_a_x', null],
    ['trf_a_', null],
    ['trf_b_1', null],
    ['trf_1', null],
    ['1', null],
    ['trf_a_99999999999999999999', null],
  ])('has the number of its id, in the run of that id: %s is %s', (id, number) => {
    expect(ids.numberOf(id)).toBe(number);
  });

  it('has another id in the next run', () => {
    const next = createEntryIds(1_795_276_800_001);
    const id = createEntryIds(1_795_276_800_000).idOf(1);
    expect(next.idOf(1)).not.toBe(id);
    expect(next.numberOf(id)).toBeNull();
  });
});
