import { Resolver } from 'node:dns/promises';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { DOMAIN_ENTRIES } from '../../../../main/breaks/catalogue/domain.ts';
import type { RunningBreak } from '../../../../main/contract/breaks.ts';
import { dig } from '../../../support/dns/dns-dig.ts';
import { type DomainsEngine, startDomainsEngine, TARGET, ZONE } from '../../../support/engine-test.ts';
import { startEngine } from '../../../support/engine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { rowsIn, runIn } from '../../../support/sqlite.ts';

/** Where an entry is tried: on a subdomain, unless it needs another kind. */
const HOSTNAMES: Record<string, string> = {
  'domain.cname-at-apex': ZONE,
  'domain.alias-mismatch': ZONE,
  'domain.alias-unsupported': ZONE,
  'domain.dnssec-bogus': 'www.signed.test',
  'domain.claimed-elsewhere': 'www.signed.test',
};
const hostnameFor = (entry: string): string => HOSTNAMES[entry] ?? `shop.${ZONE}`;
const codeOf = (entry: string): string => entry.slice('domain.'.length).replaceAll('-', '_');

/** Verified domains of one project, in an unsigned and a signed zone; and another project. */
async function startWorld(): Promise<DomainsEngine> {
  const engine = await startDomainsEngine();
  const { id } = await engine.call('projects.create', { name: 'Other', plan: 'pro' });
  await engine.call('deploys.create', { projectId: id });
  await engine.call('zones.create', { name: 'signed.test' });
  await engine.call('zones.dnssec', { name: 'signed.test', signed: true });
  await engine.put('@', 'ALIAS', TARGET);
  await engine.put('shop', 'CNAME', TARGET);
  await engine.call('records.put', { zone: 'signed.test', name: 'www', type: 'CNAME', value: TARGET });
  await engine.call('settings.update', { propagation: 'PT1H' });
  for (const hostname of [ZONE, `shop.${ZONE}`, 'www.signed.test']) {
    await engine.call('domains.attach', { projectId: engine.projectId, hostname });
    expect((await engine.verify(hostname)).certificate.state).toBe('issued');
  }
  return engine;
}

/** Everything stored except the breaks themselves. */
const stored = (dataDir: string) => rowsIn(join(dataDir, 'vivarium.db'), /^(?:serials|breaks)/);

const begin = (engine: Pick<DomainsEngine, 'call'>, entry: string, hostname = hostnameFor(entry)) =>
  engine.call('breaks.start', { entry, on: { hostname } });
const repair = ({ call }: Pick<DomainsEngine, 'call'>, { id }: RunningBreak) => call('breaks.stop', { id });
const list = (engine: DomainsEngine, zone = ZONE) => engine.call('records.list', { zone });

/** The question that shows an entry in `dig`, if it is not the hostname's address. */
const ASKED: Record<string, { name?: string; type?: string }> = {
  'domain.zone-doubled': { name: `shop.${ZONE}.${ZONE}` },
  'domain.wildcard-risk': { name: `any.${ZONE}` },
  'domain.caa-forbids': { name: ZONE, type: 'CAA' },
  'domain.caa-on-target': { type: 'CAA' },
  'domain.caa-lookup-failed': { type: 'CAA' },
  'domain.cname-with-siblings': { type: 'TXT' },
  'domain.cname-at-apex': { type: 'MX' },
};

/** What `dig` and Node’s c-ares print for an entry; `HOST` is the hostname, `ZONE` its zone. */
async function said(engine: DomainsEngine, entry: string): Promise<{ dig: string; node: string }> {
  const hostname = hostnameFor(entry);
  const { port } = engine.app.runtime.dns;
  const { name = hostname, type = 'A' } = ASKED[entry] ?? {};
  const resolver = new Resolver({ timeout: 5_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const [shown] = await dig('dig', { port }, [`${name} ${type}`]);
  const lines = [...(shown?.answer ?? []), ...(shown?.authority ?? [])].map((line) =>
    line.split(' ').slice(3).join(' '),
  );
  const records = lines.filter((line) => !line.startsWith('SOA'));
  const cut = records.length > 3 ? [...records.slice(0, 2), `${records.length - 2} more`] : records;
  const about = name === hostname && type === 'A' ? '' : ` (${name} ${type})`;
  const text = [shown?.rcode ?? 'no answer', ...cut].join('; ') + about;
  const node = await resolver.resolve4(hostname).then(
    (found) => (found.length === 0 ? 'no address' : found.join(', ')),
    (error: unknown) => String((error as { code?: unknown }).code),
  );
  const short = (each: string) => each.replaceAll(hostname, 'HOST').replaceAll(ZONE, 'ZONE');
  return { dig: short(text), node: `resolve4: ${node}` };
}

/** The tables that differ. */
function changed(before: ReturnType<typeof stored>, after: ReturnType<typeof stored>): string[] {
  return Object.keys(before).filter((table) => !isDeepStrictEqual(before[table], after[table]));
}

test('every break of a domain gives its code, shows as the catalogue says, and restores the previous state', async () => {
  const engine = await startWorld();
  const seen: Record<string, unknown> = {};
  for (const { id: entry } of DOMAIN_ENTRIES) {
    const hostname = hostnameFor(entry);
    const before = stored(engine.dataDir);
    const running = await begin(engine, entry);
    const symptoms = await said(engine, entry);
    // The start has checked it.
    const { checks, breaks } = await engine.get(hostname);
    const found = checks.filter(({ outcome }) => outcome !== 'ok').map(({ code }) => code);
    await repair(engine, running);
    // A check stores its time, also the check after the repair.
    const leftByCheck = changed(before, stored(engine.dataDir)).filter((table) => table !== 'domains');
    const { state, certificate } = await engine.verify(hostname);
    const again = [state, certificate.state];
    seen[entry] = {
      symptoms,
      found: found.some((code) => code === codeOf(entry)) || found,
      breaks,
      leftByCheck,
      again,
    };
    expect(breaks).toEqual([{ id: running.id, entry }]);
  }
  const wanted = DOMAIN_ENTRIES.map(({ id, symptoms }) => [
    id,
    { symptoms, found: true, breaks: expect.anything() as unknown, leftByCheck: [], again: ['verified', 'issued'] },
  ]);
  expect(seen).toEqual(Object.fromEntries(wanted));
  // The proxy of domain.proxied has ended.
  await expect(fetch(`http://127.0.0.3:${engine.app.runtime.http.port}/`)).rejects.toThrow('fetch failed');
});

/** The records of a zone without their ids. */
const shown = async (engine: DomainsEngine, zone = ZONE): Promise<string[]> =>
  (await list(engine, zone)).map(({ name, type, value, breakId }) =>
    [name, type, value, ...(breakId === undefined ? [] : ['broken'])].join(' '),
  );

test('marks broken records until they are changed; the repair keeps changed records and restores the rest', async () => {
  const engine = await startWorld();
  const records = ['@ ALIAS cname.vivarium.localhost', 'shop CNAME cname.vivarium.localhost'];
  const stop = async (running: RunningBreak) => {
    const { left = [] } = await repair(engine, running);
    return [...(await shown(engine)), ...left.map((what) => `left: ${what}`)];
  };
  const wrong = await begin(engine, 'domain.wrong-target');
  expect(await shown(engine)).toEqual([records[0], 'shop CNAME app.example.net broken']);
  const [, broken] = await list(engine);
  expect(broken?.breakId).toBe(wrong.id);
  await engine.call('records.update', { id: broken?.id, value: 'other.example.net' });
  expect(await shown(engine)).toEqual([records[0], 'shop CNAME other.example.net']);
  expect(await stop(wrong)).toEqual([records[0], 'shop CNAME other.example.net', `left: records shop.${ZONE}`]);
  await engine.call('records.update', { id: broken?.id, value: TARGET });

  // The TXT is a different record from the one that the break removed.
  const mismatch = await begin(engine, 'domain.alias-mismatch');
  await engine.put('@', 'TXT', 'mine');
  expect(await stop(mismatch)).toEqual([...records.slice(0, 1), '@ TXT mine', ...records.slice(1)]);

  // No CNAME comes back beside a new record.
  const gone = await begin(engine, 'domain.no-record');
  const { id: txt } = await engine.put('shop', 'TXT', 'mine');
  expect(await stop(gone)).toEqual([records[0], '@ TXT mine', 'shop TXT mine', `left: records shop.${ZONE}`]);
  await engine.call('records.remove', { id: txt });
  await engine.put('shop', 'CNAME', TARGET);

  const siblings = await begin(engine, 'domain.cname-with-siblings');
  const left = (await list(engine)).find(({ breakId, type }) => breakId === siblings.id && type === 'TXT');
  await engine.call('records.remove', { id: left?.id });
  expect(await stop(siblings)).toEqual([records[0], '@ TXT mine', records[1], `left: records shop.${ZONE}`]);
});

test('removing a domain or its project ends its breaks and repairs its records', async () => {
  const engine = await startWorld();
  const before = await list(engine);
  const { id, entry } = await begin(engine, 'domain.wrong-target');
  await begin(engine, 'dns.nxdomain');
  await begin(engine, 'http.empty-response', ZONE);
  const { breaks } = await engine.call('domains.remove', { hostname: `shop.${ZONE}` });
  expect(breaks).toEqual([{ id, entry }]);
  expect(await list(engine)).toEqual(before);
  const entries = async () => (await engine.call('breaks.list')).map((each) => each.entry);
  expect(await entries()).toEqual(['dns.nxdomain', 'http.empty-response']);
  await engine.call('projects.remove', { projectId: engine.projectId });
  await expect.poll(entries).toEqual(['dns.nxdomain']);
});

test('ignores a removed zone and its successor', async () => {
  const engine = await startWorld();
  const signing = await begin(engine, 'domain.dnssec-bogus');
  const records = await begin(engine, 'domain.no-record', 'www.signed.test');
  await engine.call('zones.remove', { name: 'signed.test' });
  await engine.call('zones.create', { name: 'signed.test' });
  await repair(engine, signing);
  await repair(engine, records);
  expect(await list(engine, 'signed.test')).toEqual([]);
});

test('refuses what is already or cannot be broken, and changes nothing; an exported file lists the breaks', async () => {
  const engine = await startWorld();
  const subdomain = `shop.${ZONE}`;
  await engine.call('zones.create', { name: 'plain.test', supportsAlias: false });
  await engine.call('domains.attach', { projectId: engine.projectId, hostname: 'www.plain.test' });
  await engine.call('domains.attach', { projectId: engine.projectId, hostname: 'www.nowhere.test' });
  const running = await begin(engine, 'domain.caa-forbids');
  const before = stored(engine.dataDir);
  const refusals: [string, string | undefined, RegExp][] = [
    ['domain.wrong-target', ZONE, /is the apex/],
    ['domain.alias-mismatch', subdomain, /choose an apex/],
    ['domain.alias-unsupported', subdomain, /is a subdomain/],
    ['domain.wrong-target', 'absent.acme.test', /There is no domain/],
    ['domain.wrong-target', undefined, /on\.hostname/],
    ['domain.no-record', 'www.nowhere.test', /www\.nowhere\.test is in no local zone/],
    ['domain.lookup-failed', 'www.plain.test', /has no ALIAS/],
    ['domain.moved', 'www.plain.test', /never been verified/],
    ['domain.dnssec-bogus', subdomain, /is not signed/],
    ['domain.claimed-elsewhere', ZONE, /another project/],
    ['domain.caa-forbids', ZONE, /records of acme\.test are broken already.*breaks\.stop/],
  ];
  for (const [entry, hostname, message] of refusals) {
    const on = hostname === undefined ? {} : { hostname };
    await expect(engine.call('breaks.start', { entry, on })).rejects.toThrow(message);
  }
  expect(changed(before, stored(engine.dataDir))).toEqual([]);
  const omitted = async () => (await engine.call('world.export')).omitted.join('\n');
  expect(await omitted()).toContain(`before the running breaks (domain.caa-forbids shop.${ZONE})`);
  await repair(engine, running);
  expect(await omitted()).not.toContain('broken');
});

test('after kill -9 before, during and after an edit, the repair restores the previous state', async () => {
  const engine = await startWorld();
  const before = stored(engine.dataDir);
  const untouched = copyOf(engine.dataDir);
  const running = await begin(engine, 'domain.a-conflict');
  const aliases = await begin(engine, 'domain.alias-unsupported');
  const made = copyOf(engine.dataDir);
  // Stored, but not yet made or already undone: the next start makes the edit.
  takeBreaks(made, untouched);
  for (const dataDir of [made, untouched]) {
    const next = await startEngine({ dataDir, empty: true });
    const records = await next.call('records.list', { zone: ZONE });
    expect(records.map(({ breakId }) => breakId)).toEqual([undefined, running.id, undefined]);
    expect(await next.call('zones.list')).toMatchObject([{ supportsAlias: false }, { supportsAlias: true }]);
    await repair(next, running);
    await repair(next, aliases);
    expect(changed(before, stored(dataDir)).filter((table) => table !== 'settings' && table !== 'domains')).toEqual([]);
    await next.stop();
  }
});

/** A copy of a data folder as a crash leaves it. */
function copyOf(dataDir: string): string {
  const copy = temporaryFolder();
  cpSync(dataDir, copy, { recursive: true, filter: (path) => !/runtime\.json|lock|\.sock/.test(path) });
  return copy;
}

const takeBreaks = (from: string, to: string): void =>
  runIn(
    join(to, 'vivarium.db'),
    `ATTACH '${join(from, 'vivarium.db')}' AS other; INSERT INTO breaks SELECT * FROM other.breaks`,
  );
