import { expect, test } from 'vitest';
import { createExternalKeySecret, createIdSeries, createUpdateKey } from '../../../main/base/secret.ts';

test('identifiers of one series are ascending and differ in their last three characters, those of two series in all', () => {
  const [one, other] = [createIdSeries('rec'), createIdSeries('rec')];
  const ids = Array.from({ length: 4_000 }, one);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(new Set(ids.map((id) => id.slice(0, -3))).size).toBe(1);
  expect(ids.filter((id) => !/^rec_[0-9A-Za-z]{16}$/.test(id))).toEqual([]);
  expect(other().slice(0, -3)).not.toBe(ids[0]?.slice(0, -3));
});

test('a key for external account binding is 33 octets of base64url that no command line reads as an option, one for updates 32', () => {
  expect(Buffer.from(createUpdateKey(), 'base64')).toHaveLength(32);
  const keys = Array.from({ length: 1_000 }, createExternalKeySecret);
  expect(keys.filter((key) => !/^[0-9A-Za-z]{44}$/.test(key))).toEqual([]);
  expect(new Set(keys.map((key) => Buffer.from(key, 'base64url').length))).toEqual(new Set([33]));
});
