import { Resolver } from 'node:dns/promises';
import { request } from 'node:http';
import { expect, it } from 'vitest';
import type { Drill } from '../../../../main/contract/breaks.ts';
import type { RecordInfo } from '../../../../main/contract/zones.ts';
import { CATALOGUE } from '../../../../main/breaks/catalogue/index.ts';
import { DRILLS } from '../../../../main/drills/catalogue/index.ts';
import { rightCause } from '../../../../main/drills/drill.ts';
import { runHere } from '../../../support/cli-io.ts';
import { type Answer, type Engine, startEngine, restarted } from '../../../support/engine.ts';
import { overTls, statusOverHttp2 } from '../../../support/engine-test.ts';

const HOST = 'drill.vivarium.localhost';
const ZONE = 'drill.test';
const SHOP = 'shop.drill.test';
const WWW = 'www.drill.test';

/** What a drill must not change. */
async function worldOf(engine: Engine): Promise<unknown> {
  const zones = await engine.call('zones.list');
  const projects = await engine.call('projects.list');
  const domains = await engine.call('domains.list');
  const certificates = await engine.call('certificates.list');
  const listed = (procedure: string, inputs: readonly object[]) =>
    Promise.all(inputs.map((input) => engine.call(procedure, input)));
  return {
    zones,
    // Their addresses change with the ports.
    projects: projects.map(({ baseUrl: _url, secureBaseUrl: _secure, ...project }) => project),
    records: await listed(
      'records.list',
      zones.map(({ name }) => ({ zone: name })),
    ),
    keys: await listed(
      'keys.list',
      projects.map(({ id }) => ({ projectId: id })),
    ),
    domains: domains.map(({ hostname, projectId, state, certificate, checks, attachedAt }) => ({
      ...{ hostname, projectId, state, attachedAt, certificate: certificate.state },
      checks: checks.map(({ code, outcome }) => [code, outcome]),
    })),
    certificates: certificates.map(({ hostname, serial, state }) => ({ hostname, serial, state })),
    settings: await engine.call('settings.get'),
    breaks: await engine.call('breaks.list'),
  };
}

/** A running drill as a player sees it. */
interface Player {
  engine: Engine;
  key: string;
  api(more?: Parameters<Engine['api']>[0]): Promise<Answer>;
}

function playerOf(engine: Engine, { running }: Drill): Player {
  const key = /Bearer (viv_\w+)/.exec(running?.command ?? '')?.[1] ?? '';
  return { engine, key, api: (more = {}) => engine.api({ host: HOST, key, ...more }) };
}

const resolver = ({ engine }: Player): Resolver => {
  const found = new Resolver();
  found.setServers([`127.0.0.1:${engine.app.runtime.dns.port}`]);
  return found;
};

async function recordsAt({ engine }: Player, name: string, type: string): Promise<RecordInfo[]> {
  const records = await engine.call('records.list', { zone: ZONE, name });
  expect(records.every(({ breakId }) => breakId === undefined)).toBe(true);
  return records.filter((record) => record.type === type);
}

async function removeAt(player: Player, name: string, type: string): Promise<void> {
  for (const { id } of await recordsAt(player, name, type)) await player.engine.call('records.remove', { id });
}

const putRight = (player: Player): Promise<unknown> =>
  player.engine.call('records.put', { zone: ZONE, name: 'shop', type: 'CNAME', value: 'cname.vivarium.localhost' });

/** The error of a handshake. */
const handshake = ({ engine }: Player, servername: string, protocol: string): Promise<string> =>
  overTls(engine, { servername, ALPNProtocols: [protocol] }, () => 'connected').catch(({ message }: Error) => message);

/** A request that hangs, until the client abandons it. */
async function hang({ engine, key }: Player): Promise<() => Promise<void>> {
  const sent = request({
    ...{ host: '127.0.0.1', port: engine.app.runtime.http.port, path: '/v1/pets' },
    headers: { host: HOST, authorization: `Bearer ${key}` },
  });
  const ended = new Promise<void>((resolve) => sent.on('error', () => resolve()));
  sent.end();
  const count = async (name: 'traffic.list' | 'traffic.running') => (await engine.call(name)).items.length;
  const before = await count('traffic.list');
  await expect.poll(async () => (await count('traffic.running')) > 0).toBe(true);
  return async () => {
    sent.destroy();
    await ended;
    await expect.poll(async () => (await count('traffic.list')) > before).toBe(true);
  };
}

interface Play {
  /** A real client shows the symptom. */
  symptom(player: Player): Promise<void>;
  fix(player: Player): Promise<void>;
}

const PET = { method: 'POST', body: { name: 'Rex', categoryId: 1 } };

const PLAYS: Readonly<Record<string, Play>> = {
  hammering: {
    async symptom({ engine, api }) {
      // Within one minute, however long it takes.
      await engine.call('clock.freeze');
      const statuses = [];
      for (let sent = 0; sent < 7; sent++) statuses.push((await api()).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    },
    async fix({ engine, api }) {
      await engine.call('clock.advance', { by: `PT${String((await api()).headers['retry-after'])}S` });
      expect((await api()).status).toBe(200);
    },
  },
  'locked-out': {
    async symptom({ api }) {
      expect((await api()).status).toBe(401);
    },
    async fix({ engine, api }) {
      const { secret } = await engine.call('keys.create', { projectId: 'drill' });
      expect((await api({ key: secret })).status).toBe(200);
    },
  },
  'bad-gateway': {
    async symptom({ api }) {
      expect((await api()).status).toBe(502);
    },
    async fix({ engine, api }) {
      await engine.call('projects.update', { projectId: 'drill', target: 'api' });
      expect((await api()).status).toBe(200);
    },
  },
  hanging: { symptom: async (player) => void (await hang(player)), fix: async (player) => (await hang(player))() },
  'record-is-there': {
    async symptom(player) {
      await expect(resolver(player).resolve4(SHOP)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    },
    async fix(player) {
      await removeAt(player, SHOP, 'CNAME');
      await putRight(player);
      expect(await resolver(player).resolve4(SHOP)).toEqual(['127.0.0.1']);
    },
  },
  'old-shop': {
    async symptom(player) {
      expect(await resolver(player).resolve4(SHOP)).toEqual(['192.0.2.1']);
    },
    fix: (player) => removeAt(player, 'shop', 'A'),
  },
  'no-padlock': {
    async symptom(player) {
      expect(await handshake(player, WWW, 'http/1.1')).toMatch(/unrecognized name|alert/);
      expect((await player.api({ host: WWW })).status).toBe(404);
    },
    async fix(player) {
      await player.engine.call('domains.attach', { projectId: 'drill', hostname: WWW, local: true });
      expect(await handshake(player, WWW, 'http/1.1')).toBe('connected');
    },
  },
  'date-for-a-wait': {
    async symptom({ api }) {
      expect((await api()).status).toBe(200);
      const { status, headers } = await api();
      expect([status, Number(headers['retry-after'])]).toEqual([429, Number.NaN]);
    },
    async fix({ api }) {
      const statuses = [(await api()).status];
      const refused = await api();
      const until = Date.parse(String(refused.headers['retry-after']));
      await expect.poll(() => Date.now() >= until, { timeout: 10_000 }).toBe(true);
      expect([...statuses, refused.status, (await api()).status]).toEqual([200, 429, 200]);
    },
  },
  twice: {
    async symptom({ api }) {
      expect([(await api(PET)).status, (await api(PET)).status]).toEqual([500, 500]);
    },
    async fix({ api }) {
      const { status, text } = await api({ path: '/v1/pets?limit=100' });
      expect([status, text.split('"Rex"').length - 1]).toEqual([200, 2]);
    },
  },
  'lent-name': {
    async symptom(player) {
      await expect(resolver(player).resolve4(SHOP)).rejects.toMatchObject({ code: 'ENODATA' });
    },
    fix: (player) => removeAt(player, 'shop', 'NS'),
  },
  'old-client': {
    async symptom(player) {
      expect(await handshake(player, HOST, 'http/1.1')).toMatch(/no application protocol/);
    },
    async fix(player) {
      const authorization = `Bearer ${player.key}`;
      expect(await statusOverHttp2(player.engine, HOST, '/v1/pets?limit=1', { authorization })).toBe(200);
    },
  },
  'issuance-stopped': {
    async symptom({ engine }) {
      const before = await engine.call('certificates.get', { hostname: SHOP });
      await engine.call('certificates.renew', { hostname: SHOP }).catch(() => undefined);
      expect(await engine.call('certificates.get', { hostname: SHOP })).toMatchObject({ serial: before.serial });
      expect(await engine.call('caa.explain', { hostname: SHOP })).toMatchObject({ verdict: 'forbidden' });
    },
    async fix(player) {
      await removeAt(player, `edge.shop`, 'CAA');
      await player.engine.call('certificates.renew', { hostname: SHOP });
    },
  },
};

/** Names that must not appear while a drill runs. */
const NAMES = new RegExp(CATALOGUE.map(({ id }) => `"${id.replaceAll('.', '\\.')}`).join('|'));

it('plays every drill: its fault shows, stays hidden in lists and can be repaired, and nothing remains of it', async () => {
  const engine = await startEngine();
  const before = await worldOf(engine);
  expect(Object.keys(PLAYS)).toEqual(DRILLS.map(({ id }) => id));
  for (const { id, causes, hints } of DRILLS) {
    const [wrong] = causes.filter(({ why }) => why !== undefined);
    const cause = rightCause({ id, causes }).id;
    const play = PLAYS[id];
    if (wrong === undefined || play === undefined) throw new Error(`${id} is no drill to play.`);
    const started = await engine.call('drills.start', { drill: id });
    expect(started.running?.command).not.toMatch(/\{\w+\}/);
    expect(started.running?.command).not.toMatch(/\bvivarium (?!.* --data-dir )/);
    const player = playerOf(engine, started);
    await play.symptom(player);
    const shown = [
      ...(await Promise.all(
        ['breaks.list', 'traffic.list', 'domains.list', 'drills.list', 'projects.list'].map((name) =>
          engine.call(name),
        ),
      )),
    ];
    expect(NAMES.test(JSON.stringify(shown)), id).toBe(false);
    expect(shown[0]).toMatchObject([{ id: 'drill', entry: 'drill', on: { hostname: HOST } }]);
    for (const _ of hints) await engine.call('drills.hint');

    const refused = await engine.call('drills.answer', { cause: wrong.id });
    expect(refused.running).toMatchObject({ wrong: [{ cause: wrong.id }], hintsLeft: 0 });
    const found = await engine.call('drills.answer', { cause });
    expect(found.running, id).toMatchObject({ found: cause, missing: expect.any(String), task: expect.any(String) });
    await play.fix(player);
    const fixed = await engine.call('drills.answer');
    expect(fixed.running, `${id}: ${fixed.running?.missing ?? ''}`).toBeUndefined();
    expect(fixed.result).toMatchObject({ hints: hints.length, wrong: 1, cause: rightCause({ id, causes }).text });
    if (id !== 'hammering') continue;
    expect(fixed.result?.steps.map(({ what }) => what)).toContain('clock.advance PT60S');
    await engine.call('clock.reset');
  }
  expect(await worldOf(engine)).toEqual(before);
});

async function vivarium({ dataDir }: Engine, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere([...args, '--data-dir', dataDir]);
  return `${code}\n${stdout}${stderr}`;
}

const command = (engine: Engine, ...args: string[]): Promise<string> => vivarium(engine, 'drill', ...args);

it('can be played by the command, continues after a restart, and stops as a whole', async () => {
  let engine = await startEngine();
  const before = await worldOf(engine);
  expect(await command(engine)).toMatch(/Begin with the first: .*vivarium.* drill start hammering --data-dir \/.*\n$/);
  expect(await command(engine, 'list')).toMatch(/\nlocked-out +api +Everything has answered 401 since lunch\n/);
  for (const [args, message] of [
    [['hint'], ' drill list --data-dir '],
    [['answer', '1'], 'No drill is running.'],
    [['stop'], 'No drill is running.'],
    [['start'], ' drill start hammering --data-dir '],
    [['start', 'locked'], 'There is no drill "locked".'],
    [['begin'], 'drill has no procedure "begin".'],
    [['hint', 'me'], 'Unexpected argument "me".'],
  ] as const)
    expect(await command(engine, ...args)).toContain(message);
  expect(await command(engine, 'start', 'locked-out')).toMatch(
    /^0\nEverything has answered 401.*\n {2}3 {2}key-revoked/s,
  );
  expect(await command(engine, 'start', 'hanging')).toContain('The drill "locked-out" is already running.');
  expect(await command(engine, 'hint')).toBe('0\nWhat does the body of the 401 say about the key?\n2 more.\n');
  expect(await command(engine, 'answer', 'banned')).toMatch(/^1\nNo\. A banned key gets 429/);
  await expect(engine.call('snapshots.save', { name: 'drilled' })).rejects.toThrow('(drill)');

  engine = await restarted(engine);
  expect(await command(engine, 'answer', 'key-revoked')).toMatch(/^1\nThat is the cause\. It is not fixed yet:\n/);
  expect(await command(engine)).toMatch(/The cause: The API key was revoked\.\nHint: What does the body/);
  const { text } = await engine.call('world.export');
  expect(text).not.toContain('drill.vivarium');
  const { secret } = await engine.call('keys.create', { projectId: 'drill' });
  expect((await engine.api({ host: HOST, key: secret })).status).toBe(200);
  expect(await command(engine, 'answer')).toMatch(/^0\nFixed in .*, with 1 hint, 1 wrong answer and 1 request\.\n/);
  expect(await command(engine)).toMatch(/locked-out +api +Everything has answered 401 since lunch +fixed in/);

  await command(engine, 'start', 'issuance-stopped');
  expect(await command(engine, 'stop')).toMatch(/^0\nStopped: Issuance stopped/);
  expect(await worldOf(engine)).toEqual(before);
});

it('ends at its time limit, when all breaks are ended, and without objects removed meanwhile', async () => {
  const engine = await startEngine({ empty: true });
  const before = await worldOf(engine);
  const start = (drill: string) => engine.call('drills.start', { drill });
  const ends: readonly [string, () => Promise<unknown>][] = [
    ['hanging', () => engine.call('clock.advance', { by: 'P1D' })],
    ['old-client', () => engine.call('breaks.stop', { id: 'drill' })],
    [
      'old-shop',
      async () =>
        expect(await vivarium(engine, 'break', 'off', '--all')).toBe(
          '0\nEnded the drill old-shop; everything that it created is removed.\n',
        ),
    ],
  ];
  for (const [drill, end] of ends) {
    await start(drill);
    await end();
    expect(await engine.call('breaks.list')).toEqual([]);
  }
  await engine.call('clock.reset');

  await start('old-shop');
  await engine.call('domains.remove', { hostname: SHOP });
  const found = await engine.call('drills.answer', { cause: 'address-beside' });
  expect(found.running?.missing).toBe('shop.drill.test is not attached to the practice project.');
  await engine.call('projects.remove', { projectId: 'drill' });
  expect((await engine.call('drills.answer')).running?.missing).toContain('The practice project was removed.');
  await engine.call('zones.remove', { name: ZONE });
  await engine.call('drills.stop');
  expect(await worldOf(engine)).toEqual(before);

  await engine.call('zones.create', { name: ZONE });
  await expect(start('old-shop')).rejects.toThrow('there is a zone drill.test. Remove that zone.');
  await start('hammering');
  await engine.call('drills.stop');
  await engine.call('settings.update', { traffic: { record: false, bodies: true } });
  await expect(start('hammering')).rejects.toThrow('drills read recorded requests');
});

it('ends with every break when a snapshot is restored, from which a copy of the repaired world leads back', async () => {
  const engine = await startEngine();
  const { id: projectId } = await engine.demo();
  const pets = async () => (await engine.call('pets.list', { projectId })).total;
  await engine.call('snapshots.save', { name: 'w0' });
  await engine.call('pets.clear', { projectId });
  const before = await worldOf(engine);
  await engine.call('drills.start', { drill: 'old-shop' });
  const { id } = await engine.call('breaks.start', {
    entry: 'dns.dangling-cname',
    on: { hostname: 'www.happypaws.test' },
  });

  const same = { name: 'w0', keep: 'w0' };
  await expect(engine.call('snapshots.restore', same)).rejects.toThrow('keep: must not be the name of the snapshot');
  const ended = 'Ended the drill old-shop; everything that it created is removed.\n';
  expect(await vivarium(engine, 'snapshot', 'restore', 'w0', '--keep', 'cleared')).toBe(
    `0\nRestored: w0. The clock shows the real time.\nRepaired: dns.dangling-cname (${id}).\n${ended}`,
  );
  expect(await pets()).toBeGreaterThan(0);
  expect(await engine.call('snapshots.restore', { name: 'cleared' })).not.toHaveProperty('ended');
  expect([await pets(), await worldOf(engine)]).toEqual([0, before]);
});
