import { describe, expect, it } from 'vitest';
import { listNamespaces, listProcedures } from '../../../../main/cli/words/procedures.ts';
import type { KeyRow, ProjectRow } from '../../../../main/services/dependencies.ts';
import { resolveReferences } from '../../../../main/services/projects/project-rules.ts';

const project = (id: string, slug: string, name: string): ProjectRow => ({
  ...{ id, slug, name, plan: 'free', limits: null, target: { kind: 'api' }, primary: null, redirects: [] },
  ...{ persona: 'animal-store', createdAtMs: 0 },
});

const projects = [
  project('prj_1', 'demo', 'Demo'),
  project('prj_2', 'app', 'My app'),
  project('prj_3', 'app-2', 'Twin'),
  project('prj_4', 'app-3', 'Twin'),
  // A name may be another project's slug: the slug takes precedence.
  project('prj_5', 'other', 'demo'),
];

const key = (id: string, projectId: string, name: string): KeyRow => ({
  ...{ id, projectId, name, prefix: 'viv_abcd', hash: '', createdAtMs: 0, revokedAtMs: null },
});

const keys = [key('key_1', 'prj_1', 'CI'), key('key_2', 'prj_1', 'Key 1'), key('key_3', 'prj_2', 'Key 1')];

const rows = {
  projects: {
    get: (id: string) => projects.find((row) => row.id === id) ?? null,
    getBySlug: (slug: string) => projects.find((row) => row.slug === slug) ?? null,
    list: () => projects,
  },
  keys: {
    get: (id: string) => keys.find((row) => row.id === id) ?? null,
    named: (name: string) => keys.filter((row) => row.name === name),
  },
};

const resolve = (input: unknown): unknown => resolveReferences(input, rows);

describe('a reference to a project or a key', () => {
  it.each([
    ['an id', { projectId: 'prj_1' }, { projectId: 'prj_1' }],
    ['a slug', { projectId: 'app', limit: 5 }, { projectId: 'prj_2', limit: 5 }],
    ['a unique name', { projectId: 'My app' }, { projectId: 'prj_2' }],
    ['a slug that is also a name', { projectId: 'demo' }, { projectId: 'prj_1' }],
    ['an id that is gone', { projectId: 'prj_9' }, { projectId: 'prj_9' }],
    ['a key’s id', { keyId: 'key_3' }, { keyId: 'key_3' }],
    ['a key’s name', { keyId: 'CI' }, { keyId: 'key_1' }],
    ['a key’s name in its project', { projectId: 'app', keyId: 'Key 1' }, { projectId: 'prj_2', keyId: 'key_3' }],
    ['in what a break selects', { on: { keyId: 'CI' } }, { on: { keyId: 'key_1' } }],
    ['no reference', { hostname: 'demo' }, { hostname: 'demo' }],
    ['no input', undefined, undefined],
  ])('may be %s', (_what, input, resolved) => {
    expect(resolve(input)).toEqual(resolved);
  });

  it.each([
    [{ projectId: 'demo2' }, 'not_found', 'No project "demo2". Did you mean "demo"?'],
    [{ projectId: 'zebra' }, 'not_found', 'No project "zebra". List them: `projects.list`.'],
    [{ projectId: 'Twin' }, 'invalid_request', 'projectId: 2 projects have the name "Twin"; use a slug: app-2, app-3.'],
    [{ keyId: 'Nightly' }, 'not_found', 'No API key "Nightly". List a project’s: `keys.list`.'],
    [{ projectId: 'app', keyId: 'CI' }, 'not_found', 'No API key "CI". List a project’s: `keys.list`.'],
    [
      { keyId: 'Key 1' },
      'invalid_request',
      'keyId: 2 API keys have the name "Key 1"; use an id: key_2 (demo), key_3 (app).',
    ],
  ])('%j is refused', (input, code, message) => {
    expect(() => resolve(input)).toThrow(expect.objectContaining({ code, message }) as Error);
  });

  it('has the schema of a reference in every input of the contract', () => {
    const titles = listNamespaces()
      .flatMap(listProcedures)
      .flatMap(({ namespace, name, input }) =>
        (['projectId', 'keyId'] as const).flatMap((property) => {
          const schema = input.properties?.[property];
          return schema === undefined ? [] : [[`${namespace}.${name}`, property, schema.title]];
        }),
      );
    expect(titles.length).toBeGreaterThan(20);
    const wrong = titles.filter(([, property, title]) => title !== (property === 'projectId' ? 'project' : 'key'));
    expect(wrong).toEqual([]);
  });
});
