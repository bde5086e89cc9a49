import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Project } from '../../../main/contract/projects.ts';
import type { WorldChange } from '../../../main/contract/world.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { runCli } from '../../support/rpc-cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ZONE_TEXT = 'shop CNAME cname.vivarium.localhost.\n@ CAA 0 issue "vivarium.localhost"\n';

/** A file as it is written by hand, in the words of the research on vivarium.yaml. */
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
    app: { target: { kind: 'upstream', url: 'http://127.0.0.1:9', limited: true } },
  },
  zones: { 'acme.test': ZONE_TEXT, 'plain.test': { supportsAlias: false, text: '@ A 127.0.0.1\n' } },
};

interface Applied {
  changes: WorldChange[];
  left: number;
  keys: { project: string; name: string; secret: string }[];
}

const apply = (engine: Engine, file: unknown): Promise<Applied> =>
  engine.call('world.apply', { text: JSON.stringify(file) }) as Promise<Applied>;
const exported = async (engine: Engine): Promise<{ text: string; omitted: string[] }> =>
  (await engine.call('world.export')) as { text: string; omitted: string[] };
const whatOf = ({ changes }: Pick<Applied, 'changes'>) => changes.map(({ kind, what }) => `${kind} ${what}`);

/** An engine without the demo. */
const emptyEngine = () => startEngine({ empty: true });

describe('world.apply', () => {
  it('creates what the file has, and changes nothing the second time', async () => {
    const engine = await emptyEngine();
    const first = await apply(engine, FILE);
    expect(whatOf(first)).toEqual([
      'setting banAfter',
      'setting caaIdentity',
      'zone acme.test',
      'records acme.test',
      'zone plain.test',
      'records plain.test',
      'project acme',
      'key acme/CI',
      'key acme/CI',
      'pets acme/production',
      'domain acme/shop.acme.test',
      'domain acme/acme.test',
      'redirects acme',
      'primary acme',
      'project big',
      'pets big/production',
      'project app',
    ]);
    expect(first.keys).toHaveLength(2);
    const projects = (await engine.call('projects.list')) as Project[];
    expect(projects.find(({ slug }) => slug === 'acme')).toMatchObject({
      name: 'acme',
      plan: 'pro',
      primary: 'acme.test',
      redirects: [
        { from: 'shop.acme.test', to: 'acme.test', status: 308 },
        { from: 'acme.test', to: 'https://acme.test', status: 308, hsts: true },
      ],
    });
    const answer = await engine.api({ host: 'acme.vivarium.localhost', key: first.keys[0]?.secret ?? '' });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"id":9007199254740993,"name":"Rex"')]);

    expect(await apply(engine, FILE)).toMatchObject({ changes: [], keys: [] });
  });

  it('keeps what the file does not have, and changes what it has otherwise', async () => {
    const engine = await emptyEngine();
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
    expect(await engine.call('domains.list')).toHaveLength(2);
  });

  it.each<[string, unknown, RegExp]>([
    ['a text that is no JSON', null, /^The text is not JSON: /],
    [
      'an unknown property',
      { vivarium: 1, projects: { a: { plann: 'pro' } } },
      /projects\.a\.plann is not a known property/,
    ],
    ['a plan that does not exist', { vivarium: 1, projects: { a: { plan: 'gold' } } }, /projects\.a\.plan .*free/],
    [
      'limits without their plan',
      { vivarium: 1, projects: { a: { limits: { perMinute: 1, perDay: 1 } } } },
      /projects\.a\.limits can be set/,
    ],
    [
      'a domain on Free',
      { vivarium: 1, projects: { a: { domains: { 'a.test': {} } } } },
      /projects\.a\.domains.*a\.test.* is on the plan Free/,
    ],
    [
      'a hostname in two projects',
      {
        vivarium: 1,
        projects: { a: { plan: 'pro', domains: { 'x.test': {} } }, b: { plan: 'pro', domains: { 'X.test': {} } } },
      },
      /projects\.b\.domains.*is attached to the project "a"/,
    ],
    [
      'redirects in a circle',
      {
        vivarium: 1,
        projects: {
          a: { plan: 'pro', domains: { 'x.test': { redirect: 'y.test' }, 'y.test': { redirect: 'x.test' } } },
        },
      },
      /projects\.a\.domains forms a loop/,
    ],
    [
      'a primary that is a wildcard',
      { vivarium: 1, projects: { a: { plan: 'pro', domains: { '*.x.test': {} }, primary: '*.x.test' } } },
      /projects\.a\.primary must be one of .* no wildcard/,
    ],
    [
      'a primary that is no domain',
      { vivarium: 1, projects: { a: { primary: 'x.test' } } },
      /projects\.a\.primary must be one of/,
    ],
    [
      'a zone text with a fault',
      { vivarium: 1, zones: { 'acme.test': '@ A 127.0.0.1\n@ A nonsense\n' } },
      /zones.*acme\.test.* line 2: /,
    ],
    ['the platform’s zone', { vivarium: 1, zones: { 'vivarium.localhost': '' } }, /platform’s own zone/],
    [
      'a pet twice',
      { vivarium: 1, projects: { a: { pets: { staging: [1, 1].map((id) => ({ id, name: 'x', categoryId: 1 })) } } } },
      /projects\.a\.pets\.staging has an id twice/,
    ],
    [
      'a pet without a name, far down',
      {
        vivarium: 1,
        projects: {
          a: {
            pets: { staging: Array.from({ length: 301 }, (_, row) => ({ name: row < 300 ? 'x' : '', categoryId: 1 })) },
          },
        },
      },
      /projects\.a\.pets\.staging\[300\]\.name/,
    ],
    [
      'where the root’s key is',
      { vivarium: 1, settings: { caKey: 'keyring' } },
      /settings\.caKey is not a known property/,
    ],
  ])('refuses %s, with nothing done', async (_what, file, says) => {
    const engine = await emptyEngine();
    const before = await exported(engine);
    const good = { vivarium: 1, projects: { good: {} }, zones: { 'good.test': '' }, settings: { banAfter: 3 } };
    const merged = file === null ? null : merge(good, file as typeof good);
    const text = merged === null ? '{"vivarium": 1' : JSON.stringify(merged);
    await expect(engine.call('world.apply', { text })).rejects.toThrow(says);
    expect(await exported(engine)).toEqual(before);
  });

  it('says of a text of another form what it is', async () => {
    const engine = await emptyEngine();
    for (const [text, says] of [
      ['{}', /^Nothing was changed: vivarium is required: it must be 1, the version of the format\.$/],
      ['{"vivarium": 99, "more": 1}', /^The file was written for a newer Vivarium \(99; this one reads 1\)\.$/],
      ['{"vivarium": 1, "projects": []}', /projects must be an object with project slugs as names\.$/],
      ['{"vivarium": 1, "zones": ""}', /zones must be an object with names of zones as names\.$/],
      ['{"vivarium": 1, "projects": {"A b": {}}}', /^Nothing was changed: projects\.A b /],
      ['# By hand\nvivarium: 1\n', /^This is not JSON; YAML is not supported\.$/],
      ['---\n- 1\n', /^This is not JSON; YAML is not supported\.$/],
    ] as const) {
      await expect(engine.call('world.apply', { text }), text).rejects.toThrow(says);
    }
  });
});

function merge<Part extends Record<string, unknown>>(good: Part, file: Partial<Part>): Record<string, unknown> {
  const inner = (name: string) => ({ ...(good[name] as object), ...((file[name] ?? {}) as object) });
  return { ...good, ...file, projects: inner('projects'), zones: inner('zones'), settings: inner('settings') };
}

describe('world.export', () => {
  it('brings the demo to another Vivarium, without a secret', async () => {
    const from = await startEngine();
    const { text, omitted } = await exported(from);
    expect(omitted).toEqual([]);
    expect(text).not.toMatch(/viv_|PRIVATE KEY|SOA/);
    const to = await emptyEngine();
    await to.call('world.apply', { text });
    expect(JSON.parse((await exported(to)).text)).toEqual(JSON.parse(text));
    expect(await to.call('world.diff', { text })).toMatchObject({ changes: [] });
    expect(await from.call('world.diff', { text })).toMatchObject({ changes: [] });
  });

  it('brings back everything that a file can say', async () => {
    const from = await emptyEngine();
    await apply(from, FILE);
    const { text } = await exported(from);
    const to = await emptyEngine();
    await to.call('world.apply', { text });
    expect(JSON.parse((await exported(to)).text)).toEqual(JSON.parse(text));
  });

  it('leaves out datasets that are too large for a file, and says so', async () => {
    const engine = await emptyEngine();
    await apply(engine, { vivarium: 1, projects: { big: { pets: 10_001 } } });
    expect((await exported(engine)).omitted).toEqual(['10,001 pets of big, production: more than 10,000.']);
  });
});

describe('vivarium export and import', () => {
  it('write a file, show what it would change, and apply it', async () => {
    const from = await startEngine();
    const to = await emptyEngine();
    const file = join(temporaryFolder(), 'vivarium.json');
    expect(await runCli(['export', '--file', file, '--data-dir', from.dataDir])).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^Written: .*vivarium\.json \(\d+ KiB\)\.\n$/),
    });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ vivarium: 1, projects: { demo: { plan: 'free' } } });
    const dry = await runCli(['import', file, '--dry-run', '--data-dir', to.dataDir]);
    expect(dry.stdout).toMatch(/^create +project +demo$/m);
    expect(await to.call('projects.list')).toEqual([]);
    const done = await runCli(['import', file, '--data-dir', to.dataDir]);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toMatch(/^created +domain +happy-paws\/www\.happypaws\.test$/m);
    expect(done.stdout).toMatch(/^The secret of demo\/Demo key, shown only here: viv_\w{32}$/m);
    expect((await runCli(['import', file, '--data-dir', to.dataDir])).stdout).toMatch(
      /^Nothing to change: \d+ entries match the file\.\n$/,
    );
  });

  it('say what is wrong with a file', async () => {
    const engine = await emptyEngine();
    const file = join(temporaryFolder(), 'vivarium.json');
    writeFileSync(file, '{"vivarium": 1, "projects": {"a": {"plan": "gold"}}}');
    const { code, stderr } = await runCli(['import', file, '--data-dir', engine.dataDir]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^vivarium: Nothing was changed: projects\.a\.plan /)]);
    expect((await runCli(['import', `${file}x`, '--data-dir', engine.dataDir])).stderr).toMatch(/There is no file /);
    expect((await runCli(['export', '--data-dir', join(file, 'none')])).code).toBe(2);
    for (const args of [
      ['import', ''],
      ['backup', 'create', ''],
    ]) {
      expect((await runCli(args)).stderr).toMatch(/^vivarium: Name a file, such as /);
    }
  });
});
