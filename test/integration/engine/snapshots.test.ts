import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { describe, expect } from 'vitest';
import type { ChangeEvent } from '../../../main/contract/status.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import { demoTest as it, emptyTest } from '../../support/engine-test.ts';
import type { OpenedRun } from '../../../main/contract/runs.ts';
import type { TrafficEntry } from '../../../main/contract/traffic.ts';
import { startEngine, type Engine, restarted } from '../../support/engine.ts';
import { runHere } from '../../support/cli-io.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { requireTool } from '../../support/tools.ts';
import { execute as run } from '../../support/command.ts';

const SERVED = 'www.happypaws.test';
const CALL = { signal: undefined };

/** The status that curl receives from a hostname over HTTPS; 0 when the handshake is refused. */
async function statusOver({ app }: Engine, hostname: string): Promise<number> {
  const { https } = app.runtime;
  const args = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--cacert', app.runtime.caFile];
  const to = ['--resolve', `${hostname}:${https.port}:127.0.0.1`, `https://${hostname}:${https.port}/v1/pets`];
  try {
    return Number((await run(requireTool('curl'), [...args, ...to])).stdout);
  } catch {
    return 0;
  }
}

/** What an outsider sees of the world, apart from the passing of time. */
async function look(engine: Engine) {
  const projects = await engine.call('projects.list');
  const demo = projects.find(({ slug }) => slug === 'demo');
  const answer = demo === undefined ? null : await engine.api();
  const pets = demo && (await engine.call('pets.list', { projectId: demo.id }));
  const { answer: records } = await engine.call('dns.query', { name: SERVED, type: 'CNAME' });
  const { now } = await engine.call('clock.get');
  return {
    slugs: projects.map(({ slug }) => slug),
    status: answer?.status,
    remaining: answer && Number(answer.headers['x-ratelimit-remaining']),
    pets: pets?.items.map(({ name }) => name),
    records,
    domains: await engine.call('domains.list'),
    certificates: (await engine.call('certificates.list')).map(({ serial }) => serial),
    settings: await engine.call('settings.get'),
    served: await statusOver(engine, SERVED),
    now: Date.parse(now),
  };
}

describe('a snapshot of a running engine', () => {
  it('is restored without a restart: routes, names, leaves, limits and the clock return to its moment', async () => {
    const engine = await startEngine();
    await Promise.all([engine.api(), engine.api(), engine.api()]);
    await engine.call('zones.dnssec', { name: 'happypaws.test', signed: true });
    const ds = await engine.call('dns.query', { name: 'happypaws.test', type: 'DNSKEY' });
    const before = await look(engine);
    const saved = await engine.call('snapshots.save', { name: 'demo' });
    const { id: projectId } = await engine.demo();

    const stream = engine.app.services.events.watch({}, CALL) as AsyncGenerator<ChangeEvent>;
    expect((await stream.next()).value).toMatchObject({ type: 'ready' });
    await engine.call('domains.remove', { hostname: SERVED });
    await engine.call('zones.remove', { name: 'happypaws.test' });
    await engine.call('clock.advance', { by: 'P3D' });
    await engine.call('settings.update', { propagation: 'PT2H' });
    await engine.call('pets.clear', { projectId });
    await engine.call('projects.create', { name: 'Later' });
    await engine.call('projects.remove', { projectId });
    expect(await statusOver(engine, SERVED)).toBe(0);
    expect(engine.app.demoKey()).toBe(null);

    expect(await engine.call('snapshots.restore', { name: 'demo' })).toEqual(saved);
    const after = await look(engine);
    // The earlier reading counted one request after the snapshot, which is now 4 requests old.
    expect({ ...after, now: 0 }).toEqual({ ...before, remaining: (before.remaining ?? 0) - 1, now: 0 });
    expect(after.remaining).toBeLessThan(96);
    expect(Math.abs(after.now - before.now)).toBeLessThan(60_000);
    expect(await engine.call('dns.query', { name: 'happypaws.test', type: 'DNSKEY' })).toMatchObject({
      answer: (ds as { answer: unknown }).answer,
    });
    let type = '';
    while (type !== 'world.restored') type = ((await stream.next()).value as ChangeEvent).type;
    await stream.return(undefined);

    const again = await restarted(engine);
    expect((await look(again)).slugs).toEqual(before.slugs);
    expect(await again.call('snapshots.list')).toEqual([saved]);
    expect(await again.call('snapshots.remove', { name: 'demo' })).toEqual(saved);
  });

  it('with traffic restores it too, without its secrets, even elsewhere; a snapshot without traffic leaves it unchanged', async () => {
    const engine = await startEngine();
    const list = async ({ call }: Engine) => await call('traffic.list');
    const details = async (of: Engine) =>
      await Promise.all((await list(of)).items.map(({ id }) => of.call('traffic.get', { id })));
    await engine.api();
    await engine.api({ path: '/v1/pets?limit=1&token=c2VjcmV0' });
    const before = await details(engine);
    expect(before).toHaveLength(2);
    const saved = await engine.call('snapshots.save', { name: 'demo', traffic: true });
    expect(saved).toMatchObject({ name: 'demo', requests: 2 });
    const file = join(temporaryFolder(), 'handed.db');
    await engine.call('snapshots.save', { name: 'handed', file, traffic: true });
    for (const path of [join(engine.dataDir, 'snapshots', 'snapshot-demo.db'), file]) {
      const sqlite = new Sqlite(path, { readonly: true });
      const sql = "SELECT content FROM data_folder_files WHERE path = 'traffic.jsonl.zst'";
      const text = zstdDecompressSync(sqlite.prepare<[], Buffer>(sql).pluck().get() ?? '').toString();
      sqlite.close();
      expect(text.includes('/v1/pets?limit=1&token=…')).toBe(true);
      expect([engine.app.demoKey()?.secret ?? '', 'c2VjcmV0'].filter((secret) => text.includes(secret))).toEqual([]);
    }

    await engine.call('snapshots.save', { name: 'plain' });
    await engine.api({ path: '/v1/pets?limit=2' });
    await engine.call('snapshots.restore', { name: 'plain' });
    expect((await list(engine)).items).toHaveLength(3);

    const running = Array.from({ length: 20 }, () => engine.api({ path: '/v1/pets?limit=3' }));
    const restored = await engine.call('snapshots.restore', { name: 'demo', keep: 'now' });
    const statuses = (await Promise.all(running)).map(({ status }) => status);
    expect([restored, new Set(statuses)]).toEqual([saved, new Set([200])]);
    expect((await engine.call('snapshots.list'))[0]).toMatchObject({ name: 'now', requests: expect.any(Number) });
    expect((await details(engine)).slice(-2)).toEqual(before);
    const { items } = await list(engine);
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    const first = before.map((entry) => (entry as TrafficEntry).id).at(-1) ?? '';
    expect(await engine.call('traffic.replay', { id: first })).toMatchObject({ status: 200, replayOf: first });
    const [withSecret] = before as TrafficEntry[];
    await expect(engine.call('traffic.replay', { id: withSecret?.id })).rejects.toMatchObject({ code: 'conflict' });
    await engine.stop();

    const other = await startEngine({ empty: true });
    await other.call('snapshots.restoreFile', { file });
    expect(await details(other)).toEqual(before);
    await other.stop();

    const sqlite = new Sqlite(join(engine.dataDir, 'snapshots', 'snapshot-demo.db'));
    const damaged = Buffer.from('no traffic');
    const sql = "UPDATE data_folder_files SET content = ?, sha256 = ? WHERE path = 'traffic.jsonl.zst'";
    sqlite.prepare(sql).run(damaged, hash('sha256', damaged));
    sqlite.close();
    const again = await startEngine({ dataDir: engine.dataDir });
    await again.call('clock.freeze');
    await expect(again.call('snapshots.restore', { name: 'demo' })).rejects.toMatchObject({
      code: 'conflict',
      message: 'The snapshot "demo" can\'t be restored: its recorded traffic is damaged. Nothing was changed.',
    });
    expect(await again.call('clock.get')).toMatchObject({ frozen: true });
  });

  it('returns to the real time if the clock showed it, and to its moment if the clock had been moved or frozen', async () => {
    const engine = await startEngine();
    const clock = async () => await engine.call('clock.get');
    const restored: unknown[] = [];
    const moves = [[], ['clock.advance', { by: 'P3D' }], ['clock.freeze', {}], ['clock.reset', {}]] as const;
    for (const [index, [procedure, input]] of moves.entries()) {
      if (procedure !== undefined) await engine.call(procedure, input);
      const saved = await engine.call('snapshots.save', { name: `at-${index}` });
      const { frozen, offset } = await clock();
      await engine.call('clock.set', { to: '2040-01-01' });
      await engine.call('clock.freeze');
      const answer = await engine.call('snapshots.restore', { name: `at-${index}` });
      const after = await clock();
      expect([answer, after.frozen]).toEqual([saved, frozen]);
      const isClose = Math.abs(Date.parse(after.now) - Date.parse(saved.createdAt)) < 60_000;
      restored.push([saved.realTime === true, isClose, after.offset === 'PT0S', offset === 'PT0S']);
    }
    const [atRealTime, moved] = [
      [true, true, true, true],
      [false, true, false, false],
    ];
    expect(restored).toEqual([atRealTime, moved, moved, atRealTime]);
    // Of a file, too; the next start agrees.
    const file = join(temporaryFolder(), 'handed.db');
    await engine.call('snapshots.save', { name: 'handed', file });
    await engine.call('clock.advance', { by: 'P3D' });
    expect(await engine.call('snapshots.restoreFile', { file })).toMatchObject({ realTime: true });
    expect(await clock()).toMatchObject({ offset: 'PT0S', frozen: false });
    const again = await restarted(engine);
    expect(await again.call('clock.get')).toMatchObject({ offset: 'PT0S', frozen: false });
  });

  it('keeps bans and windows with their remaining time', async ({ call, api }) => {
    await call('settings.update', { banAfter: 1 });
    await call('clock.freeze');
    for (let request = 0; request <= 60; request++) await api();
    const banned = await api();
    expect(banned.json).toMatchObject({ code: 'api_key_banned' });
    await call('snapshots.save', { name: 'banned' });
    await call('clock.advance', { by: 'PT1H' });
    expect((await api()).status).toBe(200);
    await call('snapshots.restore', { name: 'banned' });
    expect(await call('clock.get')).toMatchObject({ frozen: true });
    const again = await api();
    expect([again.json, again.headers['retry-after']]).toEqual([banned.json, banned.headers['retry-after']]);
    await call('clock.advance', { by: 'PT10M' });
    expect((await api()).status).toBe(200);
  });

  it('ends imports and outdated verifications, which have no effect on the restored world', async ({ engine }) => {
    const { call } = engine;
    const { id: projectId } = await engine.demo();
    await call('snapshots.save', { name: 'demo' });
    const count = async () => (await call('pets.list', { projectId })).total;
    const before = await count();
    const domain = await call('domains.get', { hostname: 'shop.happypaws.test' });
    const seeding = call('pets.seed', { projectId, count: 50_000 });
    const verifying = call('domains.verify', { hostname: 'shop.happypaws.test' });
    const text = Array.from({ length: 30_000 }, (_, index) => `n${index} 60 IN A 127.0.0.1\n`).join('');
    const importing = call('zones.import', { name: 'happypaws.example', text });
    const outcomes = Promise.allSettled([seeding, verifying, importing]);
    const records = async () => await call('records.list', { zone: 'happypaws.example', name: 'n1' });
    while ((await count()) === before || (await records()).length === 0);
    const { snapshots } = engine.app.services;
    const [restored, refused] = await Promise.allSettled([1, 2].map(() => snapshots.restore({ name: 'demo' }, CALL)));
    expect([restored, refused]).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'conflict' } }]);
    await expect(seeding).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('A snapshot was restored meanwhile'),
    });
    await expect(importing).rejects.toMatchObject({ code: 'conflict' });
    await outcomes;
    expect([await count(), await records()]).toEqual([before, []]);
    expect(await call('domains.get', { hostname: 'shop.happypaws.test' })).toEqual(domain);
  });

  emptyTest(
    'includes the leases of commands: those of its moment are undone, those of the present return',
    async ({ engine, call }) => {
      const hold = async (name: string) => {
        const input = { name, wildcard: false, pid: process.pid, folder: '/', command: 'dev' };
        const stream = engine.app.services.runs.hold(input, CALL) as AsyncGenerator<OpenedRun>;
        await stream.next();
        return stream;
      };
      const slugs = async () => (await call('projects.list')).map(({ slug }) => slug);
      const old = await hold('of then');
      await call('snapshots.save', { name: 'running' });
      await old.return(undefined);
      const present = await hold('of now');
      expect(await slugs()).toEqual(['of-now']);
      const next = present.next();
      await call('snapshots.restore', { name: 'running' });
      expect(await next).toMatchObject({ done: true });
      expect([await slugs(), await call('runs.list')]).toEqual([[], []]);
    },
  );

  it('is kept by an ephemeral Vivarium until it stops', async () => {
    const { call, ...engine } = await startEngine({ ephemeral: true });
    await call('snapshots.save', { name: 'demo' });
    const slugs = async () => (await call('projects.list')).map(({ slug }) => slug);
    const before = await slugs();
    await call('projects.create', { name: 'Later' });
    await call('snapshots.restore', { name: 'demo' });
    expect(await slugs()).toEqual(before);
    expect((await engine.api()).status).toBe(200);
  });

  it('in a file is for another machine: its root issues the leaves, or the restoration tells why not', async () => {
    const engine = await startEngine();
    await engine.call('ca.extend', { suffix: 'acme.dev', confirm: true });
    await engine.call('zones.create', { name: 'acme.dev' });
    const { id: projectId } = (await engine.call('projects.list')).find(({ plan }) => plan === 'pro') ?? {};
    await engine.call('domains.attach', { projectId, hostname: 'app.acme.dev', local: true });
    await engine.call('clock.freeze');
    const before = await engine.call('domains.list');
    const file = join(temporaryFolder(), 'handed.db');
    await engine.call('snapshots.save', { name: 'handed', file });
    expect(await engine.call('snapshots.list')).toEqual([]);
    await engine.call('snapshots.restoreFile', { file });
    expect(await statusOver(engine, SERVED)).toBe(401);
    await engine.stop();

    const other = await startEngine({ empty: true });
    const restored = await other.call('snapshots.restoreFile', { file });
    expect(restored).toMatchObject({ name: 'handed', previous: 'before-file-1' });
    const after = await other.call('domains.list');
    const certificateOf = (domains: Domain[], name: string) =>
      domains.find(({ hostname }) => hostname === name)?.certificate;
    expect(certificateOf(after, SERVED)).toEqual(certificateOf(before, SERVED));
    expect(await statusOver(other, SERVED)).toBe(401);
    expect(certificateOf(before, 'app.acme.dev')).toMatchObject({ state: 'issued' });
    expect(certificateOf(after, 'app.acme.dev')).toMatchObject({ state: 'pending', reason: 'suffix_not_permitted' });
    expect(readdirSync(join(other.dataDir, 'snapshots'))).toEqual(['snapshot-before-file-1.db']);
  });

  emptyTest('from elsewhere replaces the world only after a copy of it, one of the last three', async () => {
    const { call } = await startEngine({ empty: true });
    const file = join(temporaryFolder(), 'handed.db');
    await call('snapshots.save', { name: 'handed', file });
    const slugs = async () => (await call('projects.list')).map(({ slug }) => slug);
    const kept: unknown[] = [];
    for (const name of ['one', 'two', 'three', 'four']) {
      await call('projects.create', { name });
      const { previous } = await call('snapshots.restoreFile', { file });
      kept.push(previous);
      expect(await slugs()).toEqual([]);
    }
    expect(kept).toEqual(['before-file-1', 'before-file-2', 'before-file-3', 'before-file-1']);
    expect((await call('snapshots.list')).length).toBe(3);
    const found: unknown[] = [];
    for (const name of kept.slice(1)) {
      await call('snapshots.restore', { name });
      found.push(await slugs());
    }
    expect(found).toEqual([['two'], ['three'], ['four']]);
  });
});

it('vivarium snapshot saves, lists, restores and removes by name, and writes a file in the current folder', async () => {
  const engine = await startEngine();
  const folder = temporaryFolder();
  const snapshot = async (...args: string[]) => {
    const line = ['snapshot', ...args, '--data-dir', engine.dataDir];
    const { code, stdout, stderr } = await runHere(line, { cwd: folder });
    return `${code} ${stdout}${stderr}`;
  };
  expect(await snapshot('list')).toMatch(/^0 There is no snapshot yet/);
  expect(await snapshot('save', 'demo')).toMatch(/^0 Saved: demo \(\d+ KiB\)\.\n$/);
  expect(await snapshot('save', 'demo')).toMatch(/^1 .*exists; choose another name, or replace it with --force/);
  expect(await snapshot('save', 'demo', '--traffic', '--force')).toMatch(/^0 Saved.*KiB, 0 recorded requests\)/);
  expect(await snapshot('save', 'demo', '--force')).toMatch(/^0 Saved/);
  expect(await snapshot('list')).toMatch(/\ndemo +20\d\d-.*KiB\n$/);
  expect(await snapshot('save', 'demo', '--file', 'to-hand-on')).toMatch(
    /^0 Written: \/.*\/to-hand-on .*no private key/,
  );
  expect(await snapshot('restore', '--file', 'to-hand-on')).toMatch(
    /^0 Restored: demo\. The clock shows the real time\.\nTo go back to the world before: .*vivarium.* snapshot restore before-file-1 --data-dir /,
  );
  expect(await snapshot('restore', 'demo')).toMatch(/^0 Restored: demo/);
  expect(await snapshot('restore', 'demo', '--file', 'to-hand-on')).toMatch(/^1 .*Unexpected argument "demo"/);
  expect(await snapshot('save', '../demo')).toMatch(/^1 .*1 to 64 lower-case letters/);
  expect(await snapshot('save', 'd'.repeat(1_000))).toMatch(/^1 .*1 to 64 lower-case letters/);
  expect(await snapshot('remove', 'demo')).toMatch(/^0 Removed: demo/);
  expect(await snapshot('remove', 'demo')).toMatch(/^1 .*There is no snapshot "demo"\. There are: before-file-1\./);
  expect(await snapshot('resume')).toMatch(/^1 .*There are list, save, restore, remove\./);
  expect(await snapshot('save')).toMatch(/^1 .*NAME is missing: .* snapshot save before-demo --data-dir \S+\n$/);
  await engine.stop();
  expect(await snapshot('list')).toMatch(/^2 .*No Vivarium is running/);
});
