import { describe, expect, test } from 'vitest';
import { countHops, forwardedHeaders, type ForwardedFrom, handshakeOrigin } from '../../../main/proxy/forwarded.ts';

const FROM: ForwardedFrom = {
  ...{ address: '127.0.0.1', scheme: 'http', authority: 'app.acme.test:8080', port: 8080, client: null },
};
const UPSTREAM = { host: '127.0.0.1:3000', pseudonym: 'vivarium-a' };

const passedOn = (headers: Parameters<typeof forwardedHeaders>[0], from: Partial<ForwardedFrom> = {}) =>
  forwardedHeaders(headers, { ...FROM, ...from }, '1.1', UPSTREAM);

test.each<[string, string | string[] | undefined, number]>([
  ['without Via', undefined, 0],
  ['through other proxies only', '1.1 squid, 2.0 cdn.example, 1.0 fred, 1.1 nginx, HTTP/1.1 vivarium-b', 0],
  ['through this Vivarium and others', '1.1 squid, 1.1 vivarium-a, 1.1 nginx,1.1 vivarium-a (comment)', 2],
  ['in several fields', ['1.1 vivarium-a', '1.1 squid, 2 vivarium-a'], 2],
  ['through a name that begins the same way', '1.1 vivarium-ab, 1.1 vivarium', 0],
])('the number of times that a request has passed through: %s', (_name, via, hops) => {
  expect(countHops(via, 'vivarium-a')).toBe(hops);
});

describe('the header section for the upstream', () => {
  test('names the origin of a request, after the entries of earlier proxies', () => {
    expect(passedOn({ 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1', via: '1.0 fred' })).toEqual({
      host: '127.0.0.1:3000',
      via: '1.0 fred, 1.1 vivarium-a',
      forwarded: 'for=192.0.2.1, for=127.0.0.1;host="app.acme.test:8080";proto=http',
      'x-forwarded-for': '192.0.2.1, 127.0.0.1',
      'x-forwarded-host': 'app.acme.test:8080',
      'x-forwarded-proto': 'http',
      'x-forwarded-port': '8080',
    });
  });

  test('keeps what a trusted proxy states about its client, and continues from there', () => {
    const client = { address: '192.0.2.1', scheme: 'https' as const, authority: 'shop.test', port: 443 };
    const headers = passedOn({ 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' }, { client });
    expect(headers).toMatchObject({
      forwarded: 'for=192.0.2.1;host="shop.test";proto=https, for=127.0.0.1;host="app.acme.test:8080";proto=http',
      'x-forwarded-for': '192.0.2.1, 127.0.0.1',
      'x-forwarded-host': 'shop.test',
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '443',
    });
  });

  test('contains an IPv6 address in brackets and quotes in Forwarded (RFC 7239 §6), and bare in X-Forwarded-For', () => {
    const headers = passedOn({}, { address: '::1' });
    expect(headers['forwarded']).toMatch(/^for="\[::1\]";/);
    expect(headers['x-forwarded-for']).toBe('::1');
  });

  test('omits hop-by-hop fields (RFC 9110 §7.6.1)', () => {
    const kept = { 'x-public': 'kept' };
    const dropped = { connection: 'close, X-Private', 'x-private': 'secret', 'proxy-authorization': 'Basic eDp5' };
    expect(Object.keys(passedOn({ ...dropped, ...kept }))).toEqual(Object.keys(passedOn(kept)));
    expect(passedOn({ ...dropped, ...kept })).toMatchObject(kept);
  });
});

test.each([
  ['https://app.acme.test:8443', 'app.acme.test:8443', 'http://localhost:5173'],
  ['https://app.acme.test', 'app.acme.test:443', 'http://localhost:5173'],
  ['https://other.acme.test:8443', 'app.acme.test:8443', 'https://other.acme.test:8443'],
  ['https://app.acme.test', 'app.acme.test:8443', 'https://app.acme.test'],
  ['null', 'app.acme.test', 'null'],
  [undefined, 'app.acme.test', undefined],
])('a handshake of a page of %s with %s comes from %s', (origin, authority, expected) => {
  expect(handshakeOrigin(origin, { scheme: 'https', authority }, 'http://localhost:5173/base')).toBe(expected);
});
