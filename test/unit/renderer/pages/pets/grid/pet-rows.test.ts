// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import type { PetRecord } from '../../../../../../main/contract/pets.ts';
import { Connection } from '../../../../../../renderer/connection/connection.svelte.ts';
import { PetList } from '../../../../../../renderer/pages/pets/pet-list.svelte.ts';
import { PetRows } from '../../../../../../renderer/pages/pets/grid/pet-rows.svelte.ts';
import { createFakeClock, settle } from '../../../../../support/fake-clock.ts';
import { createFakeTransport } from '../../../../../support/page/page-link.ts';
import { type ListInput, NO_FILTER, stubPetList } from '../../../../../support/page/page-pets.ts';
import { makePets } from '../../../../../support/page/page-world.ts';

const newcomer = (id: string): PetRecord => ({ id, name: `New ${id}`, categoryId: '1', status: 'sold' });

async function connect(pets: PetRecord[]) {
  const time = createFakeClock();
  const transport = createFakeTransport();
  const world = { pets };
  stubPetList(transport, () => world.pets);
  const connection = new Connection({ transport, time, pulse: () => Promise.resolve() });
  connection.start();
  await settle();
  const asked = (): ListInput[] =>
    transport.calls.filter(({ procedure }) => procedure === 'pets.list').map(({ input }) => input as ListInput);
  const change = async () => {
    transport.tell({ type: 'pets.changed', projectId: 'prj_demo', environment: 'production' });
    await time.pass(1_000);
  };
  const base = { client: connection.client, changes: connection, time, projectId: 'prj_demo' };
  return { time, transport, connection, world, asked, change, base };
}

async function setUp(count: number) {
  const parts = await connect(makePets(count));
  const screen: { anchor: number | undefined; moves: number[] } = { anchor: undefined, moves: [] };
  const rows = new PetRows({
    ...parts.base,
    filter: NO_FILTER,
    anchor: () => screen.anchor,
    onmoved: (by) => void screen.moves.push(by),
  });
  await settle();
  return { ...parts, rows, screen };
}

describe('the rows of a list', () => {
  it('are read around the visible ones, and elsewhere only when they become visible', async () => {
    const { rows, asked } = await setUp(10_000);
    expect([rows.total, rows.at(0)?.id, rows.at(5_000)]).toEqual([10_000, '1', undefined]);
    rows.setVisible({ first: 5_000, last: 5_030 });
    await settle();
    expect([rows.at(5_000)?.id, rows.at(4_950)?.id, rows.at(5_080)?.id]).toEqual(['5001', '4951', '5081']);
    rows.setVisible({ first: 5_010, last: 5_040 });
    await settle();
    expect(asked()).toHaveLength(2);
    expect(asked()[1]).toMatchObject({ offset: 4_940, limit: 151 });
  });

  it('are requested once at a time, the latest position next', async () => {
    const { rows, asked } = await setUp(10_000);
    for (let first = 1_000; first <= 9_000; first += 100) rows.setVisible({ first, last: first + 30 });
    await settle();
    expect(asked().map(({ offset }) => offset)).toEqual([0, 940, 8_940]);
    expect(rows.at(9_010)?.id).toBe('9011');
  });

  it('are read again after a change, and keep their positions', async () => {
    const { rows, world, screen, change } = await setUp(100);
    world.pets = [...world.pets, newcomer('101')];
    await change();
    expect([rows.total, screen.moves]).toEqual([101, []]);
  });

  it('move along with the pet at the anchor', async () => {
    const { rows, world, screen, change, asked } = await setUp(1_000);
    rows.setVisible({ first: 500, last: 530 });
    await settle();
    screen.anchor = 505;
    world.pets = [newcomer('-3'), newcomer('-2'), newcomer('-1'), ...world.pets];
    await change();
    expect(asked().at(-1)).toMatchObject({ offset: 440, anchor: '506', before: 65 });
    expect([screen.moves, rows.at(508)?.id]).toEqual([[3], '506']);
    // The pet itself is gone: the positions stay.
    world.pets = world.pets.filter(({ id }) => id !== '509');
    screen.anchor = 511;
    await change();
    expect(screen.moves).toEqual([3]);
  });

  it('near the beginning move as far as they can', async () => {
    const { rows, world, screen, change } = await setUp(100);
    screen.anchor = 5;
    world.pets = world.pets.slice(2);
    await change();
    expect([screen.moves, rows.at(3)?.id]).toEqual([[-2], '6']);
  });

  it('show the engine’s answer about one at once, and find the position of one', async () => {
    const { rows } = await setUp(1_000);
    rows.put({ ...newcomer('7'), name: 'Renamed' });
    expect([rows.at(6)?.name, rows.positionOf('7'), rows.positionOf('900')]).toEqual(['Renamed', 6, undefined]);
    expect([await rows.find('900'), await rows.find('4711')]).toEqual([899, undefined]);
  });

  it('are not requested for ever once they are gone', async () => {
    const { rows, world, asked } = await setUp(1_000);
    world.pets = world.pets.slice(0, 300);
    rows.setVisible({ first: 900, last: 930 });
    await settle();
    expect(asked()).toHaveLength(2);
  });

  it('show why they could not be read', async () => {
    const { rows, transport, time } = await setUp(1_000);
    transport.stub('pets.list', () => Promise.reject(new ORPCError('internal_error', { message: 'Broken.' })));
    rows.setVisible({ first: 900, last: 930 });
    await time.pass(1_000);
    expect([rows.live.failure, rows.total]).toEqual(['Broken.', 1_000]);
  });
});

describe('the visible list', () => {
  async function setUpList() {
    const parts = await connect(makePets(50));
    const list = new PetList({ ...parts.base, anchor: () => undefined, onmoved: () => undefined }, NO_FILTER);
    await settle();
    return { ...parts, list };
  }

  it('stays until the next one has its first rows', async () => {
    const { list, transport } = await setUpList();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    transport.stub('pets.list', () => promise);
    list.want({ ...NO_FILTER, search: 'ada' });
    await settle();
    expect([list.rows.filter.search, list.busy, list.wanted.search]).toEqual(['', true, 'ada']);
    resolve({ items: makePets(1), total: 1, offset: 0 });
    await settle();
    expect([list.rows.filter.search, list.rows.total, list.busy]).toEqual(['ada', 1, false]);
    list.settle();
    expect(list.rows.filter.search).toBe('ada');
  });

  it('is not replaced by one that was requested before the last', async () => {
    const { list, transport } = await setUpList();
    const slow = Promise.withResolvers<unknown>();
    transport.stub('pets.list', () => slow.promise);
    list.want({ ...NO_FILTER, search: 'a' });
    await settle();
    transport.stub('pets.list', () => ({ items: makePets(2), total: 2, offset: 0 }));
    list.want({ ...NO_FILTER, search: 'ad' });
    await settle();
    slow.resolve({ items: makePets(9), total: 9, offset: 0 });
    await settle();
    expect([list.rows.filter.search, list.rows.total]).toEqual(['ad', 2]);
    list.want(NO_FILTER);
    await settle();
    expect(list.rows.filter.search).toBe('');
  });

  it('disappears at once if it belongs to another environment', async () => {
    const { list, transport } = await setUpList();
    transport.stub('pets.list', () => new Promise(() => undefined));
    list.want({ ...NO_FILTER, environment: 'staging' });
    expect([list.rows.filter.environment, list.rows.total]).toEqual(['staging', undefined]);
  });
});
