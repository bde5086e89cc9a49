import { describe, expect, test } from 'vitest';
import { type Client, createTrust, forwardedClient } from '../../../main/proxy/forwarded.ts';

const DIRECT: Client = { address: '127.0.0.1', scheme: 'http', authority: 'app.test:8080', port: 8080 };
const TRUSTED = ['127.0.0.1', '10.0.0.0/8', '::1', '2001:db8:1::/48'];

const read = (fields: Record<string, string>) =>
  forwardedClient(
    fields,
    DIRECT,
    createTrust(() => TRUSTED),
  );

describe('a trusted proxy', () => {
  test.each([
    [true, ['127.0.0.1', '10.255.0.1', '::1', '2001:db8:1:ffff::1']],
    [false, ['127.0.0.2', '11.0.0.1', '2001:db8:2::1', 'unknown']],
  ])('%s: %s', (trusted, addresses) => {
    for (const address of addresses) expect(createTrust(() => TRUSTED)(address), address).toBe(trusted);
  });

  test('is read from the current list', () => {
    let list: string[] = [];
    const trusts = createTrust(() => list);
    expect(trusts('127.0.0.1')).toBe(false);
    list = ['127.0.0.1'];
    expect(trusts('127.0.0.1')).toBe(true);
  });
});

describe('the client', () => {
  /** Its address, and the fields X-Forwarded-For, -Proto, -Host and -Port that name it. */
  const ONE = { address: '192.0.2.1' };
  const via = (chain: string, proto?: string, host?: string, port?: string) => ({
    'x-forwarded-for': chain,
    ...(proto !== undefined && { 'x-forwarded-proto': proto }),
    ...(host !== undefined && { 'x-forwarded-host': host }),
    ...(port !== undefined && { 'x-forwarded-port': port }),
  });
  const SHOP = { ...ONE, authority: 'shop.test' };
  const TLS = { ...ONE, scheme: 'https' } as const;

  test.each<[string, Record<string, string>, Partial<Client> | null]>([
    ['without a field', {}, null],
    ['of one proxy', via('192.0.2.1'), { ...DIRECT, ...ONE }],
    ['over TLS', via('192.0.2.1', 'https'), { ...DIRECT, ...TLS, port: 443 }],
    ['with host and port', via('192.0.2.1', undefined, 'shop.test', '8443'), { ...DIRECT, ...SHOP, port: 8443 }],
    [
      'with a port in the host',
      via('192.0.2.1', 'HTTPS', 'shop.test:9000'),
      { ...TLS, authority: 'shop.test:9000', port: 9000 },
    ],
    // What a client invents comes before the address that the first trusted proxy saw.
    ['behind an invented address', via('203.0.113.9, 192.0.2.1, 10.1.2.3'), ONE],
    ['if all are trusted', via('10.0.0.1, 10.0.0.2'), { address: '10.0.0.1' }],
    ['with the scheme that belongs to it', via('192.0.2.1, 10.1.2.3', 'https, http'), TLS],
    [
      'with the one scheme and host of a chain whose first proxy alone reports them',
      via('192.0.2.1, 10.1.2.3', 'https', 'shop.test'),
      { ...SHOP, ...TLS, port: 443 },
    ],
    ['behind an unknown node', via('192.0.2.1, unknown, 10.1.2.3'), { address: '10.1.2.3' }],
    ['that is hidden', via('_hidden'), null],
    ['with its own port', via('192.0.2.1:4711'), ONE],
    ['over IPv6', via('[2001:DB8:2:0::1]:4711'), { address: '2001:db8:2::1' }],
    ['with other schemes', via('192.0.2.1', 'gopher'), { scheme: 'http' }],
    ['with nonsense', via('192.0.2.1', undefined, 'a b', '0'), { ...DIRECT, ...ONE }],
    [
      'in Forwarded',
      { forwarded: 'for=203.0.113.9, For="[2001:db8:2::1]:80";proto=https;host="shop.test:444";by=_x, for=10.0.0.1' },
      { address: '2001:db8:2::1', scheme: 'https', authority: 'shop.test:444', port: 444 },
    ],
    ['in Forwarded with escapes', { forwarded: 'for="192.0.2.\\1"' }, ONE],
    [
      'in X-Forwarded-For beside Forwarded, which a client may have sent',
      { forwarded: 'for=203.0.113.9', ...via('192.0.2.1') },
      ONE,
    ],
  ])('%s', (_name, headers, client) => {
    if (client === null) expect(read(headers)).toBeNull();
    else expect(read(headers)).toMatchObject(client);
  });

  test('is found in a long malformed field in linear time', () => {
    expect(read({ forwarded: `${'for="'.repeat(3_000)}` })).toBeNull();
    expect(read({ forwarded: 'a="\\'.repeat(4_000) })).toBeNull();
  });
});
