import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from '../../../main/contract/issues.ts';

const NAMES = [
  'projects',
  'pets',
  'orders',
  'limits',
  'clock',
  'status',
  'settings',
  'keys',
  'pets.list',
  'pets.create',
];

describe('the nearest match', () => {
  it.each([
    ['project', ['projects']],
    ['pest', ['pets']],
    ['PETS', ['pets', 'pets.create', 'pets.list']],
    ['clcok', ['clock']],
    ['sta', ['status']],
    ['pets.lst', ['pets.list']],
    ['kyes', ['keys']],
    ['zzzzzz', []],
    ['', []],
  ])('of %j is %j', (word, found) => {
    expect(nearest(word, NAMES)).toEqual(found);
  });

  it('names a repeated candidate once', () => {
    expect(nearest('statsu', [...NAMES, 'status'])).toEqual(['status']);
  });

  it('is suggested in a sentence', () => {
    expect(didYouMean('pest', NAMES)).toBe(' Did you mean "pets"?');
    expect(didYouMean('pets.', NAMES)).toBe(' Did you mean "pets.create", "pets.list" or "pets"?');
    expect(didYouMean('zzzzzz', NAMES)).toBe('');
  });

  it('is found quickly for words of any length', () => {
    expect(nearest('x'.repeat(1_000_000), NAMES)).toEqual([]);
  });
});
