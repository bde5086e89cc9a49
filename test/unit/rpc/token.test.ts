import { describe, expect, it } from 'vitest';
import { createTokenCheck, readProtocolToken } from '../../../main/rpc/guard.ts';

describe('the token', () => {
  it.each([
    ['abc', true],
    ['abd', false],
    ['ab', false],
    ['abcd', false],
    ['', false],
    ['ABC', false],
  ])('compared with %j is right: %s', (candidate, right) => {
    expect(createTokenCheck('abc')(candidate)).toBe(right);
  });

  it('may not be empty', () => {
    expect(() => createTokenCheck('')).toThrow(RangeError);
  });

  it.each([
    ['vivarium, token.abc', 'abc'],
    ['token.abc,vivarium', 'abc'],
    ['token.abc', null],
    ['vivarium', null],
    ['vivarium, abc', null],
    ['vivarium, token.', ''],
    [undefined, null],
  ])('is read from Sec-WebSocket-Protocol %j as %j', (header, token) => {
    expect(readProtocolToken(header)).toBe(token);
  });
});
