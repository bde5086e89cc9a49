import { expect, it } from 'vitest';
import { placeRows, type Recorded, selectionOf } from '../../../main/examine/placing.ts';
import { CATALOGUE } from '../../../main/breaks/catalogue/index.ts';
import { nameOf, type Row, TABLES } from '../../../main/contract/examine-tables.ts';

const made = (method: string, target: string, more: Partial<Recorded> = {}): Recorded => ({
  authority: 'shop.test:8443',
  httpVersion: '1.1',
  id: 'trf_1',
  method,
  requestBytes: 0,
  responseBytes: 10,
  status: 200,
  target,
  ...more,
});

const LIST = made('GET', '/v1/pets?limit=5');
const READ = made('GET', '/v1/pets/3');
const CREATE = made('POST', '/v1/pets', { status: 201 });
const row = (wants: Row['wants'], more: Partial<Row> = {}): Row => ({ break: 'api.unavailable', wants, ...more });
const placed = (rows: readonly Row[], one: readonly Recorded[], other = one, seed = 0) =>
  placeRows(rows, [one, other], seed).map(({ place }) =>
    place === null ? null : `${place.method} ${place.path} ${place.ordinal}`,
  );

it.each<[string, Row, readonly Recorded[], (string | null)[], (readonly Recorded[])?]>([
  ['any request', row('any'), [LIST], ['GET /v1/pets 1']],
  ['the n-th of its method and path', row('any', { on: { path: '/v1/pets' } }), [CREATE, LIST], ['POST /v1/pets 1']],
  ['one that both runs made', row('any'), [READ, LIST], ['GET /v1/pets 1'], [LIST]],
  ['one of two, if one run made two', row('any'), [LIST, LIST], ['GET /v1/pets 1'], [LIST]],
  ['no preflight', row('any'), [made('OPTIONS', '/v1/pets')], [null]],
  ['none without an answer', row('any'), [made('GET', '/v1/pets', { status: null })], [null]],
  [
    'a write that was carried out',
    row('write'),
    [made('POST', '/v1/pets', { status: 400 }), CREATE],
    ['POST /v1/pets 2'],
  ],
  ['no read as a write', row('write'), [LIST, READ], [null]],
  ['an answer with a body', row('body'), [made('GET', '/', { responseBytes: 0 }), READ], ['GET /v1/pets/3 1']],
  ['no body of HEAD', row('body'), [made('HEAD', '/')], [null]],
  ['a list with a limit', row('list'), [READ, made('GET', '/v1/pets'), LIST], ['GET /v1/pets 2']],
  ['the hostname, after some', row('hostname', { after: 3 }), [READ], ['null null 4']],
  ['another hostname', row('any', { on: { hostname: 'other.test' } }), [READ], [null]],
  ['paths below one', row('any', { on: { path: '/v1/pets/*' } }), [LIST, READ], ['GET /v1/pets/3 1']],
  ['the only version of HTTP that it has', row('any', { http: '2.0' }), [READ], [null]],
])('a row is placed on %s', (_what, asked, one, where, other = one) => {
  expect(placed([asked], one, other)).toEqual(where);
});

it('rows are spread over the requests, as the seed says', () => {
  const rows = [row('any'), row('any'), row('any')];
  expect(placed(rows, [LIST, READ, CREATE])).toEqual(['GET /v1/pets 1', 'GET /v1/pets/3 1', 'POST /v1/pets 1']);
  expect(placed(rows, [LIST, READ, CREATE], [LIST, READ, CREATE], 1)[0]).toBe('GET /v1/pets/3 1');
});

it('a key is revoked before a request that both runs make, however few they are', () => {
  const revoked = TABLES['quick']?.filter(({ break: entry }) => entry === 'api.key-revoked') ?? [];
  const other = made('GET', '/v1/pets', { authority: 'other.test' });
  const after = (calm: readonly Recorded[]) => placeRows(revoked, [calm, calm], 0).map(({ row }) => row.after);
  expect([[LIST], [LIST, READ, CREATE, other], [LIST, READ, CREATE, LIST, LIST]].map(after)).toEqual([[0], [2], [3]]);
  expect(placed(revoked, [LIST, READ])).toEqual(['null null 2']);
});

it('a fault of HTTP/1.1 has a twin over HTTP/2', () => {
  const rows = TABLES['quick']?.filter(({ twin }) => twin !== undefined) ?? [];
  const entries = ['1.1', '2.0'].map((httpVersion) => {
    const calm = [made('GET', '/v1/pets', { httpVersion: httpVersion as '1.1' })];
    return placeRows(rows, [calm, calm], 0).map(({ row: { break: entry } }) => entry);
  });
  expect(entries).toEqual([['http.empty-response'], ['http.refused-stream']]);
});

it('a break strikes the request of its place, and the first ones that a row asks for', () => {
  const place = { hostname: 'shop.test', method: 'POST', path: '/v1/pets', ordinal: 2 };
  expect(selectionOf(row('any', { first: 2 }), place)).toEqual({
    on: { hostname: 'shop.test', method: 'POST', path: '/v1/pets' },
    first: 2,
    after: 1,
  });
  expect(selectionOf(row('hostname', { after: 3 }), { ...place, path: null, ordinal: 4 })).toEqual({
    on: { hostname: 'shop.test' },
    first: 1,
    after: 3,
  });
});

it.each(Object.entries(TABLES))('every row of the table %s breaks an entry of the catalogue', (_name, rows) => {
  const ids = new Set(CATALOGUE.map(({ id }) => id));
  const named = rows.flatMap(({ break: entry, twin }) => [entry, ...(twin === undefined ? [] : [twin])]);
  expect(named.filter((id) => !ids.has(id))).toEqual([]);
  expect(rows.map(nameOf).filter((name) => !/^[a-z0-9-]+$/.test(name))).toEqual([]);
  expect(new Set(rows.map(nameOf)).size).toBe(rows.length);
});
