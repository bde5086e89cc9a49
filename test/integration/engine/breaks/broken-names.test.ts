import { expect } from 'vitest';
import { type DomainsEngine, domainsTest as it, TARGET, ZONE } from '../../../support/engine-test.ts';
import type { RunningBreak } from '../../../../main/contract/breaks.ts';
import { run } from '../../../support/dns/dns-dig.ts';

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
