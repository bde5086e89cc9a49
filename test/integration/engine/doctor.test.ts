import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { demoTest, emptyTest as it, ISSUED } from '../../support/engine-test.ts';
import { createClock } from '../../../main/base/clock.ts';
import type { DoctorCheck } from '../../../main/contract/doctor.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { splitShellLine } from '../../support/rpc/rpc-shell.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startUpstream } from '../../support/upstream-server.ts';
import { runIn } from '../../support/sqlite.ts';

// The machine's own trust stores are irrelevant here.
beforeEach(() => {
  vi.stubEnv('HOME', temporaryFolder());
  vi.stubEnv('XDG_DATA_HOME', '');
});
afterEach(() => vi.unstubAllEnvs());

const run = (engine: Engine, ...areas: string[]) => engine.call('doctor.run', areas.length === 0 ? {} : { areas });

async function check(engine: Engine, id: string): Promise<DoctorCheck> {
  const { checks } = await run(engine, id.slice(0, id.indexOf('.')));
  const found = checks.find((candidate) => candidate.id === id);
  if (found === undefined) throw new Error(`There is no ${id} among ${checks.map((each) => each.id).join(', ')}.`);
  return found;
}

/** Every file below a folder, with its content. */
const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      // A backup is written some seconds after each start.
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('backups'))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, `${statSync(path).mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`]),
  );

demoTest('finds a row that it cannot use, beside an engine that read it before', async () => {
  const engine = await startEngine();
  runIn(join(engine.dataDir, 'vivarium.db'), "UPDATE pets SET name = ' ' WHERE id = 2");
  expect(await check(engine, 'data.database')).toMatchObject({
    status: 'failed',
    evidence: [
      expect.stringContaining(
        'the row dataset_id 1, id 2 in the table pets: name must have at least one character other than spaces.',
      ),
    ],
    commands: expect.stringContaining('doctor --drop-bad-rows'),
  });
});

demoTest('finds no problem with a fresh demo', async ({ engine }) => {
  const report = await run(engine);
  expect(report.checks.filter(({ status }) => status === 'failed')).toEqual([]);
  expect(report.running).toBe(true);
  for (const id of ['listeners.http', 'listeners.https', 'listeners.control', 'dns.server', 'domains.platform']) {
    expect([id, report.checks.find((each) => each.id === id)?.status]).toEqual([id, 'ok']);
  }
  const { evidence } = await check(engine, 'dns.server');
  expect(evidence.filter((line) => / over (UDP|TCP) answers .* with 127\.0\.0\.1\./.test(line))).toHaveLength(4);
});

it('changes no file, counts no request, and records no traffic', async () => {
  const engine = await startEngine();
  const before = contents(engine.dataDir);
  const { counts } = await engine.call('status.get');
  await run(engine);
  expect(contents(engine.dataDir)).toEqual(before);
  expect((await engine.call('status.get')).counts.requests).toBe(counts.requests);
  expect((await engine.call('traffic.list', {})).items).toEqual([]);
});

it('checks only the given areas, and refuses an unknown one', async ({ engine }) => {
  const { checks } = await run(engine, 'clock', 'dns');
  expect([...new Set(checks.map(({ area }) => area))]).toEqual(['dns', 'clock']);
  await expect(run(engine, 'heart')).rejects.toMatchObject({ code: 'invalid_request' });
});

const SERVED = 'www.happypaws.test';

describe('domains', () => {
  demoTest('are checked against their state', async ({ engine }) => {
    const served = await check(engine, 'domains.www.happypaws.test');
    expect([served.status, served.evidence[0]]).toEqual(['ok', expect.stringMatching(/^TLSv1\.3, signed by our root/)]);
    const lost = await check(engine, 'domains.shop.happypaws.test');
    expect([lost.status, lost.evidence.at(-1)]).toEqual([
      'warning',
      'So HTTPS is refused, with the TLS alert unrecognized_name.',
    ]);
    expect(lost.fix).toContain('CNAME cname.vivarium.localhost');
    expect(lost.commands).toMatch(
      /^.*record update rec_\w+ --value cname\.vivarium\.localhost --data-dir .*\n.*domain verify shop\.happypaws\.test --data-dir .*$/,
    );
  });

  demoTest('that are broken on purpose are to be repaired, not renewed', async ({ engine, call }) => {
    for (const [id, hostname] of Object.entries({ [SERVED]: SERVED, platform: 'demo.vivarium.localhost' })) {
      // The doctor makes no handshake that would use it up.
      const broken = { entry: 'tls.expired', on: { hostname }, first: 1 };
      const { id: run, until } = await call('breaks.start', broken);
      const { status, evidence, commands } = await check(engine, `domains.${id}`);
      const said = `Broken on purpose: Expired certificate (tls.expired), until ${until}.`;
      expect([status, evidence[0], commands]).toEqual(['warning', said, expect.stringContaining(`break off ${run}`)]);
      expect(await call('breaks.stop', { id: run })).toMatchObject({ struck: 0 });
      expect((await check(engine, `domains.${id}`)).status).toBe('ok');
    }
  });

  demoTest('are repaired by the first printed commands', async ({ engine, call }) => {
    const cases = [
      { hostname: 'happypaws.example', persona: 'animal-store', records: 1 },
      { hostname: 'shop.happypaws.test', persona: 'mintlify', records: 3 },
    ];
    for (const { hostname, persona, records } of cases) {
      await call('projects.update', { projectId: 'happy-paws', persona });
      const { commands = '' } = await check(engine, `domains.${hostname}`);
      const lines = commands.split('\n').slice(0, -1);
      expect(lines).toHaveLength(records);
      for (const line of lines) {
        const [, procedure, ...words] = splitShellLine(line.slice(line.indexOf('record ')));
        const [zone, name, type, value] = words;
        if (procedure === 'put') await call('records.put', { zone, name, type, value });
        else await call('records.update', { id: words[0], value: words[2] });
      }
      await call('clock.advance', { by: 'PT1H' });
      expect(await call('domains.verify', { hostname })).toMatchObject(ISSUED);
    }
  });

  demoTest('stay healthy when the app’s clock is moved past a renewal', async ({ engine, call }) => {
    await call('clock.advance', { by: 'P80D' });
    expect((await check(engine, 'domains.www.happypaws.test')).status).toBe('ok');
    const clock = await check(engine, 'clock.app');
    expect([clock.status, clock.evidence[0]]).toEqual(['warning', expect.stringContaining('80 days ahead')]);
    expect((await check(engine, 'clock.machine')).status).toBe('ok');
  });
});

describe('the doctor reports', () => {
  it('a root key that others can read', async () => {
    const engine = await startEngine({ empty: true });
    const key = join(engine.dataDir, 'ca/root-key.pem');
    expect((await check(engine, 'root.key')).status).toBe('ok');
    chmodSync(key, 0o644);
    const found = await check(engine, 'root.key');
    expect([found.status, found.evidence[0], found.commands]).toEqual([
      'failed',
      expect.stringContaining('mode 0644; it should have 0600'),
      `chmod 600 ${key}`,
    ]);
    // A check repairs nothing.
    expect(statSync(key).mode & 0o777).toBe(0o644);
  });

  it('a root that was replaced while in use, and one that is missing', async () => {
    const engine = await startEngine({ empty: true });
    const other = await startEngine({ empty: true });
    const file = join(engine.dataDir, 'ca/root.pem');
    writeFileSync(file, readFileSync(join(other.dataDir, 'ca/root.pem')));
    expect((await check(engine, 'root.certificate')).evidence).toContainEqual(
      expect.stringContaining('signs with another certificate'),
    );
    expect((await check(engine, 'root.key')).evidence[0]).toContain('is not the key');
  });

  demoTest('a demo key that others can read', async ({ engine }) => {
    chmodSync(join(engine.dataDir, 'demo-key.json'), 0o604);
    const found = await check(engine, 'data.folder');
    expect([found.status, found.commands]).toEqual(['failed', expect.stringMatching(/^chmod 600 .*demo-key\.json$/)]);
  });

  it('backups that are missing, old, or truncated', async () => {
    const engine = await startEngine({ empty: true });
    const backups = join(engine.dataDir, 'backups');
    mkdirSync(backups, { recursive: true });
    const file = join(backups, 'vivarium-v6-20261120T090000000Z.db');
    writeFileSync(file, readFileSync(join(engine.dataDir, 'vivarium.db')));
    expect((await check(engine, 'data.backups')).status).toBe('ok');
    const seconds = createClock().now() / 1000 - 9 * 86_400;
    utimesSync(file, seconds, seconds);
    const old = await check(engine, 'data.backups');
    expect([old.status, old.evidence[0]]).toEqual(['warning', expect.stringContaining('9 days ago')]);
    writeFileSync(file, readFileSync(file).subarray(0, 5_000));
    const cut = await check(engine, 'data.backups');
    expect([cut.status, cut.evidence[1]]).toEqual(['failed', expect.stringMatching(/cut off: 5000 of \d+ bytes/)]);
  });

  it('an upstream that is not started', async ({ engine, call }) => {
    const { http } = engine.app.runtime;
    const up = { kind: 'upstream', url: (await startUpstream((_request, response) => response.end())).url };
    await call('projects.create', { name: 'Up', target: up });
    expect((await check(engine, 'upstreams.up')).status).toBe('ok');
    // Nothing listens there except on 127.0.0.1 and ::1.
    await call('projects.create', { name: 'Down', target: { ...up, url: `http://127.0.0.9:${http.port}` } });
    const down = await check(engine, 'upstreams.down');
    expect([down.status, down.down, down.title]).toEqual(['warning', true, 'Target of Down']);
  });

  it('whether requests get through to an upstream', async ({ engine, call }) => {
    const { http, https } = engine.app.runtime;
    const create = (name: string, url: string, more: object = {}) =>
      call('projects.create', { name, target: { kind: 'upstream', url, ...more } });
    await create('Named', `http://deep.app.localhost:${http.port}`);
    await create('Untrusted', `https://named.vivarium.localhost:${https.port}`);
    await create('Any', `https://named.vivarium.localhost:${https.port}`, { verifyCertificate: false });
    await create('Clear', `https://127.0.0.1:${http.port}`);
    await create('Nowhere', 'http://no-such-host.invalid:1');
    const found = async (name: string) => {
      const { status, evidence, fix } = await check(engine, `upstreams.${name}`);
      return [status, ...evidence, fix ?? ''].join(' ');
    };
    expect(await found('named')).toMatch(/^ok /);
    expect(await found('any')).toMatch(/^ok /);
    expect(await found('untrusted')).toMatch(/^warning The certificate of .* is not trusted .* verifyCertificate/);
    expect(await found('clear')).toMatch(/^warning .* does not speak TLS .* start the target with http:/);
    expect(await found('nowhere')).toMatch(/^warning This machine cannot resolve the host of/);
  });

  it('a resolver that does not answer', async ({ engine, call }) => {
    // A port of this engine that is not DNS over UDP.
    await call('settings.update', { resolver: `127.0.0.1:${engine.app.runtime.http.port}` });
    const found = await check(engine, 'dns.resolver');
    expect([found.status, found.commands]).toEqual(['failed', expect.stringContaining('--resolver local')]);
    expect((await check(engine, 'dns.server')).status).toBe('ok');
  });
});
