import { describe, expect, it } from 'vitest';
import { createAccess, readProtocolToken } from '../../../main/rpc/access.ts';

describe('the token', () => {
  it.each([
    ['abc', true],
    ['abd', false],
    ['ab', false],
    ['abcd', false],
    ['', false],
    ['ABC', false],
  ])('compared with %j is right: %s', (candidate, right) => {
    expect(createAccess('abc', () => 0).accepts(candidate)).toBe(right);
  });

  it('cannot be empty', () => {
    expect(() => createAccess('', () => 0)).toThrow(RangeError);
  });

  it('can be replaced', () => {
    const access = createAccess('abc', () => 0);
    access.replace('new');
    expect([access.accepts('abc'), access.accepts('new')]).toEqual([false, true]);
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

describe('a session', () => {
  const DAY_MS = 86_400_000;

  it('is accepted for a week, even after a restart, and only under the token that signed it', () => {
    let nowMs = 0;
    const session = createAccess('abc', () => nowMs).session();
    const restarted = createAccess('abc', () => nowMs);
    expect(readProtocolToken(`vivarium, token.${session}`)).toBe(session);
    expect(createAccess('other', () => nowMs).accepts(session)).toBe(false);
    nowMs = 7 * DAY_MS - 1;
    expect(restarted.accepts(session)).toBe(true);
    nowMs = 7 * DAY_MS;
    expect(restarted.accepts(session)).toBe(false);
  });

  it('ends with the token', () => {
    const access = createAccess('abc', () => 0);
    const session = access.session();
    access.replace('new');
    expect(access.accepts(session)).toBe(false);
  });

  it('cannot be prolonged', () => {
    const access = createAccess('abc', () => 0);
    const [, , signature] = access.session().split('.');
    expect(access.accepts(`s.zzzzzzzz.${signature ?? ''}`)).toBe(false);
  });
});
