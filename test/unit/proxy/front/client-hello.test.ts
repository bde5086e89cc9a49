import { describe, expect, test } from 'vitest';
import { CLIENT_HELLO_BYTES_MAX, readClientHello } from '../../../../main/proxy/front/client-hello.ts';
import {
  buildClientHello,
  extension,
  GREASE_EXTENSION,
  record,
  records,
  serverNameExtension,
  vector,
} from '../../../support/proxy/proxy-client-hello.ts';

const SUPPORTED_GROUPS = extension(10, Buffer.from('0002001d', 'hex'));
const greet = (...extensions: Buffer[]): Buffer => record(buildClientHello({ extensions }));
/** The hello of a hostname, and one without. */
const hello = (serverName: string) => ({ kind: 'hello', serverName });
const NAMELESS = { kind: 'hello', serverName: null };
const named = (name: string | Buffer): Buffer => greet(serverNameExtension(name));

describe('the first bytes of a connection', () => {
  test.each([
    ['a name', named('demo.vivarium.localhost'), hello('demo.vivarium.localhost')],
    ['upper case', named('Demo.Vivarium.LOCALHOST'), hello('demo.vivarium.localhost')],
    ['a trailing dot', named('a.test.'), hello('a.test')],
    ['an A-label', named('xn--bcher-kva.test'), hello('xn--bcher-kva.test')],
    [
      'GREASE and others before the name',
      greet(GREASE_EXTENSION, SUPPORTED_GROUPS, serverNameExtension('a.test'), GREASE_EXTENSION),
      hello('a.test'),
    ],
    ['no server_name', greet(SUPPORTED_GROUPS), NAMELESS],
    ['an empty list of extensions', greet(), NAMELESS],
    ['no extensions at all (TLS 1.2)', record(buildClientHello({ extensions: null })), NAMELESS],
    ['an IPv4 literal as name', named('127.0.0.1'), NAMELESS],
    ['an IPv6 literal as name', named('::1'), NAMELESS],
    [
      'a session id',
      record(buildClientHello({ sessionId: Buffer.alloc(32, 7), extensions: [serverNameExtension('a.test')] })),
      hello('a.test'),
    ],
    ['bytes after the hello', Buffer.concat([named('a.test'), Buffer.from('more')]), hello('a.test')],
    ['a name with a space', named('a b.test'), 'unusable_name'],
    ['a name with a NUL', named('a\0.test'), 'unusable_name'],
    ['a name in Latin-1', named(Buffer.from('b\xfccher.test', 'latin1')), 'unusable_name'],
    ['a name of 300 characters', named(`${'a'.repeat(60)}.`.repeat(5)), 'unusable_name'],
    ['an empty name', named(''), 'malformed'],
    [
      'two names in the list',
      greet(extension(0, vector(2, Buffer.concat([nameEntry('a.test'), nameEntry('b.test')])))),
      'malformed',
    ],
    [
      'a name of another type',
      greet(extension(0, vector(2, Buffer.concat([Buffer.from([9]), vector(2, Buffer.from('a.test'))])))),
      'malformed',
    ],
    ['server_name twice', greet(serverNameExtension('a.test'), serverNameExtension('b.test')), 'malformed'],
    ['server_name whose list is longer than it', greet(extension(0, Buffer.from('ffff00', 'hex'))), 'malformed'],
    [
      'bytes after the extensions',
      record(buildClientHello({ extensions: [], trailing: Buffer.from([1]) })),
      'malformed',
    ],
    ['a ServerHello', record(Buffer.concat([Buffer.from([2, 0, 0, 4]), Buffer.alloc(4)])), 'unexpected'],
    ['an empty handshake record', Buffer.from('1603010000', 'hex'), 'unexpected'],
    ['a record of 20,000 bytes', Buffer.from('1603014e20', 'hex'), 'overflow'],
    ['a change_cipher_spec', Buffer.from('140303000101', 'hex'), 'unexpected'],
    ['an alert', Buffer.from('15030100020100', 'hex'), 'unexpected'],
    ['application data', Buffer.from('170303000100', 'hex'), 'unexpected'],
    ['another protocol version', Buffer.from('16040100050100000100', 'hex'), 'malformed'],
    ['a hello that announces 16 MiB', record(Buffer.from('01ffffff0303', 'hex')), 'malformed'],
    [
      'an alert in the middle',
      Buffer.concat([record(Buffer.from([1])), Buffer.from('15030100020228', 'hex')]),
      'unexpected',
    ],
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'not_tls'],
    ['an SSLv2 hello', Buffer.from('802e0100020015', 'hex'), 'not_tls'],
    ['zeros', Buffer.alloc(20), 'not_tls'],
    ['nothing yet', Buffer.alloc(0), { kind: 'incomplete' }],
  ])('%s', (_, bytes, expected) => {
    expect(readClientHello(bytes)).toEqual(typeof expected === 'string' ? { kind: expected } : expected);
  });

  test('every prefix of a ClientHello is incomplete, and the whole is read', () => {
    const whole = named('a.test');
    for (let length = 1; length < whole.length; length++) {
      expect(readClientHello(whole.subarray(0, length)), `${length} bytes`).toEqual({ kind: 'incomplete' });
    }
    expect(readClientHello(whole)).toEqual(hello('a.test'));
  });

  test.each([1, 2, 3, 5, 17, 64])('a ClientHello in records of %i bytes is reassembled', (size) => {
    const bytes = records(buildClientHello({ extensions: [serverNameExtension('a.test')] }), size);
    expect(readClientHello(bytes)).toEqual(hello('a.test'));
    expect(readClientHello(bytes.subarray(0, -1))).toEqual({ kind: 'incomplete' });
  });

  test('an endless ClientHello is abandoned at the limit', () => {
    const endless = Buffer.concat([Buffer.from('16030140000100', 'hex'), Buffer.alloc(CLIENT_HELLO_BYTES_MAX)]);
    expect(readClientHello(endless).kind).toBe('malformed');
  });

  test('changing any single byte does not make the reader throw', () => {
    const whole = greet(GREASE_EXTENSION, serverNameExtension('demo.vivarium.localhost'), SUPPORTED_GROUPS);
    for (let index = 0; index < whole.length; index++) {
      for (const value of [0, 1, 0x7f, 0xff]) {
        const changed = Buffer.from(whole);
        changed[index] = value;
        expect(['hello', 'unusable_name', 'incomplete', 'malformed', 'unexpected', 'overflow', 'not_tls']).toContain(
          readClientHello(changed).kind,
        );
      }
    }
  });
});

function nameEntry(name: string): Buffer {
  return Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(name))]);
}
