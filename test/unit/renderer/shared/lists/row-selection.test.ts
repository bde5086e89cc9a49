// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { RowSelection, SELECTED_MAX } from '../../../../../renderer/shared/lists/row-selection.svelte.ts';

/** Row n has the pet n. */
const held = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => String(first + index));

const rangeTo = (selection: RowSelection, position: number, from = 0): Promise<number> =>
  selection.extendTo(position, from, held);

describe('a selection', () => {
  it('selects and deselects single pets', () => {
    const selection = new RowSelection();
    for (const id of ['3', '5', '3']) selection.toggle(id, Number(id));
    expect([selection.ids, selection.size, selection.has('3'), selection.has('5')]).toEqual([['5'], 1, false, true]);
  });

  it('extends and shrinks one range in both directions, in addition to the previous selection', async () => {
    const selection = new RowSelection();
    selection.toggle('20', 20);
    selection.toggle('4', 4);
    await rangeTo(selection, 7);
    expect(selection.ids).toEqual(['20', '4', '5', '6', '7']);
    await rangeTo(selection, 2);
    expect(selection.ids).toEqual(['20', '4', '2', '3']);
    selection.startAt(10);
    await rangeTo(selection, 11);
    expect(selection.ids).toEqual(['20', '4', '2', '3', '10', '11']);
    selection.toggle('3', 3);
    expect(selection.size).toBe(5);
  });

  it('begins a first range at the previous cursor, and moves with its rows', async () => {
    const selection = new RowSelection();
    await rangeTo(selection, 6, 5);
    selection.moved(3);
    await rangeTo(selection, 9);
    expect(selection.ids).toEqual(['8', '9']);
  });

  it('has the later of two ranges that load, and none after it was cleared', async () => {
    const selection = new RowSelection();
    const slow = Promise.withResolvers<string[]>();
    const first = selection.extendTo(900, 0, () => slow.promise);
    await rangeTo(selection, 1);
    slow.resolve(held(0, 900));
    await first;
    expect(selection.ids).toEqual(['0', '1']);
    const late = selection.extendTo(900, 0, () => Promise.resolve(held(0, 900)));
    selection.clear();
    await late;
    expect(selection.size).toBe(0);
  });

  it('is limited, and tells how many it left out', async () => {
    const selection = new RowSelection();
    expect(await rangeTo(selection, SELECTED_MAX + 4)).toBe(5);
    expect(selection.size).toBe(SELECTED_MAX);
    selection.toggle('x', 0);
    expect([selection.size, selection.has('x')]).toEqual([SELECTED_MAX, false]);
  });
});
