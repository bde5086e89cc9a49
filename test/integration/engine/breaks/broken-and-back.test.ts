import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CATALOGUE, pointOf } from '../../../../main/breaks/catalogue/index.ts';
import type { BreakEntry } from '../../../../main/contract/breaks.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { freePort } from '../../../support/ports.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { rowsIn } from '../../../support/sqlite.ts';

/** Two engines, a zone for each entry of the domains area, and all entries on twice. */
const TIMEOUT_MS = 180_000;

const TARGET = 'cname.vivarium.localhost';
const AT_APEX = ['domain.cname-at-apex', 'domain.alias-mismatch', 'domain.alias-unsupported'];
const IS_SIGNED = /dnssec/;
const DEMO = 'demo.vivarium.localhost';
const PROXIED = 'upstream.vivarium.localhost';

/** The full disk is last: nothing could be written after it. */
const ENTRIES = CATALOGUE.filter(({ impossible }) => impossible === undefined).toSorted(
  (one, other) => Number(one.id === 'machine.disk-full') - Number(other.id === 'machine.disk-full'),
);

const zoneOf = ({ id }: BreakEntry): string => `${id.replace('.', '-')}.test`;
const isOfDomain = (entry: BreakEntry): boolean => entry.family === 'domain' || IS_SIGNED.test(entry.id);
const hostnameOf = (entry: BreakEntry): string => (AT_APEX.includes(entry.id) ? zoneOf(entry) : `www.${zoneOf(entry)}`);

/** A separate zone and verified domain for each entry that affects one, so that all can be broken at once. */
async function startWorld(): Promise<Engine> {
  const engine = await startEngine();
  const { call } = engine;
  const make = async (name: string) => {
    const { id } = await call('projects.create', { name, slug: name, plan: 'pro' });
    await call('deploys.create', { projectId: id });
    return id;
  };
  const projectId = await make('broken');
  await make('other');
  await call('projects.create', { name: 'upstream', slug: 'upstream', plan: 'pro', target: 'http://127.0.0.1:9' });
  await call('settings.update', { acmeHttpPort: await freePort(), resolver: 'local' });
  for (const entry of ENTRIES.filter(isOfDomain)) {
    const zone = zoneOf(entry);
    await call('zones.create', { name: zone });
    if (IS_SIGNED.test(entry.id)) await call('zones.dnssec', { name: zone, signed: true });
    const [name, type] = AT_APEX.includes(entry.id) ? ['@', 'ALIAS'] : ['www', 'CNAME'];
    await call('records.put', { zone, name, type, value: TARGET });
    await call('domains.attach', { projectId, hostname: hostnameOf(entry) });
    await call('domains.verify', { hostname: hostnameOf(entry) });
  }
  return engine;
}

/** Everything stored except the breaks, change counters and check times; plus the root and leaves. */
async function stateOf({ dataDir, call }: Engine): Promise<object> {
  const rows = rowsIn(join(dataDir, 'vivarium.db'), /^(?:serials|breaks|domains$|requests|clock)/);
  const ca = readdirSync(join(dataDir, 'ca')).map((name) => [name, readFileSync(join(dataDir, 'ca', name), 'latin1')]);
  const domains = (await call('domains.list', {})).map(({ hostname, state, certificate, serving }) => [
    ...[hostname, state, certificate.state, certificate.notAfter],
    serving,
  ]);
  return { ...rows, ca, domains };
}

async function breakAll({ call }: Engine): Promise<string[]> {
  const started: string[] = [];
  for (const entry of ENTRIES) {
    const hostname = isOfDomain(entry) ? hostnameOf(entry) : entry.id === 'machine.upstream-dead' ? PROXIED : DEMO;
    const isNarrowed = entry.selectors.includes('hostname') && (isOfDomain(entry) || pointOf(entry) !== 'question');
    const on = isNarrowed ? { hostname } : {};
    const { id } = await call('breaks.start', { entry: entry.id, on, for: 'P1D' }).catch((error: unknown) => {
      throw new Error(`${entry.id}: ${String(error)}`);
    });
    started.push(id);
  }
  return started;
}

test(
  'turning all entries on and off restores the previous state, also after `kill -9` while all are on',
  { timeout: TIMEOUT_MS },
  async () => {
    const engine = await startWorld();
    const before = await stateOf(engine);
    await breakAll(engine);
    expect(await stateOf(engine)).not.toEqual(before);
    const stopped = await engine.call('breaks.stopAll');
    expect([stopped.length, stopped.filter(({ left }) => left !== undefined)]).toEqual([ENTRIES.length, []]);
    expect(await stateOf(engine)).toEqual(before);

    const ids = await breakAll(engine);
    // A copy of the files is what a crash leaves.
    const dataDir = temporaryFolder();
    cpSync(engine.dataDir, dataDir, { recursive: true, filter: (path) => !/runtime\.json|lock|\.sock/.test(path) });
    await engine.stop();
    const next = await startEngine({ dataDir });
    expect((await next.call('breaks.list')).map(({ id }) => id)).toEqual(ids);
    const repaired = await next.call('breaks.stopAll');
    expect(repaired.filter(({ left }) => left !== undefined)).toEqual([]);
    expect(await stateOf(next)).toEqual(before);
  },
);
