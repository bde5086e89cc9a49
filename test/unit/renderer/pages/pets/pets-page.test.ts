// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { PetRecord } from '../../../../../main/contract/pets.ts';
import { CellEdit } from '../../../../../renderer/pages/pets/grid/cell-edit.svelte.ts';
import { PetDetail } from '../../../../../renderer/pages/pets/pet-detail.svelte.ts';
import { PetsPage } from '../../../../../renderer/pages/pets/pets-page.svelte.ts';
import { Works } from '../../../../../renderer/shared/session/works.svelte.ts';
import { refuses, refusal } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { noViews, pageParts } from '../../../../support/page/page-parts.ts';
import { listOf, NO_FILTER } from '../../../../support/page/page-pets.ts';
import { makePets } from '../../../../support/page/page-world.ts';

async function setUp() {
  const world = { pets: makePets(30) };
  const petOf = ({ id }: { id: string }) => world.pets.find((pet) => pet.id === id);
  const parts = pageParts({
    'pets.list': listOf(() => world.pets),
    'pets.update': ({ id, name, categoryId, status }: PetRecord) => ({
      ...(petOf({ id }) ?? expect.fail(`No pet ${id}.`)),
      ...(name !== undefined && { name }),
      ...(categoryId !== undefined && { categoryId }),
      ...(status !== undefined && { status }),
    }),
    'pets.remove': petOf,
    'pets.create': (input: object) => ({ id: '31', ...input }),
  });
  const works = new Works(parts.time);
  const base = { ...parts.source, projectId: 'prj_demo' };
  const page = new PetsPage({ ...base, toasts: parts.toasts, works, views: noViews(), filter: NO_FILTER });
  await settle();
  const change = () => parts.tell('pets.changed', { projectId: 'prj_demo', environment: 'production' });
  return { ...parts, works, base, page, world, petOf, change };
}

const DATASET = { projectId: 'prj_demo', environment: 'production' };

describe('the actions on pets', () => {
  it('an edited cell shows at once, and one report covers many edits, each of which can be undone', async () => {
    const { page, undo, asked, said } = await setUp();
    for (const text of ['Adb', 'Adc']) {
      const pet = page.list.rows.at(0) ?? expect.fail('There is no first row.');
      const edit = new CellEdit(pet, 'name', (finished) => page.save(page.list.rows, finished));
      edit.text = text;
      expect(await edit.save()).toBe(true);
      expect(page.list.rows.at(0)?.name).toBe(text);
    }
    expect(said()).toEqual(['Changed Adb’s name to Adc.']);
    await undo();
    await undo();
    expect(asked('pets.update').slice(2)).toEqual([
      { ...DATASET, id: '1', name: 'Adb' },
      { ...DATASET, id: '1', name: 'Ada' },
    ]);
  });

  it('a removed pet is restored unchanged', async () => {
    const { page, undo, world, asked, said } = await setUp();
    const pet = { ...(world.pets[2] as PetRecord), name: 'x'.repeat(1_000) };
    await page.remove(pet);
    expect(said()).toEqual([`Removed ${'x'.repeat(48)}….`]);
    await undo();
    expect(asked('pets.create')).toEqual([{ ...DATASET, ...pet }]);
  });

  it('a pet that could not be removed is named with the reason', async () => {
    const { page, answers, world, said } = await setUp();
    answers['pets.remove'] = refuses('not_found', 'There is no pet 1.');
    await page.remove(world.pets[0] as PetRecord);
    expect(said()).toEqual(['Ada was not removed. There is no pet 1.']);
  });

  it('an added pet is shown at its position in the list', async () => {
    const { page, world, asked } = await setUp();
    const gone: number[] = [];
    page.attach({ anchor: () => undefined, moved: () => undefined, goTo: (row) => void gone.push(row) });
    world.pets = [...world.pets, { id: '31', name: 'Zora', categoryId: '1', status: 'sold' }];
    await page.add({ id: ' ', name: 'Zora', categoryId: ' 1 ', status: 'sold' });
    await settle();
    expect(asked('pets.create')).toEqual([{ ...DATASET, name: 'Zora', categoryId: '1', status: 'sold' }]);
    expect(gone).toEqual([30]);
  });
});

describe('the selected pets', () => {
  /** An engine that changes, removes and imports by ids, which are numbers here. */
  async function setUpMany(count: number) {
    const parts = await setUp();
    const { answers, world } = parts;
    world.pets = makePets(count);
    const split = (ids: readonly string[]) => {
      const found = world.pets.filter(({ id }) => ids.includes(id));
      return { found, missing: ids.filter((id) => found.every((pet) => pet.id !== id)) };
    };
    answers['pets.updateMany'] = (input: { changes: PetRecord[] }) => {
      const changes = new Map(input.changes.map((change) => [change.id, change]));
      const { found: before, missing } = split([...changes.keys()]);
      world.pets = world.pets.map((pet) => ({ ...pet, ...changes.get(pet.id) }));
      return { before, missing };
    };
    answers['pets.removeMany'] = ({ ids }: { ids: string[] }) => {
      const { found: removed, missing } = split(ids);
      world.pets = world.pets.filter((pet) => !removed.includes(pet));
      return { removed, missing };
    };
    answers['pets.import'] = ({ text }: { text: string }) => {
      const added = JSON.parse(text) as PetRecord[];
      world.pets = [...world.pets, ...added].toSorted((one, other) => Number(one.id) - Number(other.id));
      return { created: added.length, rejected: [], rejectedTotal: 0 };
    };
    await parts.change();
    return parts;
  }

  it('are changed at once, and restored by one Undo', async () => {
    const { page, undo, world, said } = await setUpMany(30);
    const before = world.pets;
    await page.selectTo(4, 2);
    page.selection.toggle('9', 8);
    world.pets = world.pets.filter(({ id }) => id !== '9');
    await page.changeSelected({ status: 'sold', categoryId: '7' });
    expect(world.pets.filter(({ categoryId }) => categoryId === '7').map(({ id }) => id)).toEqual(['3', '4', '5']);
    expect([said(), page.selection.size]).toEqual([['3 pets changed; 1 no longer existed.'], 4]);
    await undo();
    expect(world.pets).toEqual(before.filter(({ id }) => id !== '9'));
    expect(said()).toEqual(['3 pets restored.']);
  });

  it('are removed in parts that show their progress, and restored', async () => {
    const { page, toasts, works, world, asked } = await setUpMany(2_500);
    const before = world.pets;
    await page.selectAll();
    expect(page.selection.size).toBe(2_500);
    await page.removeSelected();
    for (let turn = 0; turn < 20; turn++) await settle();
    expect(works.list.map(({ title, result }) => [title, result])).toEqual([
      ['Removing 2,500 pets of production', '2,500 pets removed.'],
    ]);
    expect([asked('pets.removeMany').length, world.pets, page.selection.size]).toEqual([3, [], 0]);
    toasts.undoLast();
    for (let turn = 0; turn < 20; turn++) await settle();
    expect(world.pets).toEqual(before);
  });

  it('are put back as far as they can be, and the report says why the others are not', async () => {
    const { page, undo, answers, said } = await setUpMany(30);
    await page.selectTo(4, 2);
    await page.removeSelected();
    await settle();
    const rejected = [{ row: 1, message: 'id: 3 is taken' }];
    answers['pets.import'] = () => ({ created: 2, rejected, rejectedTotal: 1 });
    await undo();
    expect(said()).toEqual(['2 pets put back; 1 could not be: id: 3 is taken.']);
  });

  it('are cleared in a list that may not contain them', async () => {
    const { page } = await setUpMany(30);
    page.selection.toggle('3', 2);
    page.want({ ...NO_FILTER, sort: 'name' });
    expect(page.selection.size).toBe(1);
    page.want({ ...NO_FILTER, status: 'sold' });
    expect(page.selection.size).toBe(0);
  });

  it('all get a single pasted cell, and several cells are pasted from the cursor on', async () => {
    const { page, world, asked, said } = await setUpMany(30);
    page.selection.toggle('3', 2);
    page.selection.toggle('9', 8);
    await page.pasteCells({ row: 0, column: 'categoryId' }, [['77']]);
    page.selection.clear();
    await page.pasteCells({ row: 29, column: 'name' }, [['Ann', '5', ' Sold '], ['beyond the end']]);
    expect(asked('pets.updateMany')).toEqual([
      { ...DATASET, changes: ['3', '9'].map((id) => ({ id, categoryId: '77' })) },
      { ...DATASET, changes: [{ id: '30', name: 'Ann', categoryId: '5', status: 'sold' }] },
    ]);
    expect(world.pets[29]).toEqual({ id: '30', name: 'Ann', categoryId: '5', status: 'sold' });
    page.selection.toggle('3', 2);
    await page.pasteCells({ row: 29, column: 'name' }, [['Ben', '6']]);
    expect(asked('pets.updateMany').at(-1)).toMatchObject({ changes: [{ id: '30', name: 'Ben', categoryId: '6' }] });
    await page.pasteCells({ row: 0, column: 'id' }, [['1']]);
    await page.pasteCells({ row: 0, column: 'status' }, [['sold', '1']]);
    expect(said().slice(-2)).toEqual([
      'Ids can’t be pasted over. Paste over names, categories and statuses.',
      'Nothing was pasted: it is 2 columns wide, and one is left from here on.',
    ]);
  });

  it('are pasted over in the visible order of the columns', async () => {
    const { page, asked, said } = await setUpMany(30);
    page.columns.move('status', 'name');
    page.columns.show('categoryId', false);
    await page.pasteCells({ row: 1, column: 'status' }, [['sold', 'Ann']]);
    expect(asked('pets.updateMany')).toEqual([{ ...DATASET, changes: [{ id: '2', status: 'sold', name: 'Ann' }] }]);
    page.columns.move('id', 'name');
    await page.pasteCells({ row: 1, column: 'status' }, [['sold', 'Ben', '7']]);
    expect(said().at(-1)).toBe('Ids can’t be pasted over. Paste over names, categories and statuses.');
  });

  it('that cannot be removed are named with the reason', async () => {
    const { page, answers, said } = await setUpMany(30);
    answers['pets.removeMany'] = refuses('unavailable', 'It stops.');
    page.selection.toggle('3', 2);
    await page.removeSelected();
    expect(said()).toEqual(['The pets were not removed. It stops.']);
  });
});

describe('a cell that is edited', () => {
  const pet = makePets(1)[0] as PetRecord;

  it('is not sent if nothing was changed', async () => {
    const edit = new CellEdit(pet, 'categoryId', () => Promise.reject(new Error('sent')));
    expect([await edit.save(), edit.text]).toEqual([true, '1']);
  });

  it('keeps what was typed next to the engine’s objection, and is sent once at a time', async () => {
    let sends = 0;
    const { promise, reject } = Promise.withResolvers<undefined>();
    const edit = new CellEdit(pet, 'name', () => {
      sends++;
      return promise;
    });
    edit.text = ' ';
    const saving = edit.save();
    expect([edit.saving, await edit.save(), sends]).toEqual([true, false, 1]);
    const issue = { path: 'name', message: 'must have a character' };
    reject(refusal('invalid_request', 'name must have a character', issue));
    expect(await saving).toBe(false);
    expect([edit.fault, edit.text, edit.saving]).toEqual(['must have a character', ' ', false]);
  });
});

describe('the pet beside the list', () => {
  async function open(id: string) {
    const parts = await setUp();
    const { answers, base, page, petOf } = parts;
    answers['pets.get'] = (input: PetRecord) => petOf(input) ?? refuses('not_found', 'There is none.')();
    answers['orders.list'] = () => ['1', '2'].map((order) => ({ id: order }));
    const detail = new PetDetail({ ...base, actions: page.actions, environment: 'production', id });
    await settle();
    return { ...parts, detail };
  }

  it('follows changes by others, but does not overwrite typed text', async () => {
    const { detail, world, change } = await open('1');
    expect(detail.form.values).toEqual({ name: 'Ada', categoryId: '1', status: 'available' });
    world.pets = world.pets.map((pet) => (pet.id === '1' ? { ...pet, name: 'Ada L.' } : pet));
    await change();
    expect([detail.form.values.name, detail.changed]).toEqual(['Ada L.', false]);
    detail.form.values.name = 'Adam';
    world.pets = world.pets.map((pet) => (pet.id === '1' ? { ...pet, status: 'sold' } : pet));
    await change();
    expect(detail.form.values).toEqual({ name: 'Adam', categoryId: '1', status: 'available' });
    expect(detail.changed).toBe(true);
    detail.discard();
    expect(detail.form.values).toEqual({ name: 'Ada L.', categoryId: '1', status: 'sold' });
  });

  it('is saved as a whole, and has its newest order first', async () => {
    const { detail, asked, said } = await open('1');
    detail.form.values.categoryId = ' 9 ';
    await detail.save();
    expect(asked('pets.update')).toEqual([{ ...DATASET, id: '1', name: 'Ada', categoryId: '9', status: 'available' }]);
    expect([said(), detail.changed]).toEqual([['Changed Ada.'], false]);
    expect(detail.orders.value?.map(({ id }) => id)).toEqual(['2', '1']);
  });

  it('places an order that can be undone', async () => {
    const { detail, answers, undo, asked, said } = await open('1');
    answers['orders.create'] = () => ({ id: '3' });
    answers['orders.remove'] = () => ({ id: '3' });
    detail.order.values.quantity = '1,000';
    await detail.placeOrder();
    expect(asked('orders.create')).toEqual([{ ...DATASET, petId: '1', quantity: 1_000 }]);
    expect([said(), detail.order.values.quantity]).toEqual([['Placed order 3 for Ada.'], '1']);
    await undo();
    expect(asked('orders.remove')).toEqual([{ ...DATASET, id: '3' }]);
  });

  it('is null if there is none, or it was removed', async () => {
    const { detail, world, change } = await open('1');
    world.pets = [];
    await change();
    expect([detail.pet.value, detail.pet.failure]).toEqual([null, undefined]);
  });
});
