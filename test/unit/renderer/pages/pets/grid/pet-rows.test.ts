// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { PetRecord } from '../../../../../../main/contract/pets.ts';
import { PetList } from '../../../../../../renderer/pages/pets/pet-list.svelte.ts';
import { PetRows } from '../../../../../../renderer/pages/pets/grid/pet-rows.svelte.ts';
import { refuses } from '../../../../../support/fake-client.ts';
import { settle } from '../../../../../support/fake-clock.ts';
import { pageParts } from '../../../../../support/page/page-parts.ts';
import { listOf, type ListInput, NO_FILTER } from '../../../../../support/page/page-pets.ts';
import { makePets } from '../../../../../support/page/page-world.ts';

const newcomer = (id: string): PetRecord => ({ id, name: `New ${id}`, categoryId: '1', status: 'sold' });

function connect(count: number) {
  const world = { pets: makePets(count) };
  const parts = pageParts({ 'pets.list': listOf(() => world.pets) });
  return {
    ...parts,
    world,
    asked: () => parts.asked('pets.list') as ListInput[],
    change: () => parts.tell('pets.changed', { projectId: 'prj_demo', environment: 'production' }),
    base: { ...parts.source, projectId: 'prj_demo' },
  };
}

async function setUp(count: number) {
  const parts = connect(count);
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
    const { rows, answers, time } = await setUp(1_000);
    answers['pets.list'] = refuses('internal_error', 'Broken.');
    rows.setVisible({ first: 900, last: 930 });
    await time.pass(1_000);
    expect([rows.live.failure, rows.total]).toEqual(['Broken.', 1_000]);
  });
});

describe('the visible list', () => {
  async function setUpList() {
    const parts = connect(50);
    const list = new PetList({ ...parts.base, anchor: () => undefined, onmoved: () => undefined }, NO_FILTER);
    await settle();
    return { ...parts, list };
  }

  it('stays until the next one has its first rows', async () => {
    const { list, answers } = await setUpList();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    answers['pets.list'] = () => promise;
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
    const { list, answers } = await setUpList();
    const slow = Promise.withResolvers<unknown>();
    answers['pets.list'] = () => slow.promise;
    list.want({ ...NO_FILTER, search: 'a' });
    await settle();
    answers['pets.list'] = () => ({ items: makePets(2), total: 2, offset: 0 });
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
    const { list, answers } = await setUpList();
    answers['pets.list'] = () => new Promise(() => undefined);
    list.want({ ...NO_FILTER, environment: 'staging' });
    expect([list.rows.filter.environment, list.rows.total]).toEqual(['staging', undefined]);
  });
});
