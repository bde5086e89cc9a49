import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { checkFile } from '../../../main/offline/check-file.ts';
import { filesNamedIn, readWorld } from '../../../main/world/read.ts';
import { SCHEMA_FILE, worldSchema } from '../../../main/world/schema.ts';
import { readSource } from '../../../main/world/source.ts';
import { writeWorld } from '../../../main/world/write.ts';

/** Anchors that each repeat the last one nine times. */
const BOMB = [...'bcd'].map((name, at) => `${name}: &${name} [${`*${'abc'[at]},`.repeat(9)}]`);
const JSON_DEEP = `{"vivarium": 1, "projects": ${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`;
const ZONES = Object.fromEntries(Array.from({ length: 5_001 }, (_, at) => [`z${at}`, '']));
const PETS = [...Array.from({ length: 300 }, () => ({ name: 'x', categoryId: 1 })), { name: '' }];

describe('reading', () => {
  it.each<[string, string, RegExp]>([
    ['a tab', 'projects:\n\ta: 1\n', /^Line 3, column 1: Tabs/],
    ['a repeated name', 'seed: 1\nseed: 2\n', /^Line 3, column 1: The name "seed" appears twice\.$/],
    ['a wrong plan', 'projects:\n  a:\n    plan: gold\n', /projects\.a\.plan \(line 4, column 11\) must be one of/],
    [
      'two actions',
      'steps:\n  - run: x\n    clock: +1d\n',
      /steps\[0\] \(line 3, column 5\) must have one of run, clock,/,
    ],
    [
      'a provider’s API without a command',
      'projects: { a: { as: vercel } }',
      /projects\.a\.as .* needs run, the command/,
    ],
    ['an unknown provider', 'projects: { a: { run: x, as: heroku } }', /projects\.a\.as .*must be vercel or/],
    ['a typo in a step', 'steps: [{ rum: x }]', /steps\[0\]\.rum .*; the nearest is "run"/],
    ['a clock that goes back', 'steps: [{ clock: -1d }]', /steps\[0\]\.clock .*must be a duration/],
    [
      'times of a run',
      'steps: [{ run: x, times: 2 }]',
      /steps\[0\]\.times \(.*\) does not belong to a step with "run"/,
    ],
    ['an invalid request', 'steps: [{ request: "" }]', /steps\[0\]\.request .*must be a method and an address/],
    ['an invalid filter', 'expect: { traffic: { "staus:5xx": 0 } }', /expect\.traffic\.staus:5xx /],
    ['a text and a file', 'zones: { z.test: { text: "", file: z } }', /zones\.z\.test .* has both text and file/],
    [
      '5,000 objects',
      `projects: ${'{a: '.repeat(5_000)}${'}'.repeat(5_000)}`,
      /^Line 2, .*: The text is nested too deep/,
    ],
    ['a second document', '---\nvivarium: 1\n', /^Line 2, column 1: A second document .* write one document a file\.$/],
    [
      'a name that no record keeps',
      'projects: { a: { domains: { __proto__: } } }',
      /projects\.a\.domains\.__proto__ \(line 2, column 29\) is not a usable name/,
    ],
    ['a file that is not a list', 'projects: { a: { pets: p.json } }', /names a file that is not a list/],
  ])('names the place of %s', async (_what, text, message) => {
    await expect(readWorld(`vivarium: 1\n${text}`, { 'p.json': '{}' })).rejects.toThrow(message);
  });

  it.each<[string, string, RegExp]>([
    [
      'a typo in JSON',
      '{"vivarium": 1,\n  "project": {}}',
      /project \(line 2, column 3\) is .*; the nearest is "projects"/,
    ],
    ['a newer version', 'vivarium: 2\n', /written for a newer Vivarium \(2; this one reads 1\)/],
    ['too much', JSON.stringify({ vivarium: 1, zones: ZONES }), /^The text has 5,001 zones; the limit is 5,000\.$/],
    ['a bomb', `a: &a [x,x]\n${BOMB.join('\n')}`, /^The text cannot be read: Excessive alias count/],
    ['20,000 brackets', '['.repeat(20_000), /^Line 1, column \d+: The text is nested too deeply\.$/],
    ['20,000 objects in JSON', JSON_DEEP, /^Line 1, column \d+: The text is nested too deeply\.$/],
    [
      'a name that no record keeps, in JSON',
      '{"vivarium": 1, "zones": {"__proto__": ""}}',
      /zones\.__proto__ \(line 1, column 27\) is not a usable name/,
    ],
    ['no version', '{}', /^Nothing was changed: vivarium \(line 1, column 1\) is required: it must be 1, the version/],
    ['projects that are a list', '{"vivarium": 1, "projects": []}', /must be an object with project slugs as names\.$/],
    ['zones that are a text', '{"vivarium": 1, "zones": ""}', /zones .*must be an object with names of zones as names/],
    ['a name that is no slug', '{"vivarium": 1, "projects": {"A b": {}}}', /^Nothing was changed: projects\.A b /],
    ['a list', '---\n- 1\n', /^Nothing was changed: the input \(line 2, column 1\) must be an object\.$/],
    [
      'a pet without a name, far down',
      JSON.stringify({ vivarium: 1, projects: { a: { pets: { staging: PETS } } } }),
      /projects\.a\.pets\.staging\[300\]\.name/,
    ],
  ])('names the place of %s', async (_what, text, message) => {
    await expect(readWorld(text, {})).rejects.toThrow(message);
  });

  it('accepts a port as target, and explains an invalid target', async () => {
    const { world } = await readWorld('vivarium: 1\nprojects: { a: { target: 5173 } }', {});
    expect(world.projects?.['a']?.target).toEqual({ kind: 'upstream', url: 'http://localhost:5173' });
    for (const [target, says] of [
      ['0', /must be at least 1/],
      ['"a b"', /must be a URL such as "http:\/\/localhost:5173", a host/],
      ['{ kind: upstream, url: nope }', /target\.url .*must be a URL/],
    ] as const) {
      const text = `vivarium: 1\nprojects: { a: { target: ${target} } }`;
      await expect(readWorld(text, {}), target).rejects.toThrow(says);
    }
  });

  it('accepts a scenario', async () => {
    const text = `vivarium: 1
steps:
  - run: npm test
  - clock: +60d
  - request: GET https://shop.acme.test/v1/pets
    times: 3
    expect: { status: 429 }
  - { dns: shop.acme.test CAA, expect: { rcode: NOERROR, answers: [] } }
expect:
  domains: { shop.acme.test: { certificate: failed, reason: caa_lookup_failed } }
  traffic: { "status:5xx": 0 }
`;
    const { world } = await readWorld(text, {});
    expect(world).toMatchObject({ steps: { length: 4 }, expect: { traffic: { 'status:5xx': 0 } } });
  });

  it('accepts JSON of any length, and YAML up to a limit', () => {
    const json = JSON.stringify({ vivarium: 1, more: 'x'.repeat(600_000) });
    expect(readSource(json).content).toMatchObject({ vivarium: 1 });
    expect(() => readSource(json.slice(0, -1))).toThrow(/^The text is not JSON: /);
    expect(() => readSource(`vivarium: 1\nmore: ${'x'.repeat(600_000)}`)).toThrow(
      /^The text has 586 KiB, but YAML may have 512 KiB/,
    );
  });

  it('finds the files that a text names', () => {
    const text =
      'projects: { a: { pets: a.json }, b: { pets: { staging: b.json } } }\nzones: { z: { file: z }, y: "" }';
    expect(filesNamedIn(text)).toEqual(['a.json', 'b.json', 'z']);
    expect(filesNamedIn('projects: [')).toEqual([]);
  });
});

describe('writing', () => {
  const before = `# Ours
vivarium: 1
zones: # by the team
  z.test: "www A 127.0.0.1"
projects:
  acme: # the shop
    plan: free # for now
    domains:
      a.test:
    keys: [CI]
    run: npm run dev
    as: [vercel]
  old: {}
`;

  it('keeps comments, order and formatting of unchanged parts', () => {
    const domains = { 'a.test': {}, 'b.test': { redirect: 'a.test' } };
    const acme = { target: 'http://localhost:1', plan: 'pro' as const, keys: ['CI', 'Me'], domains };
    const world = {
      vivarium: 1 as const,
      projects: { acme },
      zones: { 'z.test': 'www A 127.0.0.1', 'y.test': '@ A 127.0.0.1\n@ A 127.0.0.2\n' },
    };
    expect(writeWorld(world, { format: 'yaml', into: before })).toBe(`# Ours
vivarium: 1
zones:
  # by the team
  z.test: "www A 127.0.0.1"
  y.test: |
    @ A 127.0.0.1
    @ A 127.0.0.2
projects:
  acme:
    # the shop
    plan: pro # for now
    domains:
      a.test:
      b.test: { redirect: a.test }
    keys: [ CI, Me ]
    run: npm run dev
    as: [ vercel ]
`);
  });

  it('leaves a text that it cannot read unchanged', () => {
    const into = () => writeWorld({ vivarium: 1 }, { format: 'yaml', into: 'a: [' });
    expect(into).toThrow(/is not YAML, so it was not changed/);
  });

  it('writes what is too long for YAML as JSON, which is valid YAML', async () => {
    const pets = Array.from({ length: 9_000 }, (_, id) => ({ id, name: 'Rex', categoryId: 1 }));
    const text = writeWorld({ vivarium: 1, projects: { a: { pets } } }, { format: 'yaml' });
    expect(text).toMatch(/^\{\n/);
    expect((await readWorld(text, {})).world.projects?.['a']?.pets?.production).toHaveLength(9_000);
  });
});

it.each([
  ['an unknown property', 'projects: { a: { plann: pro } }', /^projects\.a\.plann is not .*; the nearest is "plan"$/],
  ['a persona that does not exist', 'projects: { a: { persona: heroku } }', /^projects\.a\.persona .*vercel/],
  [
    'limits without their plan',
    'projects: { a: { limits: { perMinute: 1, perDay: 1 } } }',
    /^projects\.a\.limits .*can only be set/,
  ],
  [
    'a hostname in two projects',
    'projects: { a: { plan: pro, domains: { x.test: } }, b: { plan: pro, domains: { X.test: } } }',
    /^projects\.b\.domains.*is attached to the project "a"/,
  ],
  [
    'redirects in a circle',
    'projects: { a: { plan: pro, domains: { x.test: { redirect: y.test }, y.test: { redirect: x.test } } } }',
    /^projects\.a\.domains.* forms a loop/,
  ],
  [
    'a primary that is a wildcard',
    'projects: { a: { plan: pro, domains: { "*.x.test": }, primary: "*.x.test" } }',
    /^projects\.a\.primary .*must be one of .* no wildcard/,
  ],
  ['a primary that is no domain', 'projects: { a: { primary: x.test } }', /^projects\.a\.primary .*must be one of/],
  ['a fault in a zone', 'zones: { acme.test: "@ A 127.0.0.1\\n@ A nonsense\\n" }', /^zones.*acme\.test.* line 2: /],
  ['the platform’s zone', 'zones: { vivarium.localhost: "" }', /platform’s own zone/],
  [
    'a repeated pet',
    'projects: { a: { pets: [{ id: 1, name: x, categoryId: 1 }, { id: 1, name: y, categoryId: 1 }] } }',
    /^projects\.a\.pets\.production .*contains an id twice/,
  ],
  ['where the root’s key is', 'settings: { caKey: keyring }', /^settings\.caKey .*is not a known property/],
])('a check finds %s', async (_what, text, says) => {
  const [first] = await checkFile(`vivarium: 1\n${text}`, {});
  expect(`${first?.path} ${first?.message}`).toMatch(says);
});

it('is illustrated by a valid example', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/vivarium-yaml.md'), 'utf8');
  const example = /^```yaml\n([^]*?)^```$/m.exec(page)?.[1] ?? '';
  expect([example.length > 300, await checkFile(example, {})]).toEqual([true, []]);
});

it('has a schema in the package that matches the contract’s', () => {
  const shipped = readFileSync(join(import.meta.dirname, '../../../resources', SCHEMA_FILE), 'utf8');
  expect(JSON.parse(shipped), 'run `npm run -s reference`').toEqual(worldSchema());
});

it('has a schema that accepts and refuses as the reader does', async () => {
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(worldSchema());
  for (const [text, isValid] of [
    ['vivarium: 1', true],
    ['vivarium: 1\nprojects: { a: { pets: 3, target: "http://localhost:1", domains: { a.test: } } }', true],
    ['vivarium: 1\nprojects: { a: }\nzones: { z.test: }', true],
    ['vivarium: 1\nzones: { z.test: { file: z } }', true],
    ['vivarium: 2', false],
    ['vivarium: 1\nprojects: { a: { plann: pro } }', false],
    ['vivarium: 1\nclock: {}', false],
  ] as const) {
    expect(validate(readSource(text).content), text).toBe(isValid);
  }
});
