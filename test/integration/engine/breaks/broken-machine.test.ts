import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { beforeEach, expect, test, vi } from 'vitest';
import { MACHINE_ENTRIES } from '../../../../main/breaks/catalogue/machine.ts';
import type { RunningBreak } from '../../../../main/contract/breaks.ts';
import { run } from '../../../support/dns/dns-dig.ts';
import { type DomainsEngine, TARGET, ZONE, domainsTest as it } from '../../../support/engine-test.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { freePort } from '../../../support/ports.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { startUpstream } from '../../../support/upstream-server.ts';

// The machine's own trust stores are irrelevant here.
beforeEach(() => {
  vi.stubEnv('HOME', temporaryFolder());
  vi.stubEnv('XDG_DATA_HOME', '');
});

const HOST = 'shop.vivarium.localhost';

async function startWorld(): Promise<Engine> {
  const { url: target } = await startUpstream((_request, response) => response.end('here'));
  const engine = await startEngine({ empty: true });
  await engine.call('projects.create', { name: 'Shop', slug: 'shop', plan: 'pro', target });
  await engine.call('settings.update', { acmeHttpPort: await freePort() });
  return engine;
}

const ask = ({ app }: Engine): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: app.runtime.http.port, headers: { host: HOST }, agent: false };
    get(options, ({ statusCode = 0 }) => resolve(statusCode)).on('error', reject);
  });

/** The problems in an area as the doctor reports them, without what differs between machines. */
async function wrong(engine: Engine, area: string): Promise<string[]> {
  const { checks } = await engine.call('doctor.run', { areas: [area] });
  return checks.flatMap(({ status, evidence }) =>
    status === 'ok' || status === 'skipped' ? [] : evidence.map((line) => `${status}: ${line}`),
  );
}

const AREAS: Readonly<Record<string, string>> = {
  'machine.port-taken': 'listeners',
  'machine.resolver-gone': 'dns',
  'machine.disk-full': 'data',
  'machine.upstream-dead': 'upstreams',
  'machine.clock-skewed': 'clock',
  'machine.hosts-line': 'dns',
};

/** Whether a text contains the words of a symptom in order, with anything for "…". */
function says(text: string, symptom = 'a symptom'): boolean {
  let at = 0;
  for (const words of symptom.replaceAll('HOST', HOST).split('…')) {
    const found = text.indexOf(words, at);
    if (found === -1) return false;
    at = found + words.length;
  }
  return true;
}

async function listenAt(port: number): Promise<string> {
  const server = createServer();
  const failed = once(server, 'error');
  server.listen(port, '127.0.0.1');
  const said = await Promise.race([failed, once(server, 'listening')]);
  server.close();
  return String((said as [Error | undefined])[0]?.message ?? 'it listens');
}

test('the doctor finds what the catalogue says, and no longer after the repair', async () => {
  const engine = await startWorld();
  const { acmeHttpPort } = await engine.call('settings.get');
  for (const { id: entry, selectors, symptoms } of MACHINE_ENTRIES) {
    const area = AREAS[entry];
    if (area === undefined) continue;
    const before = await wrong(engine, area);
    const on = selectors.length > 0 ? { hostname: HOST } : {};
    const { id } = await engine.call('breaks.start', { entry, on });
    const found = await wrong(engine, area);
    expect([entry, found, found.some((line) => says(line, symptoms.doctor))]).toEqual([entry, found, true]);
    // What a setting, a target or the machine itself would need is no advice here.
    const { checks } = await engine.call('doctor.run', { areas: [area] });
    const advice = checks.map(({ fix, commands }) => `${fix} ${commands}`).join('\n');
    expect([entry, advice]).toEqual([entry, expect.stringMatching(`break off ${id}|repair the break`)]);
    const client = entry === 'machine.port-taken' ? await listenAt(acmeHttpPort) : String(await ask(engine));
    expect([entry, client, says(client, symptoms.node ?? '200')]).toEqual([entry, client, true]);
    expect(await engine.call('breaks.stop', { id })).not.toHaveProperty('left');
    expect(await wrong(engine, area)).toEqual(before);
  }
  expect(await listenAt(acmeHttpPort)).toBe('it listens');
});

test('the repair keeps a change made meanwhile', async () => {
  const engine = await startWorld();
  const start = async (entry: string, on = {}) => (await engine.call('breaks.start', { entry, on })).id;
  const [resolver, upstream] = [
    await start('machine.resolver-gone'),
    await start('machine.upstream-dead', { hostname: HOST }),
  ];
  await engine.call('settings.update', { resolver: '127.0.0.1:5353' });
  const [project] = await engine.call('projects.list');
  await engine.call('projects.update', { projectId: project?.id, target: 'http://127.0.0.1:9' });
  expect(await engine.call('breaks.stop', { id: resolver })).toMatchObject({ left: ['the setting resolver'] });
  expect(await engine.call('breaks.stop', { id: upstream })).toMatchObject({ left: ['target of shop'] });
  expect(await engine.call('settings.get')).toMatchObject({ resolver: '127.0.0.1:5353' });
  await expect(start('machine.upstream-dead')).rejects.toThrow('on.hostname');
  await engine.call('projects.update', { projectId: project?.id, target: 'api' });
  await expect(start('machine.upstream-dead', { hostname: HOST })).rejects.toThrow('answered by the built-in API');
});

test('a full disk refuses what does not fit, and accepts it after the repair', async () => {
  const engine = await startWorld();
  const { id } = await engine.call('breaks.start', { entry: 'machine.disk-full' });
  const create = (name: string) => engine.call('zones.create', { name });
  const fill = async () => {
    for (let n = 0; n < 300; n++) await create(`${'x'.repeat(60)}.${n}.test`);
  };
  await expect(fill()).rejects.toThrow('is full; this change was not stored.');
  const { left } = await engine.call('breaks.stop', { id });
  expect(left).toBeUndefined();
  await create('room.test');
});

/** What starts and repairs breaks, and what verification reports. */
function tools(engine: DomainsEngine) {
  return {
    start: (entry: string, hostname: string) => engine.call('breaks.start', { entry, on: { hostname } }),
    stop: ({ id }: RunningBreak) => engine.call('breaks.stop', { id }),
    failing: async (hostname: string) => {
      const { checks } = await engine.verify(hostname);
      return checks.filter(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
    },
  };
}

/** By entry, the code that verification gives, and what it finds. */
const DNS_CODES: readonly [string, string, RegExp][] = [
  ['dns.nxdomain', 'no_record', /NXDOMAIN/],
  ['dns.servfail', 'lookup_failed', /SERVFAIL: .*Broken on purpose: dns\.servfail/],
  ['dns.refused', 'lookup_failed', /REFUSED: .*Broken on purpose: dns\.refused/],
  ['dns.lame-delegation', 'ns_mismatch', /delegated to ns1\.lame\.invalid/],
  ['dns.cname-loop', 'chain_loop', /loop\.shop\.acme\.test → /],
  ['dns.chain-too-long', 'chain_too_long', /hop1/],
  ['dns.dangling-cname', 'stale_target', /removed\.cname/],
  ['dns.zone-doubled', 'zone_doubled', /shop\.acme\.test\.acme\.test/],
];

it('verification finds broken answers, names their break, and finds nothing after the repair', async ({ engine }) => {
  const { call, attach, put, verify, get } = engine;
  const { start, stop, failing } = tools(engine);
  const hostname = `shop.${ZONE}`;
  await put('shop', 'CNAME', TARGET);
  await attach(hostname);
  await verify(hostname);
  for (const [entry, code, found] of DNS_CODES) {
    const broken = await start(entry, hostname);
    const check = (await failing(hostname)).find((each) => each.code === code);
    expect({ entry, found: check?.found }).toEqual({ entry, found: expect.stringMatching(found) as unknown });
    expect((await get(hostname)).breaks).toEqual([{ id: broken.id, entry }]);
    await stop(broken);
    // The repair has checked it again.
    const { state, checks, breaks } = await get(hostname);
    const wrong = checks.filter(({ outcome }) => outcome !== 'ok');
    expect({ entry, state, wrong, breaks }).toEqual({ entry, state: 'verified', wrong: [], breaks: undefined });
  }
  const { http, https } = engine.app.runtime;
  const overHttps = ['-sS', '--doh-insecure', '--doh-url', `https://localhost:${https.port}/dns-query`];
  const curl = () => run('curl', [...overHttps, '-o', '-', `http://${hostname}:${http.port}/v1/pets`], 'both');
  expect(await curl()).toContain('API key');
  const broken = await start('dns.servfail', `*.${ZONE}`);
  expect(await curl()).toMatch(/Could not resolve host|Couldn't resolve host/);
  const answer = await call('dns.query', { name: hostname, type: 'A' });
  expect(answer).toMatchObject({ rcode: 'SERVFAIL', detail: expect.stringContaining('Broken on purpose') as unknown });
  expect((await get(hostname)).breaks).toEqual([{ id: broken.id, entry: 'dns.servfail' }]);
});

it('signatures of a zone are broken until the repair, or until a user breaks them differently', async ({ engine }) => {
  const { call } = engine;
  const { start, stop } = tools(engine);
  for (const broken of ['expired', 'missing']) {
    const name = `${broken}.test`;
    const entry = `dns.dnssec-${broken}`;
    await call('zones.create', { name });
    await expect(start(entry, name)).rejects.toThrow(/is not signed; sign it first/);
    const before = await call('zones.dnssec', { name, signed: true });
    const running = await start(entry, `www.${name}`);
    expect(await call('zones.dnssec', { name })).toMatchObject({ break: broken });
    await stop(running);
    expect(await call('zones.dnssec', { name })).toEqual(before);
    const again = await start(entry, name);
    await call('zones.dnssec', { name, break: 'wrong-key' });
    expect(await stop(again)).toMatchObject({ left: [`signing ${name}`] });
    expect(await call('zones.dnssec', { name })).toMatchObject({ break: 'wrong-key' });
    await stop(await start(entry, name));
    expect(await call('zones.dnssec', { name })).toMatchObject({ break: 'wrong-key' });
  }
});
