import { describe, expect } from 'vitest';
import { emptyTest } from '../../support/engine-test.ts';
import type { Output } from '../../support/rpc/rpc-call.ts';
import type { Engine } from '../../support/engine.ts';

/** `ask` is a call about the project Shop. */
const it = emptyTest
  .extend('ask', async ({ engine }): Promise<Engine['call']> => {
    const { id: projectId } = await engine.call('projects.create', { name: 'Shop' });
    return (procedure, input) => engine.call(procedure, { projectId, ...(input as object) });
  })
  .extend(
    'list',
    ({ ask }) =>
      (input = {}): Promise<Output<'pets.list'>> =>
        ask('pets.list', input),
  );

describe('pets.list', () => {
  it('sorts, and begins at any position or pet', async ({ ask, list }) => {
    for (const [name, categoryId] of Object.entries({ Rex: 3, Ada: 1, Moss: 2 })) {
      await ask('pets.create', { name, categoryId });
    }
    const names = async (input: object) => (await list(input)).items.map(({ name }) => name);
    expect(await names({ sort: 'name' })).toEqual(['Ada', 'Moss', 'Rex']);
    expect(await names({ sort: 'categoryId', descending: true })).toEqual(['Rex', 'Moss', 'Ada']);
    expect(await list({ sort: 'name', offset: 1, limit: 1 })).toEqual({
      items: [{ id: '3', name: 'Moss', categoryId: '2', status: 'available' }],
      total: 3,
      offset: 1,
    });
    expect(await list({ sort: 'name', anchor: 1 })).toMatchObject({ offset: 2, items: [{ name: 'Rex' }] });
    expect(await list({ after: 1, limit: 1 })).toMatchObject({ items: [{ name: 'Ada' }], total: 3, next: '2' });
  });

  it.for([{ offset: 0 }, { sort: 'name' }, { descending: true }, { anchor: 1 }])(
    'does not continue after an id with %j',
    async (also, { ask }) => {
      await expect(ask('pets.list', { after: 1, ...also })).rejects.toMatchObject({
        code: 'invalid_request',
        issues: [{ path: 'after', message: expect.stringContaining('requires the order of ids') }],
      });
    },
  );
});

it('single pets are read by id, and missing ones are named', async ({ ask }) => {
  await ask('pets.seed', { count: 2 });
  expect(await ask('pets.get', { id: 2 })).toMatchObject({ id: '2' });
  await expect(ask('pets.get', { id: 3 })).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no pet 3 in production of this project.',
  });
});

describe('many pets', () => {
  it('are the same when seeded in parts as in one ask', async ({ ask, list }) => {
    await ask('pets.seed', { count: 30 });
    await ask('pets.seed', { environment: 'staging', count: 12 });
    await ask('pets.seed', { environment: 'staging', count: 18, skip: 12 });
    expect(await list({ environment: 'staging' })).toEqual(await list());
  });

  it('can be removed in parts or all at once, and orders stay', async ({ ask, list }) => {
    await ask('pets.seed', { count: 2_500 });
    await ask('orders.create', { petId: 7 });
    expect(await ask('pets.clear', { limit: 1_400 })).toEqual({ removed: 1_400, left: 1_100 });
    expect((await list({ limit: 1 })).items[0]?.id).toBe('1401');
    expect(await ask('pets.clear')).toEqual({ removed: 1_100, left: 0 });
    expect(await ask('orders.list', { petId: 7 })).toMatchObject([{ id: '1', petId: '7' }]);
  });

  it('can be changed and removed by ids, and restored exactly', async ({ ask, list }) => {
    await ask('pets.seed', { count: 2 });
    const ends = [
      { id: '9223372036854775807', name: ' é "x"\n', categoryId: '-9223372036854775808', status: 'sold' },
      { id: '-9007199254740993', name: '🦊', categoryId: '9007199254740993', status: 'pending' },
    ];
    await ask('pets.import', { format: 'json', text: JSON.stringify(ends) });
    const { items } = await list();
    const ids = items.map(({ id }) => id);
    expect(await ask('pets.getMany', { ids: [...ids.toReversed(), '77'] })).toEqual({
      pets: items.toReversed(),
      missing: ['77'],
    });

    const changes = [...ids, '77'].map((id) => ({ id, status: 'available', categoryId: 1 }));
    const changed = await ask('pets.updateMany', { changes });
    expect(changed).toEqual({ before: items, missing: ['77'] });
    expect((await list()).items).toEqual(items.map((pet) => ({ ...pet, status: 'available', categoryId: '1' })));
    await ask('pets.updateMany', { changes: changed.before });
    expect(await list()).toMatchObject({ items });

    const { removed } = await ask('pets.removeMany', { ids: ids.slice(0, 3) });
    expect([removed, (await list()).items]).toEqual([items.slice(0, 3), items.slice(3)]);
    expect(await ask('pets.import', { format: 'json', text: JSON.stringify(removed) })).toMatchObject({ created: 3 });
    expect((await list()).items).toEqual(items);
  });

  it.for([
    [
      'pets.updateMany',
      {
        changes: [
          { id: 1, status: 'sold' },
          { id: 2, categoryId: 'x' },
        ],
      },
      'changes[1].categoryId',
    ],
    ['pets.updateMany', { changes: [{ id: 1, status: 'sold' }, { id: '1' }] }, 'changes[1].id'],
    ['pets.removeMany', { ids: [1, 2, 1] }, 'ids[2]'],
    ['pets.removeMany', { ids: Array.from({ length: 1_001 }, (_, id) => id) }, 'ids'],
  ] as const)('are refused as a whole: %s with %j', async ([procedure, input, path], { ask, list }) => {
    await ask('pets.seed', { count: 2 });
    const before = await list();
    await expect(ask(procedure, input)).rejects.toMatchObject({ code: 'invalid_request', issues: [{ path }] });
    expect(await list()).toEqual(before);
  });

  it('can be removed again after an import, and no others with them', async ({ ask, list }) => {
    await ask('pets.seed', { count: 3 });
    const text = 'id,name,categoryId\n,Moss,1\n,Otter,1\n2,Taken,1\n900,Far,1\n';
    const { added, created } = await ask('pets.import', { format: 'csv', text });
    expect([created, added]).toEqual([
      3,
      [
        { first: '4', last: '5' },
        { first: '900', last: '900' },
      ],
    ]);
    await ask('pets.create', { name: 'Later', categoryId: 1 });
    // The limit is for all ranges together.
    expect(await ask('pets.clear', { ids: added?.toReversed(), limit: 2 })).toEqual({ removed: 2, left: 5 });
    expect(await ask('pets.clear', { ids: added })).toEqual({ removed: 1, left: 4 });
    expect(await ask('pets.clear', { ids: [] })).toEqual({ removed: 0, left: 4 });
    expect((await list()).items.map(({ id }) => id)).toEqual(['1', '2', '3', '901']);
  });

  it('are previewed as they would be imported, and none is added', async ({ ask, list }) => {
    await ask('pets.seed', { count: 2 });
    const text = 'Titel;category;id\nRex;7;\n"Mo\nss";x;\nTaken;1;2\nCut;1';
    const columns = { name: 'titel', status: '' };
    const preview = await ask('pets.previewImport', { format: 'csv', text, columns, more: true });
    expect(preview).toEqual({
      delimiter: 'semicolon',
      titles: ['Titel', 'category', 'id'],
      columns: { id: 'id', name: 'Titel', categoryId: 'category' },
      rows: [
        { row: 1, line: 2, text: 'Rex;7;', pet: { name: 'Rex', categoryId: '7', status: 'available' } },
        { row: 2, line: 3, text: '"Mo\nss";x;', message: expect.stringMatching(/^categoryId .*"x"$/) },
        {
          row: 3,
          line: 5,
          text: 'Taken;1;2',
          pet: { id: '2', name: 'Taken', categoryId: '1', status: 'available' },
          message: expect.stringContaining('There is a pet 2'),
        },
      ],
    });
    expect(await ask('pets.previewImport', { format: 'csv', text })).toMatchObject({
      fault: expect.stringContaining('"name" is missing'),
      titles: ['Titel', 'category', 'id'],
      rows: [],
    });
    expect(await ask('pets.import', { format: 'csv', text, columns })).toMatchObject({
      created: 2,
      rejected: [
        { row: 2, line: 3, text: '"Mo\nss";x;' },
        { row: 3, line: 5, text: 'Taken;1;2' },
      ],
    });
    expect((await list()).items.slice(2)).toMatchObject([{ name: 'Rex' }, { name: 'Cut' }]);
  });

  it('are imported in pieces, each with its own report', async ({ ask, list }) => {
    const send = async (text: string, input: object = {}) =>
      await ask('pets.import', { format: 'json', text, ...input });
    const first = await send('[{"name":"Rex","categoryId":1},{"name":"","categ', { more: true });
    expect(first).toMatchObject({ created: 1, rejectedTotal: 0 });
    const second = await send('oryId":1},7,{"name":"Moss","categoryId":2', { importId: first.importId, more: true });
    expect(second).toMatchObject({ created: 0, rejectedTotal: 2, rejected: [{ row: 2 }, { row: 3 }] });
    expect(await send('}]', { importId: first.importId })).toMatchObject({ created: 1, rejectedTotal: 0 });
    expect((await list()).items.map(({ name }) => name)).toEqual(['Rex', 'Moss']);
    await expect(send('', { importId: first.importId })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('leave room for the API and other calls meanwhile', async ({ engine, ask, list }) => {
    const { secret } = await ask('keys.create');
    let adding = true;
    const seeding = ask('pets.seed', { count: 20_000 }).finally(() => (adding = false));
    const totals: number[] = [];
    while (adding) {
      expect((await listed(engine, secret)).status).toBe(200);
      totals.push((await list({ limit: 1 })).total);
      if (totals.length === 20) break;
    }
    await seeding;
    expect(new Set(totals).size).toBeGreaterThan(3);
  });
});

const listed = (engine: Engine, key: string) => engine.api({ host: 'shop.vivarium.localhost', key, path: '/v1/pets' });

it('orders can be placed, listed for a pet, and undone', async ({ ask }) => {
  await ask('pets.seed', { count: 3 });
  const order = await ask('orders.create', { petId: 2, quantity: 5 });
  await ask('orders.create', { petId: 3 });
  expect(await ask('orders.list', { petId: 2 })).toEqual([order]);
  expect(await ask('orders.list', { limit: 1 })).toMatchObject([{ id: '2' }]);
  expect(await ask('orders.remove', { id: order.id })).toEqual(order);
  expect(await ask('orders.list', { petId: 2 })).toEqual([]);
});
