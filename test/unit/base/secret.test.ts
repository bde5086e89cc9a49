import { expect, test } from 'vitest';
import { createIdSeries } from '../../../main/base/secret.ts';

test('identifiers of a series are in order and differ in their last three characters, those of two series in all', () => {
  const [one, other] = [createIdSeries('rec'), createIdSeries('rec')];
  const ids = Array.from({ length: 4_000 }, one);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(new Set(ids.map((id) => id.slice(0, -3))).size).toBe(1);
  expect(ids.filter((id) => !/^rec_[0-9A-Za-z]{16}$/.test(id))).toEqual([]);
  expect(other().slice(0, -3)).not.toBe(ids[0]?.slice(0, -3));
});
