import { describe, expect, it } from 'vitest';
import {
  controlAuthorities,
  createAccess,
  readProtocolToken,
  refusalOf,
  type RequestOrigin,
} from '../../../main/rpc/access.ts';

const PORT = 4780;

const requestFrom = (changes: Partial<RequestOrigin>): RequestOrigin => ({
  target: '/',
  hosts: ['127.0.0.1:4780'],
  origin: undefined,
  fetchSite: undefined,
  fetchMode: undefined,
  ...changes,
});

describe('the control port', () => {
  it.each<[string, Partial<RequestOrigin>]>([
    ['a script, which sends Host only', {}],
    ['localhost', { hosts: ['localhost:4780'] }],
    ['a name in upper case', { hosts: ['LocalHost:4780'] }],
    ['the IPv6 address', { hosts: ['[::1]:4780'] }],
    ['the platform’s name', { hosts: ['vivarium.localhost:4780'] }],
    ['the interface itself', { origin: 'http://127.0.0.1:4780', fetchSite: 'same-origin', fetchMode: 'cors' }],
    ['its WebSocket', { origin: 'http://localhost:4780', fetchSite: 'same-origin', fetchMode: 'websocket' }],
    ['a typed address', { fetchSite: 'none', fetchMode: 'navigate' }],
    ['a link on a project’s own page', { fetchSite: 'same-site', fetchMode: 'navigate' }],
  ])('admits %s', (_who, changes) => {
    expect(refusalOf(requestFrom(changes), PORT)).toBeNull();
  });

  it.each<[string, Partial<RequestOrigin>, RegExp]>([
    ['a rebound name', { hosts: ['evil.example:4780'] }, /Host "evil\.example:4780" is not one of/],
    ['a name that ends like ours', { hosts: ['x.vivarium.localhost:4780'] }, /not one of/],
    ['a name that begins like ours', { hosts: ['127.0.0.1.evil.example:4780'] }, /not one of/],
    ['a trailing dot', { hosts: ['localhost.:4780'] }, /not one of/],
    ['another port', { hosts: ['127.0.0.1:4781'] }, /not one of/],
    ['no port', { hosts: ['127.0.0.1'] }, /not one of/],
    ['user information', { hosts: ['a@127.0.0.1:4780'] }, /not one of/],
    ['another loopback address', { hosts: ['127.0.0.2:4780'] }, /not one of/],
    ['an empty Host', { hosts: [''] }, /not one of/],
    ['no Host', { hosts: [] }, /exactly one/],
    ['two Hosts', { hosts: ['127.0.0.1:4780', 'evil.example'] }, /exactly one/],
    ['an absolute target', { target: 'http://127.0.0.1:4780/' }, /must be a path/],
    ['a foreign page', { origin: 'http://evil.example' }, /Origin "http:\/\/evil\.example"/],
    ['a page without an origin', { origin: 'null' }, /Origin "null"/],
    ['our names over https', { origin: 'https://127.0.0.1:4780' }, /Origin/],
    ['a page on another port of this machine', { origin: 'http://localhost:3000' }, /Origin/],
    ['an origin with a path', { origin: 'http://127.0.0.1:4780/' }, /Origin/],
    ['an empty origin', { origin: '' }, /Origin/],
    ['a foreign page’s image', { fetchSite: 'cross-site', fetchMode: 'no-cors' }, /cross-site/],
    ['a foreign page’s link', { fetchSite: 'cross-site', fetchMode: 'navigate' }, /cross-site/],
    ['a project page’s script tag', { fetchSite: 'same-site', fetchMode: 'no-cors' }, /same-site/],
    ['an unknown value', { fetchSite: 'elsewhere' }, /elsewhere/],
  ])('refuses %s', (_who, changes, reason) => {
    expect(refusalOf(requestFrom(changes), PORT)).toMatch(reason);
  });

  it('accepts its names without a port only on port 80', () => {
    expect(controlAuthorities(80)).toContain('localhost');
    expect(controlAuthorities(81)).not.toContain('localhost');
  });

  it('shortens what it quotes', () => {
    expect(refusalOf(requestFrom({ hosts: ['x'.repeat(10_000)] }), PORT)?.length).toBeLessThan(300);
  });
});

describe('the token', () => {
  it('is right in all of its characters only, and cannot be empty', () => {
    expect(['abc', 'abd', 'ab', 'abcd', '', 'ABC'].filter(createAccess('abc', () => 0).accepts)).toEqual(['abc']);
    expect(() => createAccess('', () => 0)).toThrow(RangeError);
  });

  it('can be replaced, which ends its sessions', () => {
    const access = createAccess('abc', () => 0);
    const session = access.session();
    access.replace('new');
    expect(['abc', session, 'new'].filter(access.accepts)).toEqual(['new']);
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

  it('cannot be prolonged', () => {
    const access = createAccess('abc', () => 0);
    const [, , signature] = access.session().split('.');
    expect(access.accepts(`s.zzzzzzzz.${signature ?? ''}`)).toBe(false);
  });
});
