import { describe, expect, it } from 'vitest';
import { LruMap } from '../../../main/base/lru.ts';

/** A map of three with `a`, `b` and `c`, in this order, and its evicted entries. */
function three() {
  const dropped: string[] = [];
  const map = new LruMap<number>(3, (value, key) => dropped.push(`${key}=${value}`));
  ['a', 'b', 'c'].forEach((key, index) => map.set(key, index + 1));
  return { map, dropped, keys: () => [...map].map(([key]) => key).join('') };
}

describe('a map in order of use', () => {
  it.each<[string, (map: LruMap<number>) => void, string, string[]]>([
    ['an entry that was set is the last to go', (map) => map.set('a', 9), 'bca', ['a=1']],
    ['an entry that was read is the last to go', (map) => map.get('a'), 'bca', []],
    ['an entry that was used is the last to go', (map) => map.use('b', () => 9), 'acb', []],
    ['reading the last entry again leaves the order', (map) => map.get('c'), 'abc', []],
    ['looking leaves the order', (map) => map.peek('a'), 'abc', []],
    ['reading what is not there adds nothing', (map) => map.get('x'), 'abc', []],
    ['the first makes room for a new one', (map) => map.set('d', 4), 'bcd', ['a=1']],
    ['the first makes room for one that is made', (map) => map.use('d', () => 4), 'bcd', ['a=1']],
    ['a deleted entry is gone', (map) => map.delete('b'), 'ac', ['b=2']],
    ['deleting what is not there drops nothing', (map) => map.delete('x'), 'abc', []],
    ['clearing drops each', (map) => map.clear(), '', ['a=1', 'b=2', 'c=3']],
  ])('%s', (_fact, action, order, gone) => {
    const { map, dropped, keys } = three();
    action(map);
    expect([keys(), dropped, map.size]).toEqual([order, gone, order.length]);
  });

  it('returns its values', () => {
    const { map } = three();
    expect([map.get('a'), map.peek('b'), map.use('c', () => 9), map.use('d', () => 4)]).toEqual([1, 2, 3, 4]);
    map.delete('d');
    expect([map.get('d'), map.peek('a')]).toEqual([undefined, 1]);
    map.set('d', 5);
    expect(map.get('d')).toBe(5);
  });
});
