import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  isFiltered,
  listQuery,
  type PetFilter,
  readFilter,
  readTab,
  sortedBy,
  writeFilter,
} from '../../../../../renderer/pages/pets/pet-filter.ts';
import { unsupportedByApi, petRequest } from '../../../../../renderer/pages/pets/pet-request.ts';
import { NO_FILTER } from '../../../../support/page/page-pets.ts';
import { makeProject } from '../../../../support/page/page-world.ts';

describe('the filter of an address', () => {
  it.each<[Record<string, string>, Partial<PetFilter>]>([
    [{}, {}],
    [{ environment: 'staging' }, { environment: 'staging' }],
    [
      { status: 'sold', search: ' Re x' },
      { status: 'sold', search: ' Re x' },
    ],
    [
      { name: 'a b', category: '-7', ids: '3..' },
      { name: 'a b', categoryId: '-7', ids: '3..' },
    ],
    [{ sort: 'name' }, { sort: 'name' }],
    [{ sort: '-categoryId' }, { sort: 'categoryId', descending: true }],
    [{ sort: '-id' }, { descending: true }],
  ])('%j is read, and written the same', (query, filter) => {
    expect(readFilter(query)).toEqual({ ...NO_FILTER, ...filter });
    const written = Object.entries(writeFilter(readFilter(query))).filter(([, value]) => value !== '');
    expect(Object.fromEntries(written)).toEqual(query);
  });

  it.each<Record<string, string>>([
    { environment: 'moon' },
    { status: 'gone' },
    { sort: '-price' },
    { sort: '--id' },
    { show: 'x' },
    { category: '7x', ids: '3..x' },
    { category: '007', ids: '1..2..3' },
  ])('%j is ignored', (query) => {
    expect([readFilter(query), readTab(query)]).toEqual([NO_FILTER, 'pets']);
  });

  it('is limited to what the engine accepts', () => {
    expect(readFilter({ search: 'x'.repeat(500) }).search).toHaveLength(200);
  });
});

it.each([
  ['', undefined],
  ['7', { first: '7', last: '7' }],
  ['-3..9', { first: '-3', last: '9' }],
  ['3..', { first: '3' }],
  ['..9', { last: '9' }],
  ['..', undefined],
])('the ids %j are requested as %j', (ids, range) => {
  const rest = { environment: 'production', sort: 'id', descending: false };
  expect(listQuery({ ...NO_FILTER, ids })).toEqual({ ...rest, ...(range !== undefined && { ids: range }) });
});

it('sorting by the same column again reverses the order', () => {
  const once = sortedBy(NO_FILTER, 'name');
  const twice = sortedBy(once, 'name');
  expect([once, twice, sortedBy(twice, 'name'), sortedBy(twice, 'id')]).toMatchObject([
    { sort: 'name', descending: false },
    { sort: 'name', descending: true },
    { sort: 'name', descending: false },
    { sort: 'id', descending: false },
  ]);
  const filtered = [NO_FILTER, twice, { ...twice, search: 'x' }].map((filter) => isFiltered(filter));
  expect(filtered).toEqual([false, false, true]);
});

describe('the list as a request', () => {
  const project = makeProject('Demo');
  const words = (command: string): string[] =>
    execFileSync('sh', ['-c', `set -- ${command}\nprintf '%s\\n' "$@"`], { env: { VIVARIUM_KEY: 'viv_secret' } })
      .toString()
      .trimEnd()
      .split('\n');

  it.each([
    [{ ...NO_FILTER }, 'pets', 'http://demo.vivarium.localhost:8080/v1/pets?limit=100'],
    [{ ...NO_FILTER, status: 'sold' }, 'pets', 'http://demo.vivarium.localhost:8080/v1/pets?limit=100&status=sold'],
    [{ ...NO_FILTER, environment: 'staging' }, 'orders', 'http://demo-staging.vivarium.localhost:8080/v1/store/orders'],
  ] as const)('of %j, %s, consists of shell words', (filter, tab, url) => {
    const command = petRequest({ project, filter, tab, secure: false, dataDir: '/data' });
    expect(words(command)).toEqual(['curl', '-H', 'Authorization: Bearer viv_secret', url]);
  });

  it('trusts the root over HTTPS', () => {
    const command = petRequest({ project, filter: NO_FILTER, tab: 'pets', secure: true, dataDir: "/ada's data" });
    expect(words(command)).toContain("/ada's data/ca/root.pem");
    expect(command).toContain('https://demo.vivarium.localhost:8443/v1/pets');
  });

  it.each([
    [NO_FILTER, undefined],
    [{ ...NO_FILTER, search: 'x' }, /the search here is/],
    [{ ...NO_FILTER, descending: true }, /the order here is/],
    [{ ...NO_FILTER, search: 'x', sort: 'name' as const }, /the search and the order here are/],
  ])('of %j tells what the API cannot do', (filter, said) => {
    if (said === undefined) expect(unsupportedByApi(filter)).toBeUndefined();
    else expect(unsupportedByApi(filter)).toMatch(said);
  });
});
