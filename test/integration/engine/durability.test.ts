import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startEngine, track } from '../../support/engine.ts';
import { startProgram } from '../../support/program.ts';
import { hasSmallDisks, onSmallDisk } from '../../support/small-disk.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { turnsDuring } from '../../support/turns.ts';
import { execute } from '../../support/command.ts';

const WRITERS = 8;
const ENOUGH = 400;

it('data acknowledged with 201 survives kill -9', async () => {
  const program = await startProgram();
  const secret = /viv_\w{32}/.exec(program.output().stdout)?.[0] ?? '';
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  await program.call('projects.update', { projectId: 'demo', plan: 'enterprise', limits });
  const acknowledged = new Map<number, string>();
  let killed = false;

  const post = (name: string) =>
    new Promise<void>((resolve) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: program.runtime.http.port,
          method: 'POST',
          path: '/v1/pets',
          agent: false,
          headers: {
            host: `demo.vivarium.localhost:${program.runtime.http.port}`,
            authorization: `Bearer ${secret}`,
            'content-type': 'application/json',
          },
        },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('error', () => resolve());
          response.on('end', () => {
            if (response.statusCode === 201) acknowledged.set((JSON.parse(text) as { id: number }).id, name);
            resolve();
          });
        },
      );
      sent.on('error', () => resolve());
      sent.end(JSON.stringify({ name, categoryId: 1 }));
    });

  const writer = async (writerNumber: number) => {
    for (let count = 0; !killed; count++) {
      await post(`pet ${writerNumber}-${count}`);
      if (acknowledged.size >= ENOUGH && !killed) {
        killed = true;
        program.child.kill('SIGKILL');
      }
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, index) => writer(index)));
  await program.end('SIGKILL');

  const again = await startProgram([], { dataDir: program.dataDir });
  const kept = new Map<number, string>();
  let after: string | undefined;
  do {
    const page = await again.call('pets.list', { projectId: 'demo', limit: 1000, after });
    for (const pet of page.items) kept.set(Number(pet.id), String(pet.name));
    after = page.next;
  } while (after !== undefined);

  expect(acknowledged.size).toBeGreaterThanOrEqual(ENOUGH);
  const lost = [...acknowledged].filter(([id, name]) => kept.get(id) !== name);
  expect(lost).toEqual([]);
});

it('an engine that fails restarts on its data and ports; one that keeps failing ends with the reason', async () => {
  const thrower = `process.on('SIGUSR2', () => { throw new Error('nobody expected this'); });`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(thrower)}` };
  const { call, child, output, end } = await startProgram(['--empty'], { env });
  const fail = () => child.kill('SIGUSR2');
  const warnings = () =>
    call('status.get').then(
      ({ warnings: given }) => given.join('\n'),
      () => 'it does not answer',
    );
  for (const name of ['one', 'two', 'three']) {
    await call('projects.create', { name });
    const before = await warnings();
    fail();
    const again = /^Vivarium failed at \S+ and was started again\. nobody expected this\./;
    await expect.poll(async () => (await warnings()).replace(before, '')).toMatch(again);
  }
  expect(await call('projects.list')).toHaveLength(3);
  fail();
  const { code } = await end('SIGWINCH');
  expect([code, output().stderr]).toEqual([1, expect.stringContaining('failed more than 3 times within a minute')]);
});

const CHILD = join(import.meta.dirname, 'full-disk-child.ts');

/** It changes counters in memory, which are stored later. */
const UNSTORED = 'limits.reset';

it.runIf(hasSmallDisks)(
  'on a full disk no call fails with 500, none is done by half, and the clock stays',
  async () => {
    const folder = temporaryFolder();
    const within = onSmallDisk(folder, '12m');
    const { stdout } = await execute(within[0] ?? '', [...within.slice(1), process.execPath, CHILD, folder]);
    const { before, after, outcomes, healed } = JSON.parse(stdout) as {
      before: object;
      after: object;
      outcomes: { procedure: string; status: number; message: string }[];
      healed: number[];
    };
    expect(outcomes.length).toBeGreaterThan(25);
    for (const { procedure, status, message } of outcomes) {
      const isRefused = procedure !== UNSTORED;
      expect([procedure, status, message]).toEqual([
        procedure,
        isRefused ? 503 : 200,
        isRefused ? expect.stringMatching(/disk (?:that holds .* )?is full/) : '',
      ]);
    }
    expect(after).toEqual(before);
    expect(healed).toEqual([200, 200, 200, 200, 200]);
  },
);

it('a file of the data folder that can not be written is named with 503', async () => {
  const engine = await startEngine({ empty: true });
  const refused = (what: string) => ({ code: 'unavailable', message: expect.stringContaining(what) });
  writeFileSync(join(engine.dataDir, 'snapshots'), '');
  await expect(engine.call('snapshots.save', { name: 'one' })).rejects.toMatchObject(refused('/snapshots'));
  rmSync(join(engine.dataDir, 'control-token'));
  mkdirSync(join(engine.dataDir, 'control-token'));
  await expect(engine.call('access.renewToken')).rejects.toMatchObject(refused('it is a folder'));
  expect(await engine.call('status.get')).toBeDefined();
});

const CLIENTS = 600;

it.runIf(process.platform === 'linux')(
  'idle connections to the control port leave descriptors to everything else, with 256 of them',
  async () => {
    const program = await startProgram([], { within: ['prlimit', '--nofile=256:256'] });
    const { control, http } = program.runtime;
    for (let count = 0; count < CLIENTS; count++) {
      const socket = connect(Number(new URL(control.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      track(() => void socket.destroy());
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    }
    // The first call loads its modules, the second writes a file.
    await program.call('world.diff', { text: '{"vivarium": 1}' });
    await program.call('snapshots.save', { name: 'one' });
    const statuses = [];
    for (let count = 0; count < 10; count++)
      statuses.push((await fetch(`http://127.0.0.1:${http.port}/`, { headers: { connection: 'close' } })).status);
    expect(statuses).toEqual(Array(10).fill(404));
    expect((await program.end()).code).toBe(0);
  },
);

it('stops everything else if one part cannot be stopped', async () => {
  const engine = await startEngine({ empty: true });
  const { control, http } = engine.app.runtime;
  // A folder in place of the file cannot be removed, even by root.
  const runtimeFile = join(engine.dataDir, 'runtime.json');
  rmSync(runtimeFile);
  mkdirSync(runtimeFile);
  writeFileSync(join(runtimeFile, 'x'), '');
  await engine.app.stop();
  for (const url of [control.url, `http://127.0.0.1:${http.port}`]) await expect(fetch(url)).rejects.toThrow();
  expect(engine.log.at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining('stopped') });
  rmSync(runtimeFile, { recursive: true });
  await startEngine({ empty: true, dataDir: engine.dataDir });
});

const CALL = { signal: undefined };
const DOMAINS = 320;

it('lets other work run while domains are imported, listed and exported', async () => {
  const { services } = (await startEngine({ empty: true })).app;
  const names = Array.from({ length: DOMAINS }, (_, number) => `d${number}`);
  const text = JSON.stringify({
    vivarium: 1,
    projects: {
      many: {
        plan: 'pro',
        domains: Object.fromEntries(names.map((name) => [`${name}.many.test`, {}])),
        pets: { production: names.map((name) => ({ name, categoryId: 1 })) },
      },
    },
    zones: { 'many.test': names.map((name) => `${name} CNAME cname.vivarium.localhost.`).join('\n') },
  });
  // Two steps for each of both long parts, five for the zone's records, and two to find the owners of the domains.
  expect(await turnsDuring(() => services.world.diff({ text }, CALL))).toBeGreaterThanOrEqual(10);
  expect(await turnsDuring(() => services.world.apply({ text }, CALL))).toBeGreaterThan(DOMAINS);
  await services.clock.advance({ by: 'P2D' }, CALL);
  expect(await services.certificates.list({}, CALL)).toHaveLength(DOMAINS);
  expect(await turnsDuring(() => services.certificates.list({}, CALL))).toBeGreaterThanOrEqual(3);
  expect(await turnsDuring(() => services.domains.list({}, CALL))).toBeGreaterThanOrEqual(2);
  expect(await turnsDuring(() => services.world.export(undefined, CALL))).toBeGreaterThanOrEqual(2);
});

it('lets other work run while more records at one name become visible than fit into one turn', async () => {
  const { services } = (await startEngine({ empty: true })).app;
  const COUNT = 1_500;
  const text = (ttl: number) =>
    Array.from({ length: COUNT }, (_, number) => `h ${ttl} A 10.0.${number >> 8}.${number & 255}`).join('\n');
  await services.settings.update({ propagation: 'PT1H' }, CALL);
  await services.zones.create({ name: 'big.test', supportsAlias: false }, CALL);
  let happened: string[] = [];
  for (const ttl of [60, 30]) {
    await services.zones.import({ name: 'big.test', text: text(ttl), files: {}, force: false }, CALL);
    const pass = async () => ({ happened } = await services.clock.advance({ by: 'PT1H' }, CALL));
    // If the TTL differs, the present records end first.
    expect(await turnsDuring(pass)).toBeGreaterThanOrEqual((ttl === 60 ? COUNT : 2 * COUNT) / 500);
    expect(happened).toContain('1 DNS change is visible now.');
    const { answer } = await services.dns.query({ name: 'h.big.test', type: 'A' }, CALL);
    expect([answer.length, new Set(answer.map((record) => record.ttl))]).toEqual([COUNT, new Set([ttl])]);
  }
});
