import { describe, expect, it } from 'vitest';
import {
  emptyWorld,
  recordKey,
  type CurrentProject,
  type CurrentWorld,
} from '../../../../main/services/world/world-current.ts';
import { planWorld } from '../../../../main/services/world/world-plan.ts';
import { readWorld } from '../../../../main/world/read.ts';
import type { OwnedRow } from '../../../../main/services/dependencies.ts';
import { turnsDuring } from '../../../support/turns.ts';

const FILE = '/a/vivarium.yaml';

const project = (fields: Partial<CurrentProject> = {}): CurrentProject => ({
  id: 'prj_1',
  name: 'acme',
  plan: 'pro',
  limits: null,
  target: { kind: 'api' },
  primary: null,
  redirects: [],
  persona: 'animal-store',
  deployed: true,
  keys: [],
  pets: { production: 0, staging: 0 },
  requests: '',
  ...fields,
});

const www = { id: 'rec_1', name: 'www.z.test', ttlSeconds: 3600, data: { type: 'A', address: '127.0.0.1' } } as const;

const world = (fields: Partial<CurrentWorld> = {}): CurrentWorld => ({
  ...emptyWorld({ banAfter: 20 }, 'ns.vivarium.localhost'),
  ...fields,
});

/** A project with a domain that redirects, a key and a zone. */
const full = world({
  projects: new Map([
    [
      'acme',
      project({
        keys: [{ id: 'key_1', name: 'CI' }],
        redirects: [{ from: 'b.test', to: 'a.test', status: 301 }],
        primary: 'a.test',
      }),
    ],
    ['mine', project({ id: 'prj_2', name: 'mine' })],
  ]),
  domains: new Map([
    ['a.test', 'acme'],
    ['b.test', 'acme'],
  ]),
  zones: new Map([['z.test', { supportsAlias: true, signed: false, records: [www] }]]),
});

const signed = world({ zones: new Map([['z.test', { supportsAlias: true, signed: true, records: [www] }]]) });

/** Rows from `project acme`; `?` before one marks what existed before the file. */
const owned = (...entries: string[]): OwnedRow[] =>
  entries.map((entry) => {
    const [kind = '', what = ''] = entry.replace('?', '').split(' ');
    const detail = kind === 'records' ? [recordKey(www)] : kind === 'setting' ? 5 : kind === 'signing' ? false : null;
    return { kind: kind as OwnedRow['kind'], what, file: FILE, created: !entry.startsWith('?'), detail, sinceMs: 0 };
  });

/** The file of `full`, and more of its project. */
const fileOf = (more = '') =>
  `projects: { acme: { plan: pro, keys: [CI],${more} domains: { a.test: , b.test: { redirect: a.test } }, primary: a.test } }\nzones: { z.test: "www A 127.0.0.1" }`;

const plan = async (text: string, current: CurrentWorld, rows: OwnedRow[] = [], adopt = false) =>
  planWorld((await readWorld(text, {})).world, current, { file: FILE, rows, adopt });

/** The calls, each with what its input names. */
const callsOf = ({ steps }: Awaited<ReturnType<typeof plan>>): string[] =>
  steps.flatMap(({ calls }) =>
    calls.map(({ procedure, input }) => {
      const { projectId, slug, hostname, name, id, keyId } = (input ?? {}) as Record<string, string | undefined>;
      return [procedure, projectId ?? slug, hostname ?? name ?? id ?? keyId].filter(Boolean).join(' ');
    }),
  );

describe('the plan of a file', () => {
  it.each<[what: string, text: string, rows: string, calls: string, current?: CurrentWorld]>([
    [
      'creates entries after those that they need',
      fileOf(' pets: 3,'),
      '',
      'zones.create z.test, zones.import z.test, projects.create acme acme, keys.create acme CI, pets.seed acme, ' +
        'deployed acme, domains.attach acme a.test, domains.attach acme b.test, domains.setRedirects acme, ' +
        'domains.setPrimary acme a.test',
      world(),
    ],
    ['changes the persona alone', 'projects: { mine: { persona: vercel } }', 'project mine', 'projects.update mine'],
    ['saves requests where there are none', 'projects: { mine: { requests: "GET /" } }', '', 'requests.save mine'],
    ['makes no call if everything matches', fileOf(), '', ''],
    [
      'removes what the file no longer has, first',
      'projects: { acme: { domains: { a.test: , c.test: } } }',
      'project acme, key acme/CI, domain a.test, domain b.test, redirect b.test, zone z.test, records z.test',
      'domains.setRedirects acme, domains.remove b.test, keys.revoke key_1, zones.remove z.test, domains.attach acme c.test',
    ],
    [
      'removes a project with its content in one call',
      '',
      'project acme, key acme/CI, domain a.test, domain b.test, redirect b.test, primary acme',
      'projects.remove acme',
    ],
    [
      'keeps a project with other content, and removes its own',
      '',
      'project acme, domain a.test, primary acme',
      'domains.setPrimary acme, domains.remove a.test',
    ],
    ['releases what existed before it', '', '?project acme, ?zone z.test, ?domain a.test', ''],
    ['restores a setting', '', '?setting banAfter', 'settings.update'],
    [
      'signs a zone after its records, and leaves one that is signed',
      'zones: { new.test: { signed: true, text: "www A 127.0.0.1" }, z.test: { signed: true } }',
      '',
      'zones.create new.test, zones.import new.test, zones.dnssec new.test',
      signed,
    ],
    [
      'stops signing a zone that it no longer mentions',
      'zones: { z.test: "www A 127.0.0.1" }',
      'zone z.test, records z.test, signing z.test',
      'zones.dnssec z.test',
      signed,
    ],
    ['removes a signed zone at once', '', 'zone z.test, records z.test, signing z.test', 'zones.remove z.test', signed],
    [
      'moves a domain that it owns',
      'projects: { mine: { domains: { a.test: } } }',
      'domain a.test',
      'domains.remove a.test, domains.attach mine a.test',
    ],
    [
      'removes a record that it added, and keeps the zone',
      'zones: { z.test: "api A 127.0.0.1" }',
      'records z.test',
      'records.remove rec_1, zones.import z.test',
    ],
    ['keeps records of others', 'zones: { z.test: "api A 127.0.0.1" }', 'zone z.test', 'zones.import z.test'],
  ])('%s', async (_what, text, rows, calls, current = full) => {
    const planned = await plan(`vivarium: 1\n${text}`, current, owned(...rows.split(', ').filter(Boolean)));
    expect(planned.issues).toEqual([]);
    expect(callsOf(planned).join(', ')).toBe(calls);
  });

  const ofAnother = (entry: string) => owned(entry).map((row) => ({ ...row, file: '/b' }));

  it.each<[string, string, OwnedRow[], RegExp]>([
    ['a project', 'projects: { acme: { plan: free } }', [], /^already exists with other content/],
    ['a redirect', 'projects: { acme: { domains: { b.test: { redirect: c.test } } } }', [], /^already exists/],
    ['a primary', 'projects: { acme: { primary: b.test } }', [], /^already exists/],
    ['another file’s zone', 'zones: { z.test: "" }', ofAnother('zone z.test'), /^belongs to \/b; /],
    ['another file’s setting', 'settings: { banAfter: 20 }', ofAnother('setting banAfter'), /^belongs to \/b; /],
  ])('does not touch %s owned by others, unless it adopts it', async (_what, text, rows, message) => {
    const refused = await plan(`vivarium: 1\n${text}`, full, rows);
    expect(refused.issues.map((issue) => issue.message)).toEqual([expect.stringMatching(message)]);
    expect(callsOf(refused)).toEqual([]);
    const adopted = await plan(`vivarium: 1\n${text}`, full, rows, true);
    expect(adopted.issues).toEqual([]);
    expect(adopted.steps.flatMap(({ claims }) => claims)).not.toEqual([]);
  });

  it.each([
    ['a zone', 'zones: { new.test: "", New.test.: "" }', 'zones New.test.'],
    ['a domain', 'projects: { acme: { domains: { c.test: , C.test.: } } }', 'projects acme domains C.test.'],
  ])('refuses %s that is in the file twice', async (_what, text, path) => {
    const { issues } = await plan(`vivarium: 1\n${text}`, full);
    expect(issues.map((issue) => [issue.path.join(' '), issue.message])).toEqual([
      [path, 'appears twice in the file; remove one of them'],
    ]);
  });

  it('claims each entry before the call that creates it', async () => {
    const { steps } = await plan('vivarium: 1\nprojects: { acme: { keys: [CI] } }\nclock: { at: 2027-01-01 }', world());
    expect(steps.map(({ claims }) => claims)).toEqual([
      [{ kind: 'clock', what: 'clock', created: false, detail: null }],
      [{ kind: 'project', what: 'acme', created: true, detail: null }],
      [{ kind: 'key', what: 'acme/CI', created: true, detail: null }],
    ]);
  });

  it('releases what it claimed and what does not exist', async () => {
    const rows = owned('project p', 'key p/CI', 'domain x.test', 'zone y.test');
    const { steps } = await plan('vivarium: 1', full, rows);
    expect(steps).toEqual([{ changes: [], claims: [], calls: [], releases: rows }]);
  });

  it('names the redirect that closes a loop across two projects', async () => {
    const text =
      'projects:\n  acme: { domains: { a.test: { redirect: m.test } } }\n  mine: { domains: { m.test: { redirect: a.test } } }';
    const { issues } = await plan(`vivarium: 1\n${text}`, full);
    expect(issues.map(({ path, message }) => [path.join(' '), message.split(';')[0]])).toEqual([
      ['projects acme domains a.test redirect', 'forms a loop: a.test → m.test → a.test'],
      ['projects mine domains m.test redirect', 'forms a loop: m.test → a.test → m.test'],
    ]);
  });
});

it('a plan drops redirects to a domain that it removes, also those to HTTPS alone', async () => {
  const redirects = [{ from: 'c.test', to: 'https://a.test', status: 301, hsts: true }] as const;
  const current = world({
    projects: new Map([['acme', project({ redirects: [...redirects] })]]),
    domains: new Map(['a.test', 'b.test', 'c.test'].map((hostname) => [hostname, 'acme'])),
  });
  const text = 'projects: { acme: { domains: { b.test: { redirect: c.test }, c.test: } } }';
  const rows = owned('project acme', 'domain a.test', 'domain b.test', 'domain c.test');
  const { steps } = await plan(`vivarium: 1\n${text}`, current, rows);
  expect(steps.flatMap(({ calls }) => calls).at(-1)).toMatchObject({
    procedure: 'domains.setRedirects',
    input: { redirects: [{ from: 'b.test', to: 'c.test' }] },
  });
});

describe('a plan lets other work run', () => {
  const COUNT = 2_000;
  const none = { file: null, rows: [], adopt: false };
  const numbers = Array.from({ length: COUNT }, (_, number) => number);

  it('while it reads and checks thousands of domains', async () => {
    const domains = Object.fromEntries(numbers.map((number) => [`d${number}.z.test`, {}]));
    const file = { vivarium: 1, projects: { acme: { domains } } } as const;
    expect(await turnsDuring(() => planWorld(file, full, none))).toBeGreaterThanOrEqual(2 * (COUNT / 250 - 1));
  });

  it('while it compares thousands of records', async () => {
    const records = numbers.map((number) => ({ ...www, id: `rec_${number}`, name: `d${number}.z.test` }));
    const zones = new Map([['z.test', { supportsAlias: true, signed: false, records }]]);
    const text = numbers.map((number) => `d${number} 3600 IN A 127.0.0.2`).join('\n');
    const file = { vivarium: 1, zones: { 'z.test': { text } } } as const;
    const turns = await turnsDuring(() => planWorld(file, world({ zones }), none));
    // The text; the stored records, those of the text, and the lines of the missing ones.
    expect(turns).toBeGreaterThanOrEqual(Math.floor(COUNT / 75) + 3 * (COUNT / 500 - 1));
  });
});
