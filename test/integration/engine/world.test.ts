import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { emptyTest as it } from '../../support/engine-test.ts';
import { UP } from '../../../main/cli/world/world.ts';
import { worldSchema } from '../../../main/world/schema.ts';
import type { Output } from '../../support/rpc/rpc-call.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { commandHere, runHere } from '../../support/cli-io.ts';
import { runCli } from '../../support/rpc/rpc-cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ZONE_TEXT = 'shop CNAME cname.vivarium.localhost.\n@ CAA 0 issue "vivarium.localhost"\n';

/** A file as written by hand, in the wording of the research on vivarium.yaml. */
const FILE = {
  vivarium: 1,
  settings: { banAfter: 7, caaIdentity: { domain: 'ca.example' } },
  projects: {
    acme: {
      plan: 'pro',
      pets: { production: [{ id: '9007199254740993', name: 'Rex', categoryId: 1, status: 'sold' }] },
      keys: ['CI', 'CI'],
      domains: {
        'shop.acme.test': { redirect: 'acme.test', status: 308 },
        'acme.test': { redirect: 'https://acme.test', status: 308, hsts: true },
      },
      primary: 'acme.test',
    },
    big: { name: 'Big one', plan: 'enterprise', limits: { perMinute: 5, perDay: 50 }, pets: 3 },
    app: { target: { kind: 'upstream', url: 'http://127.0.0.1:9', limited: true }, persona: 'netlify' },
  },
  zones: {
    'acme.test': ZONE_TEXT,
    'plain.test': { supportsAlias: false, text: '@ A 127.0.0.1\n' },
    'signed.test': { signed: true },
  },
};

type Applied = Output<'world.apply'>;

const apply = (engine: Engine, file: unknown) => engine.call('world.apply', { text: JSON.stringify(file) });
const exported = (engine: Engine) => engine.call('world.export', { format: 'json' });
const whatOf = ({ changes }: Pick<Applied, 'changes'>) => changes.map(({ kind, what }) => `${kind} ${what}`);

const anotherEngine = () => startEngine({ empty: true });

describe('world.apply', () => {
  it('creates what is in the file, and changes nothing the second time', async ({ engine, call, api }) => {
    const first = await apply(engine, FILE);
    expect(whatOf(first)).toEqual([
      ...['setting banAfter', 'setting caaIdentity', 'zone acme.test', 'records acme.test', 'zone plain.test'],
      ...['records plain.test', 'zone signed.test', 'signing signed.test', 'project acme', 'key acme/CI'],
      ...['key acme/CI', 'pets acme/production', 'domain acme/shop.acme.test', 'domain acme/acme.test'],
      ...['redirect acme/shop.acme.test', 'redirect acme/acme.test', 'primary acme', 'project big'],
      ...['pets big/production', 'project app'],
    ]);
    expect(first.keys).toHaveLength(2);
    // Attached domains are checked at once: one has no record that leads here.
    const domains = await call('domains.list');
    const verified = domains.filter(({ state }) => state === 'verified').map(({ hostname }) => hostname);
    expect([verified, first.unverified]).toEqual([['shop.acme.test'], ['acme.test']]);
    const projects = await call('projects.list');
    expect(projects.find(({ slug }) => slug === 'acme')).toMatchObject({
      name: 'acme',
      plan: 'pro',
      primary: 'acme.test',
      redirects: [
        { from: 'shop.acme.test', to: 'acme.test', status: 308 },
        { from: 'acme.test', to: 'https://acme.test', status: 308, hsts: true },
      ],
    });
    const answer = await api({ host: 'acme.vivarium.localhost', key: first.keys[0]?.secret ?? '' });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"id":9007199254740993,"name":"Rex"')]);

    expect(await apply(engine, FILE)).toMatchObject({ changes: [], keys: [] });
  });

  it('keeps what is not in the file, and changes what differs', async ({ engine, call }) => {
    await apply(engine, FILE);
    const { changes } = await apply(engine, {
      vivarium: 1,
      projects: {
        big: { plan: 'pro', pets: 9 },
        acme: { domains: { 'acme.test': {} }, primary: null, keys: ['CI', 'Mine'] },
      },
    });
    expect(changes).toEqual([
      { kind: 'project', what: 'big', before: { plan: 'enterprise' }, after: { plan: 'pro' } },
      { kind: 'key', what: 'acme/Mine', after: 'Mine' },
      { kind: 'primary', what: 'acme', before: 'acme.test', after: null },
    ]);
    expect(await call('domains.list')).toHaveLength(2);
  });

  it.for([
    ['cannot be read', '{"vivarium": 1', /^Line 1, column 15: /],
    ['has an unknown property', '{ plann: pro }', /projects\.a\.plann \(line 3, column \d+\) is not a known property/],
    ['asks for what its plan lacks', '{ domains: { a.test: } }', /projects\.a\.domains.*a\.test.* is on the Free plan/],
  ] as const)('refuses a text that %s, and changes nothing', async ([_what, wrong, says], { engine, call }) => {
    const before = await exported(engine);
    const good =
      'vivarium: 1\nprojects:\n  a: WRONG\n  good: {}\nzones: { good.test: "" }\nsettings: { banAfter: 3 }\n';
    const text = wrong.startsWith('{"') ? wrong : good.replace('WRONG', wrong);
    await expect(call('world.apply', { text })).rejects.toThrow(says);
    expect(await exported(engine)).toEqual(before);
  });
});

describe('world.export', () => {
  it('moves the demo to another Vivarium, without secrets', async () => {
    const from = await startEngine();
    const { text, omitted } = await exported(from);
    expect(omitted).toEqual([]);
    expect(text).not.toMatch(/viv_|PRIVATE KEY|SOA/);
    const to = await anotherEngine();
    await to.call('world.apply', { text });
    expect(JSON.parse((await exported(to)).text)).toEqual(JSON.parse(text));
    expect(await to.call('world.diff', { text })).toMatchObject({ changes: [] });
    expect(await from.call('world.diff', { text })).toMatchObject({ changes: [] });
  });

  it('reproduces everything that a file can express', async () => {
    const from = await anotherEngine();
    await apply(from, FILE);
    const { text } = await exported(from);
    const to = await anotherEngine();
    await to.call('world.apply', { text });
    expect(JSON.parse((await exported(to)).text)).toEqual(JSON.parse(text));
  });

  it('has a schema at the control port, which editors read without the token', async () => {
    const { app } = await anotherEngine();
    const answer = await fetch(`${app.runtime.control.url}/vivarium.schema.json`);
    expect([answer.headers.get('content-type'), await answer.json()]).toEqual([
      'application/schema+json; charset=utf-8',
      worldSchema(),
    ]);
  });

  it('omits datasets that are too large for a file, and reports it', async ({ engine }) => {
    await apply(engine, { vivarium: 1, projects: { big: { pets: { production: 10_001, staging: 10_000 } } } });
    const { text, omitted } = await exported(engine);
    expect(omitted).toEqual(['10,001 pets of big, production: more than 10,000.']);
    expect(text.match(/"categoryId"/g)).toHaveLength(10_000);
  });

  it('omits what a file cannot express, and reports it', async ({ engine, call }) => {
    await apply(engine, FILE);
    await call('projects.update', { projectId: 'acme', plan: 'free' });
    await call('clock.advance', { by: '1d' });
    const { text, omitted } = await exported(engine);
    expect(omitted).toEqual([
      'The domains of acme, whose plan has none: 2.',
      'The clock, which has been moved and is running: a file can only contain a frozen clock.',
    ]);
    const { stderr } = await runHere(['export', '--data-dir', engine.dataDir]);
    expect(stderr).toContain('vivarium: Left out: The clock, which has been moved and is running: a file can');
    const to = await anotherEngine();
    await to.call('world.apply', { text });
    expect((await exported(to)).text).toBe(text);
  });
});

describe('a file', () => {
  const owned = { vivarium: 1, settings: { banAfter: 7 }, projects: { acme: { plan: 'pro', keys: ['CI'] } } };
  const more = {
    ...owned,
    projects: { acme: { plan: 'pro', domains: { 'a.test': {} } } },
    zones: { 'a.test': '@ A 127.0.0.1' },
  };
  const up = (engine: Engine, content: unknown, more: object = {}) =>
    engine.call('world.apply', { text: JSON.stringify(content), file: '/a/vivarium.yaml', ...more });

  it('owns what it creates, and removes it only if that is allowed', async ({ engine, call }) => {
    const before = await exported(engine);
    await up(engine, owned);
    await expect(up(engine, more)).rejects.toThrow(
      'Nothing was changed: the file no longer contains key acme/CI, which would be removed; allow the removal (--remove), or restore the entries.',
    );
    expect(whatOf(await up(engine, more, { remove: true }))).toEqual([
      'key acme/CI',
      'zone a.test',
      'records a.test',
      'domain acme/a.test',
    ]);
    const [owner] = await call('world.owners');
    expect([owner?.file, owner?.entries.map(({ kind, what }) => `${kind} ${what}`)]).toEqual([
      '/a/vivarium.yaml',
      ['domain a.test', 'project acme', 'records a.test', 'setting banAfter', 'zone a.test'],
    ]);
    expect(whatOf(await up(engine, { vivarium: 1 }, { remove: true }))).toEqual([
      'project acme',
      'zone a.test',
      'setting banAfter',
    ]);
    expect(await call('world.owners')).toEqual([]);
    expect(await exported(engine)).toEqual(before);
  });

  it.for([10, 11])('names ten entries that it no longer contains: of %i', async (count, { engine }) => {
    const rest = count === 11 ? ' and 1 more' : '';
    const zones = Array.from({ length: count }, (_, index) => [`z${index}.test`, '']);
    await up(engine, { vivarium: 1, zones: Object.fromEntries(zones) });
    await expect(up(engine, { vivarium: 1 })).rejects.toThrow(RegExp(`contains (zone \\S+ ?){10}${rest}, which`));
  });

  it('leaves what other sources created', async ({ engine, call }) => {
    await apply(engine, { vivarium: 1, projects: { mine: {} } });
    await up(engine, more);
    await call('domains.attach', { projectId: 'acme', hostname: 'hand.test' });
    await call('records.put', { zone: 'a.test', name: 'hand', type: 'A', value: '127.0.0.1' });
    await expect(up(engine, { ...more, projects: { mine: { plan: 'pro' } } }, { remove: true })).rejects.toThrow(
      /projects\.mine \(line 1, .*\) already exists with other content, and no file owns it/,
    );
    const down = await up(engine, { vivarium: 1 }, { remove: true });
    expect(down.kept).toEqual([
      'Project acme: the domain hand.test in it is not the file’s.',
      'Zone a.test: 1 record in it is not the file’s.',
    ]);
    expect(whatOf(down)).toEqual(['domain acme/a.test', 'records a.test', 'setting banAfter']);
    expect(await call('domains.list')).toMatchObject([{ hostname: 'hand.test' }]);
  });

  it('cannot take over what another file owns, unless it adopts it', async ({ engine }) => {
    await up(engine, owned);
    const other = { file: '/b/vivarium.yaml' };
    await expect(up(engine, owned, other)).rejects.toThrow(/belongs to \/a\/vivarium\.yaml/);
    await up(engine, owned, { ...other, adopt: true });
    expect(whatOf(await up(engine, { vivarium: 1 }, { remove: true }))).toEqual([]);
    expect(whatOf(await up(engine, { vivarium: 1 }, { ...other, remove: true }))).toEqual([
      'project acme',
      'setting banAfter',
    ]);
  });

  it('adopts existing objects, which remain when the file is removed', async ({ engine, call }) => {
    await apply(engine, owned);
    expect(whatOf(await up(engine, { ...owned, projects: { acme: { plan: 'free' } } }, { adopt: true }))).toEqual([
      'project acme',
    ]);
    expect(whatOf(await up(engine, { vivarium: 1 }, { remove: true }))).toEqual([]);
    expect(await call('projects.list')).toMatchObject([{ slug: 'acme', plan: 'free' }]);
  });

  it('signs a zone for as long as it says so, and leaves the zone as it was before', async ({ engine, call }) => {
    await call('zones.create', { name: 'a.test' });
    const isSigned = async () => (await call('zones.dnssec', { name: 'a.test' })).signed;
    const saying = (signed: boolean) => ({ vivarium: 1, zones: { 'a.test': { signed } } });
    const down = () => up(engine, { vivarium: 1 }, { remove: true });
    const change = { kind: 'signing', what: 'a.test', before: false, after: true };
    expect((await up(engine, saying(true))).changes).toEqual([change]);
    expect(await isSigned()).toBe(true);
    expect((await down()).changes).toEqual([{ ...change, before: true, after: false }]);
    expect(await isSigned()).toBe(false);

    await call('zones.dnssec', { name: 'a.test', signed: true });
    await expect(up(engine, saying(false))).rejects.toThrow(/zones\.a\.test\.signed .*no file owns it/);
    await up(engine, saying(false), { adopt: true });
    expect(await isSigned()).toBe(false);
    await down();
    expect(await isSigned()).toBe(true);

    await up(engine, saying(true), { adopt: true });
    await call('zones.remove', { name: 'a.test' });
    expect(await call('world.owners')).toEqual([]);
  });

  it('takes effect once when applied twice at once', async ({ engine, call }) => {
    const both = await Promise.all([up(engine, owned), up(engine, owned)]);
    expect(both.map(({ changes }) => changes.length)).toEqual([3, 0]);
    expect(await call('keys.list', { projectId: 'acme' })).toHaveLength(1);
  });

  it('includes the texts of the files that it names', async ({ call }) => {
    const text =
      'vivarium: 1\nseed: 7\nprojects: { a: { pets: pets.json }, b: { pets: 2 } }\nzones:\n  z.test: { file: z.zone }\n';
    await expect(call('world.diff', { text })).rejects.toThrow(
      /projects\.a\.pets \(line 3, column 24\) names the file "pets\.json", whose text is missing/,
    );
    await expect(call('world.diff', { text, files: { 'pets.json': '[{}]', 'z.zone': '' } })).rejects.toThrow(
      /names a file with a fault: pets\.json\[0\]\.name is required/,
    );
    const files = { 'pets.json': '[{"name":"Rex","categoryId":1}]', 'z.zone': '@ A 127.0.0.1' };
    const applied = await call('world.apply', { text, files });
    expect(whatOf(applied)).toContain('records z.test');
    const [seeded] = (await call('pets.list', { projectId: 'b' })).items;
    const other = await anotherEngine();
    await apply(other, { vivarium: 1, projects: { b: { pets: 2 } } });
    const [first] = (await other.call('pets.list', { projectId: 'b' })).items;
    expect(seeded?.name).not.toBe(first?.name);
  });

  it('freezes the clock, and its removal unfreezes it', async ({ engine, call }) => {
    const text = 'vivarium: 1\nclock: { at: 2027-02-10 }\n';
    await call('world.apply', { text, file: '/a' });
    expect(await call('clock.get')).toMatchObject({ now: '2027-02-10T00:00:00.000Z', frozen: true });
    expect(await call('world.diff', { text, file: '/a' })).toMatchObject({ changes: [] });
    expect((await exported(engine)).text).toContain('"at": "2027-02-10T00:00:00.000Z"');
    await up(engine, { vivarium: 1 }, { file: '/a', remove: true });
    expect(await call('clock.get')).toMatchObject({ frozen: false, offset: 'PT0S' });
  });
});

describe('vivarium export, up, diff, check and down', () => {
  beforeEach(() => void vi.stubEnv('VIVARIUM_COMMAND', 'vivarium'));
  afterEach(() => void vi.unstubAllEnvs());

  it('reproduce the same bytes in an empty folder', async () => {
    const from = await startEngine();
    await from.call('zones.create', { name: 'signed.test', supportsAlias: false });
    await from.call('zones.dnssec', { name: 'signed.test', signed: true });
    const to = await anotherEngine();
    const folder = temporaryFolder();
    const [file, again] = [join(folder, 'vivarium.yaml'), join(folder, 'again.yaml')];
    expect(await runCli(['export', '--file', file, '--data-dir', from.dataDir])).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^Written: .*vivarium\.yaml \(\d+ KiB\)\.\n$/),
    });
    expect(readFileSync(file, 'utf8')).toMatch(/^# yaml-language-server: .*\n\nvivarium: 1\n/);
    const dry = await runHere(['diff', '--file', file, '--data-dir', to.dataDir]);
    expect(dry.stdout).toMatch(/^create +project +demo /m);
    expect(dry.stdout).toMatch(/^change +signing +signed\.test /m);
    expect(await to.call('projects.list')).toEqual([]);
    const done = await runHere(['up', '--file', file, '--data-dir', to.dataDir]);
    // The demo has a domain with a wrong record.
    expect([done.code, done.stderr]).toEqual([1, expect.stringContaining('Not verified: shop.happypaws.test. ')]);
    expect(done.stdout).toMatch(/^create +domain +happy-paws\/www\.happypaws\.test$/m);
    expect(done.stdout).toMatch(/^The secret of demo\/Demo key, shown only here: viv_\w{32}$/m);
    expect((await runHere(['up', '--file', file, '--data-dir', to.dataDir])).stdout).toMatch(
      /^Nothing to change: \d+ entries match the file\.\n$/,
    );
    await runHere(['export', '--file', again, '--data-dir', to.dataDir]);
    expect(readFileSync(again, 'utf8')).toBe(readFileSync(file, 'utf8'));
    const down = await runHere(['down', '--file', file, '--data-dir', to.dataDir]);
    expect(down.stdout).toMatch(/^remove +project +demo .*\n(?:.*\n)*Removed: \d+ entries\.\n$/);
    expect(await to.call('projects.list')).toEqual([]);
  });

  it('follow a file and the files that it names with --watch', async ({ engine, call }) => {
    const workingDir = realpathSync(temporaryFolder());
    const write = (name: string, text: string) => writeFileSync(join(workingDir, name), text);
    const applied = () => call('zones.list');
    write('z.zone', '@ A 127.0.0.1\n');
    write('vivarium.yaml', 'vivarium: 1\nzones: { z.test: { file: z.zone } }\n');
    const { io, printed, interrupt } = commandHere({ cwd: workingDir });
    const said = () => printed.stdout + printed.stderr;
    const ended = UP.run(['--watch', '--data-dir', engine.dataDir], io);
    await expect.poll(said).toMatch(/watching .*vivarium\.yaml, .*z\.zone; Ctrl-C ends\.\n$/);
    write('z.zone', '@ A 127.0.0.1\nwww A 127.0.0.1\n');
    await expect.poll(applied).toMatchObject([{ records: 2 }]);
    write('vivarium.yaml', 'vivarium: 2\n');
    await expect.poll(said).toMatch(/vivarium: The file was written for a newer Vivarium \(2; this one reads 1\)/);
    interrupt();
    expect(await ended).toBe(0);
  });

  it('verify the domains that a file attaches, even while the clock is frozen', async ({ engine, call }) => {
    const file = join(temporaryFolder(), 'vivarium.yaml');
    const domains = '{ shop.z.test: , bad.z.test: }';
    writeFileSync(
      file,
      `vivarium: 1\nclock: { at: 2027-02-10 }\nprojects: { a: { plan: pro, domains: ${domains} } }\nzones: { z.test: shop CNAME cname.vivarium.localhost. }\n`,
    );
    const first = await runHere(['up', file, '--data-dir', engine.dataDir]);
    const [, attach = ''] =
      /^vivarium: Not verified: bad\.z\.test\. bad\.z\.test does not exist .* Add this record to the zone z\.test: bad CNAME cname\.vivarium\.localhost\. In this file, or by: vivarium (domain attach .* --local --data-dir .*)\n$/.exec(
        first.stderr,
      ) ?? [];
    expect([first.code, attach]).toEqual([1, expect.stringContaining(' bad.z.test ')]);
    // It stays a failure while nothing has changed, and ends with the command that it names.
    expect(await runHere(['up', file, '--data-dir', engine.dataDir])).toMatchObject({ code: 1, stderr: first.stderr });
    expect((await runHere(attach.split(' '))).code).toBe(0);
    expect(await runHere(['up', file, '--data-dir', engine.dataDir])).toMatchObject({ code: 0, stderr: '' });
    expect(await call('domains.get', { hostname: 'shop.z.test' })).toMatchObject({
      state: 'verified',
      serving: { https: true },
    });
  });

  it('verify what init has written', async ({ engine, call }) => {
    for (const hostname of ['shop.acme.test', 'apex.test']) {
      const cwd = temporaryFolder();
      writeFileSync(join(cwd, 'package.json'), '{"scripts":{"dev":"vite"}}');
      expect((await runHere(['init', hostname, '--yes'], { cwd })).code).toBe(0);
      expect(await runHere(['up', '--data-dir', engine.dataDir], { cwd })).toMatchObject({ code: 0, stderr: '' });
      expect(await call('domains.get', { hostname })).toMatchObject({ state: 'verified', serving: { https: true } });
    }
  });

  it('report errors in a file', async ({ engine }) => {
    const folder = temporaryFolder();
    const file = join(folder, 'vivarium.yaml');
    writeFileSync(file, 'vivarium: 1\nprojects:\n  a: { plan: pro, domains: { x.test: { redirekt: y.test } } }\n');
    const wrong = await runHere(['check', '--file', file]);
    expect(wrong).toEqual({
      code: 1,
      stdout: `${file}:3:40: projects.a.domains.x.test.redirekt is not a known property; the nearest is "redirect"\n`,
      stderr: '',
    });
    writeFileSync(file, 'vivarium: 1\nprojects: { a: { domains: { x.test: } } }\n');
    const planned = /vivarium\.yaml:2:37: .* is on the Free plan, .*\. Write "plan: pro" in projects\.a\.\n$/;
    expect((await runHere(['check', file])).stdout).toMatch(planned);
    expect((await runHere(['check', file, '--file', file])).stderr).toBe(
      'vivarium: Name the file once: as a word, or with --file.\n',
    );
    for (const command of ['up', 'diff']) {
      expect((await runHere([command, file, '--data-dir', engine.dataDir])).stderr).toMatch(
        /line 2, column 37\) .* Write "plan: pro" in projects\.a\.$/m,
      );
    }
    // The first of the file is the first that is reported, whichever check finds it.
    writeFileSync(
      file,
      'vivarium: 1\nzones:\n  z.test: www A 1.2.3\nprojects:\n  a: { domains: { x.test: } }\n  b: { domains: { y.test: } }\n',
    );
    const lines = (await runHere(['check', file])).stdout.match(/yaml:\d+/g);
    expect(lines).toEqual(['yaml:3', 'yaml:5', 'yaml:6']);
    writeFileSync(file, 'vivarium: 1\nprojects:\n  a: { keys: [1] }\n  b: { plan: fre }\n  c: { tagret: 3 }\n');
    expect((await runHere(['check', file])).stdout.match(/yaml:\d+/g)).toEqual(['yaml:3', 'yaml:4', 'yaml:5']);
    writeFileSync(file, 'vivarium: 1\n');
    expect(await runHere(['check', '--file', file])).toMatchObject({ code: 0, stdout: `${file} is valid.\n` });
    expect((await runHere(['up', '--file', `${file}x`, '--data-dir', engine.dataDir])).stderr).toMatch(
      /There is no file /,
    );
    expect((await runHere(['up', '--file', file, '--data-dir', join(folder, 'none')])).code).toBe(2);
  });
});
