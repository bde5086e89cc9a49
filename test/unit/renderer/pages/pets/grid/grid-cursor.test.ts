// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import {
  type Cell,
  type Column,
  GridCursor,
  HEAD,
  moveBy,
  nextEditable,
  startsText,
} from '../../../../../../renderer/pages/pets/grid/grid-cursor.svelte.ts';

const columns: Column[] = ['select', 'id', 'name', 'categoryId', 'status', 'actions'];
const SIZE = { columns, rows: 100, page: 20 };

const cell = (text: string): Cell => {
  const [row, column] = text.split(' ');
  return { row: Number(row), column: column as Column };
};

describe('a key in the grid', () => {
  it.each([
    ['ArrowDown', '0 name', '1 name'],
    ['ArrowDown', '99 name', '99 name'],
    ['ArrowUp', '1 name', '0 name'],
    ['ArrowUp', '0 status', `${HEAD} status`],
    ['ArrowUp', `${HEAD} id`, `${HEAD} id`],
    // The titles have nothing to sort the actions by.
    ['ArrowUp', '0 actions', `${HEAD} status`],
    ['ArrowDown', `${HEAD} name`, '0 name'],
    ['ArrowLeft', '5 name', '5 id'],
    ['ArrowLeft', '5 id', '5 select'],
    ['ArrowLeft', '5 select', '5 select'],
    ['ArrowRight', '5 status', '5 actions'],
    ['ArrowRight', '5 actions', '5 actions'],
    ['ArrowRight', `${HEAD} status`, `${HEAD} status`],
    ['Home', '5 status', '5 select'],
    ['End', '5 id', '5 actions'],
    ['Control Home', '50 status', '0 select'],
    ['Control End', '50 name', '99 actions'],
    ['PageDown', '50 name', '70 name'],
    ['PageDown', '90 name', '99 name'],
    ['PageUp', '50 name', '30 name'],
    ['PageUp', '5 name', '0 name'],
  ])('%s at %s leads to %s', (keys, from, to) => {
    const key = keys.replace('Control ', '');
    expect(moveBy(key, keys !== key, cell(from), SIZE)).toEqual(cell(to));
  });

  it.each(['Enter', 'a', 'Tab', 'Escape'])('%s does not move', (key) => {
    expect(moveBy(key, false, cell('5 name'), SIZE)).toBeNull();
  });

  it('leads only to the titles if there are no rows', () => {
    expect(moveBy('ArrowDown', false, cell(`${HEAD} name`), { ...SIZE, rows: 0 })).toEqual(cell(`${HEAD} name`));
  });
});

it.each([
  ['name', 'nÉ9"日', '/? '],
  ['categoryId', '-0123456789', 'n+ '],
  ['status', 'apsS', 'x1 '],
  ['id', '', '1a'],
  ['select', '', '1a'],
] as const)('typing into %s begins an edit with one of %j, and with none of %j', (column, starting, others) => {
  expect([...starting].filter((key) => !startsText(key, column))).toEqual([]);
  expect([...others].filter((key) => startsText(key, column))).toEqual([]);
});

it.each([
  ['5 name', false, '5 categoryId'],
  ['5 status', false, '6 name'],
  ['99 status', false, null],
  ['5 categoryId', true, '5 name'],
  ['5 name', true, '4 status'],
  ['0 name', true, null],
])('the next cell to edit after %s (backwards: %s) is %s', (from, backwards, to) => {
  expect(nextEditable(cell(from), backwards, SIZE)).toEqual(to === null ? null : cell(to));
});

it('the cursor follows its row when rows move, and stays within the list', () => {
  const cursor = new GridCursor();
  cursor.go(cell('10 status'));
  cursor.moved(3);
  expect(cursor.cell).toEqual(cell('13 status'));
  cursor.fit({ columns, rows: 5 });
  expect(cursor.cell).toEqual(cell('4 status'));
  cursor.moved(-9);
  expect(cursor.row).toBe(0);
  cursor.fit({ columns, rows: 0 });
  expect(cursor.row).toBe(HEAD);
  cursor.moved(2);
  expect(cursor.row).toBe(HEAD);
});

describe('columns that are arranged', () => {
  const arranged = { ...SIZE, columns: ['select', 'status', 'name', 'actions'] as Column[] };

  it('are traversed in the visible order', () => {
    expect(moveBy('ArrowRight', false, cell('5 status'), arranged)).toEqual(cell('5 name'));
    expect(moveBy('ArrowUp', false, cell('0 actions'), arranged)).toEqual(cell(`${HEAD} name`));
    expect(nextEditable(cell('5 name'), false, arranged)).toEqual(cell('6 status'));
    expect(nextEditable(cell('5 status'), true, arranged)).toEqual(cell('4 name'));
  });

  it('move the cursor to the name when its column is hidden', () => {
    const cursor = new GridCursor();
    cursor.go(cell('5 categoryId'));
    cursor.fit(arranged);
    expect(cursor.cell).toEqual(cell('5 name'));
  });
});
