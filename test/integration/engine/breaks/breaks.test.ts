import { expect } from 'vitest';
import { demoTest as it, statusOverHttp2 } from '../../../support/engine-test.ts';
import { runHere } from '../../../support/cli-io.ts';
import { type Engine, startEngine, restarted } from '../../../support/engine.ts';
import { startProviderEngine } from '../../../support/providers/engine.ts';

const HOST = 'demo.vivarium.localhost';

async function command({ dataDir }: Engine, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(['break', ...args, '--data-dir', dataDir]);
  return `${code}\n${stdout}${stderr}`;
}

it('vivarium break starts a break, which Traffic names, and repairs it', async ({ engine, call, api }) => {
  expect(await command(engine)).toMatch(
    /^0\nNothing is broken\. What could be: .*vivarium.* break list --data-dir \/.*\n$/,
  );
  const begun = await command(
    engine,
    ...['api.unavailable', HOST, '--method', 'GET', '--path', '/v1/*', '--key', 'Demo key'],
    ...['--nth', '2', '--for', '5m', '--seed', '7', '--set', 'seconds=5'],
  );
  expect(begun).toMatch(/^0\nBroken: api.unavailable on GET \/v1\/\* demo.vivarium.localhost key_\w+, 1 in 2, until /);
  const statuses = [];
  for (let sent = 0; sent < 4; sent++) statuses.push((await api()).status);
  expect(statuses).toEqual([200, 503, 200, 503]);
  expect((await api({ headers: { 'Vivarium-Break': 'off' } })).status).toBe(200);
  expect((await api({ key: null })).status).toBe(401);

  const [running] = await call('breaks.list');
  const id = String(running?.id);
  expect(running).toMatchObject({ seen: 4, struck: 2 });
  const { items } = await call('traffic.list', { filter: 'stage:break' });
  expect(items.map(({ status, fault }) => [status, fault])).toEqual([
    [503, { entry: 'api.unavailable', title: '503 with Retry-After', breakId: id }],
    [503, { entry: 'api.unavailable', title: '503 with Retry-After', breakId: id }],
  ]);
  const detail = await call('traffic.get', { id: items[0]?.id });
  expect(detail.explanation).toBe('The break “503 with Retry-After” answered in place of the target, on purpose.');

  expect(await command(engine)).toMatch(/api\.unavailable {2}.*1 in 2 {2}2 of 4 {2}/);
  expect(await command(engine, 'off', id)).toBe(`0\nRepaired: api.unavailable (${id}).\n`);
  expect((await api()).status).toBe(200);
  expect(await command(engine, 'off', '--all')).toBe('0\nNothing was broken.\n');
  expect(await command(engine, 'http.empty-response', HOST)).toContain('\nIt only affects requests over HTTP/1.1.\n');
  expect(await command(engine, 'list', 'http.malformed-chunk')).toContain('Affects      only requests over HTTP/1.1');
});

const REFUSED: readonly [args: string[], message: string][] = [
  [['http.status', '--first', '0'], 'break http.status --help".'],
  [['http.status', '--header', 'X-Run='], '--header must be NAME=VALUE, such as X-Run=7, not "X-Run=".'],
  [['api.unavailabel'], 'Did you mean "api.unavailable"?'],
  [['api.unavailable', '--rate', 'much'], '--rate must be a share such as 10% or 0.1, not "much".'],
  [['api.unavailable', HOST, '--rate', '0%'], 'must be more than 0 % and at most 100 %'],
  [['api.unavailable', HOST, '--rate', '101%'], 'must be more than 0 % and at most 100 %'],
  [['api.unavailable', HOST, '--nth', '0'], 'nth'],
  [['api.unavailable', '--set', 'seconds'], '--set must be NAME=VALUE'],
  [['api.unavailable', '--set', '=5'], '--set must be NAME=VALUE'],
  [['api.unavailable', HOST, '--set', 'seconds=-1'], 'must be a whole number from 0'],
  [['api.unavailable', HOST, '--first', '0'], 'first'],
  [['api.unavailable', HOST, '--header', 'X-Run'], '--header must be NAME=VALUE, such as X-Run=7, not "X-Run".'],
  [['api.unavailable', HOST, '--header', 'X Run=7'], '--header name must be the name of a header field'],
  [['dns.servfail', HOST, '--header', 'X-Run=7'], '--header does not apply to dns.servfail'],
  [['http.status', HOST, '--set', 'header=Connection: close'], 'describes the connection or the length'],
  [
    ['api.unavailable', HOST, '--project', 'demo'],
    '--project does not apply beside a hostname (demo.vivarium.localhost)',
  ],
  [['dns.servfail', '--project', 'demo'], '--project does not apply to dns.servfail'],
  [['api.unavailable', HOST, '--type', 'A'], 'does not apply to api.unavailable'],
  [['api.unavailable', '--hostname', 'localhost'], 'is Vivarium’s own'],
  [['api.unavailable', HOST, '--hostname', HOST], `Unexpected argument "${HOST}".`],
  [['api.unavailable', HOST, '--for', '8d'], 'must be from 1 second to 7 days'],
  [['api.unavailable', '--all'], 'There is no option --all.'],
  [['api.unavailable'], 'Name the hostname to break, or add --everything: '],
  [['connection.refused'], 'cannot be produced here'],
  [['off'], 'ID or --all is missing: '],
  [['off', 'brk_1'], ' break --data-dir '],
];

it('vivarium break refuses what it cannot break, and tells what to change', async ({ engine, call }) => {
  for (const [args, message] of REFUSED) {
    const printed = await command(engine, ...args);
    expect(printed).toMatch(/^1\n/);
    expect(printed).toContain(message);
  }
  expect(await call('breaks.list')).toEqual([]);
});

it('vivarium break --first strikes the first two requests with a header, then no more', async ({ engine, api }) => {
  const begun = await command(engine, 'api.unavailable', HOST, '--first', '2', '--after', '1', '--header', 'X-Run=7');
  expect(begun).toContain('on demo.vivarium.localhost x-run=7, after the first, 2 at most, until ');
  const statuses = [(await api()).status];
  for (let sent = 0; sent < 4; sent++) statuses.push((await api({ headers: { 'X-Run': '7' } })).status);
  expect(statuses).toEqual([200, 200, 503, 503, 200]);
  expect(await command(engine)).toMatch(/ {2}after the first, 2 at most {2}2 of 3, done {2}/);
});

/** Its status, or the code of the error. */
const overHttp2 = (engine: Engine): Promise<unknown> =>
  statusOverHttp2(engine, HOST, '/v1/pets').catch(({ code }: NodeJS.ErrnoException) => code);

it('the first of each kind is struck, then all is well: HTTP/2, handshakes, connections, DNS', async ({ engine }) => {
  const { call } = engine;
  const results: Record<string, unknown[]> = {};
  for (const [entry, ask] of Object.entries({
    'http.status': () => overHttp2(engine),
    'tls.expired': () => overHttp2(engine),
    'connection.reset-on-accept': () => overHttp2(engine),
    'dns.servfail': async () => (await call('dns.query', { name: 'shop.happypaws.test', type: 'CNAME' })).rcode,
  })) {
    const hostname = entry === 'dns.servfail' ? 'shop.happypaws.test' : HOST;
    const rule = { entry, on: { hostname }, first: 1 };
    await call('breaks.start', rule);
    results[entry] = [await ask(), await ask()];
  }
  expect(results).toEqual({
    'http.status': [500, 401],
    'tls.expired': ['CERT_HAS_EXPIRED', 401],
    'connection.reset-on-accept': ['ECONNRESET', 401],
    'dns.servfail': ['SERVFAIL', 'NOERROR'],
  });
  const running = await call('breaks.list');
  expect(running.map(({ struck, done }) => [struck, done])).toEqual([1, 1, 1, 1].map((struck) => [struck, true]));
});

it('a break continues across a restart, and ends when a snapshot is restored', async () => {
  let engine = await startEngine();
  const { id } = await engine.call('breaks.start', { entry: 'api.sunset', nth: 2 });
  expect((await engine.api()).status).toBe(200);
  await engine.call('snapshots.save', { name: 'broken' });
  engine = await restarted(engine);
  expect(await engine.call('breaks.list')).toMatchObject([{ id, seen: 1, struck: 0 }]);
  expect((await engine.api()).status).toBe(410);
  await engine.call('snapshots.restore', { name: 'broken' });
  expect(await engine.call('breaks.list')).toEqual([]);
  expect((await engine.api()).status).toBe(200);
});

it('a provider’s host can be broken before a connection to it is open, and in the next one', async () => {
  const engine = await startProviderEngine();
  const on = { hostname: 'api.vercel.com' };
  await engine.call('breaks.start', { entry: 'http.status', on, first: 2, parameters: { status: 503 } });
  for (const expected of [503, 503, 200]) {
    const { fetch, token, id } = await engine.connect('vercel', 'shop');
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch('https://api.vercel.com/v5/domains', { headers })).status).toBe(expected);
    await engine.call('providers.disconnect', { id });
  }
});
