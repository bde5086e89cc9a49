import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { beforeEach, expect, test, vi } from 'vitest';
import { MACHINE_ENTRIES } from '../../../../main/breaks/catalogue/machine.ts';
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
