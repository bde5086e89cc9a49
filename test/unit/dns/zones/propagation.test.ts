import { describe, expect, it } from 'vitest';
import { changeRRset, isCurrent, isVisible, statesOf } from '../../../../main/dns/zones/propagation.ts';
import type { RecordVersion, RRsetChange } from '../../../../main/dns/zones/propagation.ts';

/** A change as `at delay what`: `+1.1.1.1` adds, `+1.1.1.1/60` with another TTL, `-1.1.1.1` removes. Times in hours. */
type Change = string;

function replay(changes: readonly Change[]): readonly RecordVersion[] {
  let versions: readonly RecordVersion[] = [];
  changes.forEach((text, index) => {
    const [at = '', delay = '', ...words] = text.split(' ');
    versions = changeRRset(versions, changeOf(words, versions, index), { nowMs: Number(at), delayMs: Number(delay) });
  });
  return versions;
}

function changeOf(words: readonly string[], versions: readonly RecordVersion[], index: number): RRsetChange {
  const put = words
    .filter((word) => word.startsWith('+'))
    .map((word) => {
      const [value = '', ttl = '3600'] = word.slice(1).split('/');
      return { id: `${value}#${index}`, value, ttlSeconds: Number(ttl) };
    });
  const gone = words.filter((word) => word.startsWith('-')).map((word) => word.slice(1));
  const remove = versions.filter((version) => isCurrent(version) && gone.includes(version.value)).map(({ id }) => id);
  return { put, remove: new Set(remove) };
}

/** The answer at each of the moments: `a b`, with the TTL if it is not 3600; `-` for nothing. */
function shownAt(versions: readonly RecordVersion[], moments: readonly number[]): string[] {
  return moments.map((nowMs) => {
    const shown = versions
      .filter((version) => isVisible(version, nowMs))
      .map(({ value, ttlSeconds }) => (ttlSeconds === 3600 ? value : `${value}/${ttlSeconds}`));
    return shown.sort().join(' ') || '-';
  });
}

describe('an RRset through its propagation', () => {
  it.each<[string, Change[], Record<number, string>]>([
    ['shows at once without a delay', ['0 0 +a'], { 0: 'a', 9: 'a' }],
    ['shows nothing until a new record has propagated', ['0 5 +a'], { 0: '-', 4: '-', 5: 'a' }],
    ['shows the old one until then', ['0 0 +a', '10 5 -a +b'], { 10: 'a', 14: 'a', 15: 'b' }],
    ['shows what was removed until then', ['0 0 +a +b', '10 5 -a'], { 10: 'a b', 14: 'a b', 15: 'b' }],
    ['shows another TTL after the delay', ['0 0 +a', '10 5 +a/60'], { 14: 'a', 15: 'a/60' }],
    ['never shows what was undone at once', ['0 5 +a', '0 5 -a'], { 0: '-', 4: '-', 5: '-', 9: '-' }],
    [
      'shows each state for as long as it lasted, delayed',
      ['0 5 +a', '2 5 -a', '3 5 +a'],
      { 4: '-', 5: 'a', 6: 'a', 7: '-', 8: 'a' },
    ],
    [
      'shows the previous record however often it changes within the delay',
      ['0 0 +a', '10 5 -a', '11 5 +b', '12 5 -b', '13 5 +a'],
      { 10: 'a', 12: 'a', 14: 'a', 15: '-', 16: 'b', 17: '-', 18: 'a' },
    ],
    ['applies earlier changes too if their delay was longer', ['0 48 +a', '1 0 +b'], { 1: 'a b', 48: 'a b' }],
    ['applies an earlier removal too', ['0 0 +a', '1 48 -a', '2 1 +b'], { 2: 'a', 3: 'b', 49: 'b' }],
    ['forgets a record that is removed before it was seen', ['0 48 +a', '1 0 -a'], { 1: '-', 48: '-' }],
    ['shows an earlier change first if its delay was shorter', ['0 1 +a', '0 5 +b'], { 1: 'a', 4: 'a', 5: 'a b' }],
    ['shows the last of two TTLs', ['0 0 +a +a/60'], { 0: 'a/60' }],
  ])('%s', (_fact, changes, shown) => {
    const moments = Object.keys(shown).map(Number);
    expect(shownAt(replay(changes), moments)).toEqual(Object.values(shown));
  });

  it('shows, with one delay, the records set that long ago: any changes at any times', () => {
    let seed = 7;
    const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 200; round++) {
      const delayMs = 1 + next(9);
      let versions: readonly RecordVersion[] = [];
      const wanted: string[] = [];
      for (let at = 0; at < 30; at++) {
        const value = 'abc'.charAt(next(3));
        const word = next(3) === 0 ? `-${value}` : `+${value}/${60 + next(2)}`;
        if (next(2) === 0) versions = changeRRset(versions, changeOf([word], versions, at), { nowMs: at, delayMs });
        const current = versions.filter(isCurrent).map((version) => ({ ...version, visibleFromMs: null }));
        wanted[at] = shownAt(current, [at])[0] ?? '';
        expect(shownAt(versions, [at])).toEqual([at < delayMs ? '-' : wanted[at - delayMs]]);
      }
    }
  });

  it('is returned as states from moment to moment, up to the requested number', () => {
    const versions = replay(['0 0 +a', '1 5 -a +b', '2 5 +b/60', '3 9 +c']);
    const told = (max: number) =>
      statesOf(versions, 4, max).map(({ fromMs, versions: seen }) =>
        [fromMs, ...seen.map(({ value }) => value)].join(' '),
      );
    expect(told(9)).toEqual(['4 a', '6 b', '7 b', '12 b c']);
    expect(told(1)).toHaveLength(2);
    expect(statesOf(replay(['0 0 +a']), 4, 9)).toHaveLength(1);
  });

  it('keeps no version that has ended, and none that will never show', () => {
    expect(replay(['0 1 +a', '5 1 -a', '9 1 +b'])).toHaveLength(1);
    expect(replay(['0 1 +a', '5 1 -a', '6 1 +b'])).toHaveLength(1);
    expect(replay(['0 5 +a', '0 5 -a'])).toEqual([]);
  });

  it('is the same value when nothing changes', () => {
    const versions = replay(['0 5 +a']);
    const same: RRsetChange[] = [{ put: [{ id: 'x', value: 'a', ttlSeconds: 3600 }] }, { remove: new Set(['other']) }];
    for (const change of same) expect(changeRRset(versions, change, { nowMs: 2, delayMs: 9 })).toBe(versions);
  });

  it('keeps the id of a record whose TTL changes', () => {
    const ids = replay(['0 0 +a', '1 5 +a/60']).map(({ id }) => id);
    expect(ids).toEqual(['a#0', 'a#0']);
  });
});
