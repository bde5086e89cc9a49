import { describe, expect, test } from 'vitest';
import { type Client, createTrust, forwardedClient } from '../../../main/proxy/forwarded.ts';

const DIRECT: Client = { address: '127.0.0.1', scheme: 'http', authority: 'app.test:8080', port: 8080 };
const TRUSTED = ['127.0.0.1', '10.0.0.0/8', '::1', '2001:db8:1::/48'];

const read = (headers: Parameters<typeof forwardedClient>[0]) =>
  forwardedClient(
    headers,
    DIRECT,
    createTrust(() => TRUSTED),
  );

describe('a trusted proxy', () => {
  test.each([
    ['127.0.0.1', true],
    ['127.0.0.2', false],
    ['10.255.0.1', true],
    ['11.0.0.1', false],
    ['::1', true],
    ['2001:db8:1:ffff::1', true],
    ['2001:db8:2::1', false],
    ['unknown', false],
  ])('%s: %s', (address, trusted) => {
    expect(createTrust(() => TRUSTED)(address)).toBe(trusted);
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
  test.each<[string, Parameters<typeof forwardedClient>[0], Partial<Client> | null]>([
    ['without a field', {}, null],
    ['of one proxy', { 'x-forwarded-for': '192.0.2.1' }, { ...DIRECT, address: '192.0.2.1' }],
    [
      'over TLS',
      { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' },
      { ...DIRECT, address: '192.0.2.1', scheme: 'https', port: 443 },
    ],
    [
      'with host and port',
      { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-host': 'shop.test', 'x-forwarded-port': '8443' },
      { ...DIRECT, address: '192.0.2.1', authority: 'shop.test', port: 8443 },
    ],
    [
      'with a port in the host',
      { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'HTTPS', 'x-forwarded-host': 'shop.test:9000' },
      { address: '192.0.2.1', scheme: 'https', authority: 'shop.test:9000', port: 9000 },
    ],
    // What a client invents comes before the address that the first trusted proxy saw.
    ['behind an invented address', { 'x-forwarded-for': '203.0.113.9, 192.0.2.1, 10.1.2.3' }, { address: '192.0.2.1' }],
    ['if all are trusted', { 'x-forwarded-for': '10.0.0.1, 10.0.0.2' }, { address: '10.0.0.1' }],
    [
      'with the scheme that belongs to it',
      { 'x-forwarded-for': '192.0.2.1, 10.1.2.3', 'x-forwarded-proto': 'https, http' },
      { address: '192.0.2.1', scheme: 'https' },
    ],
    [
      'with the one scheme and host of a chain whose first proxy alone reports them',
      { 'x-forwarded-for': '192.0.2.1, 10.1.2.3', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.test' },
      { address: '192.0.2.1', scheme: 'https', authority: 'shop.test', port: 443 },
    ],
    ['behind an unknown node', { 'x-forwarded-for': '192.0.2.1, unknown, 10.1.2.3' }, { address: '10.1.2.3' }],
    ['that is hidden', { 'x-forwarded-for': '_hidden' }, null],
    ['with its own port', { 'x-forwarded-for': '192.0.2.1:4711' }, { address: '192.0.2.1' }],
    ['over IPv6', { 'x-forwarded-for': '[2001:DB8:2:0::1]:4711' }, { address: '2001:db8:2::1' }],
    ['with other schemes', { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'gopher' }, { scheme: 'http' }],
    [
      'with nonsense',
      { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-host': 'a b', 'x-forwarded-port': '0' },
      { ...DIRECT, address: '192.0.2.1' },
    ],
    [
      'in Forwarded',
      { forwarded: 'for=203.0.113.9, For="[2001:db8:2::1]:80";proto=https;host="shop.test:444";by=_x, for=10.0.0.1' },
      { address: '2001:db8:2::1', scheme: 'https', authority: 'shop.test:444', port: 444 },
    ],
    ['in Forwarded with escapes', { forwarded: 'for="192.0.2.\\1"' }, { address: '192.0.2.1' }],
    [
      'in X-Forwarded-For beside Forwarded, which a client may have sent',
      { forwarded: 'for=203.0.113.9', 'x-forwarded-for': '192.0.2.1' },
      { address: '192.0.2.1' },
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
