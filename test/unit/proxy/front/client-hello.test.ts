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
const NAME = serverNameExtension('a.test');
const named = (name: string | Buffer): Buffer => greet(serverNameExtension(name));
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
/** A list of names of a type. */
const names = (type: number, ...entries: string[]) =>
  greet(
    extension(
      0,
      vector(2, Buffer.concat(entries.flatMap((name) => [Buffer.from([type]), vector(2, Buffer.from(name))]))),
    ),
  );

describe('the first bytes of a connection', () => {
  test.each([
    ['a name', named('demo.vivarium.localhost'), hello('demo.vivarium.localhost')],
    ['upper case', named('Demo.Vivarium.LOCALHOST'), hello('demo.vivarium.localhost')],
    ['a trailing dot', named('a.test.'), hello('a.test')],
    ['an A-label', named('xn--bcher-kva.test'), hello('xn--bcher-kva.test')],
    [
      'GREASE and others before the name',
      greet(GREASE_EXTENSION, SUPPORTED_GROUPS, NAME, GREASE_EXTENSION),
      hello('a.test'),
    ],
    ['no server_name', greet(SUPPORTED_GROUPS), NAMELESS],
    ['an empty list of extensions', greet(), NAMELESS],
    ['no extensions at all (TLS 1.2)', record(buildClientHello({ extensions: null })), NAMELESS],
    ['an IPv4 literal as name', named('127.0.0.1'), NAMELESS],
    ['an IPv6 literal as name', named('::1'), NAMELESS],
    ['a session id', record(buildClientHello({ sessionId: Buffer.alloc(32, 7), extensions: [NAME] })), hello('a.test')],
    ['bytes after the hello', Buffer.concat([named('a.test'), Buffer.from('more')]), hello('a.test')],
    ['a name with a space', named('a b.test'), 'unusable_name'],
    ['a name with a NUL', named('a\0.test'), 'unusable_name'],
    ['a name in Latin-1', named(Buffer.from('b\xfccher.test', 'latin1')), 'unusable_name'],
    ['a name of 300 characters', named(`${'a'.repeat(60)}.`.repeat(5)), 'unusable_name'],
    ['an empty name', named(''), 'malformed'],
    ['two names in the list', names(0, 'a.test', 'b.test'), 'malformed'],
    ['a name of another type', names(9, 'a.test'), 'malformed'],
    ['server_name twice', greet(NAME, serverNameExtension('b.test')), 'malformed'],
    ['server_name whose list is longer than it', greet(extension(0, hex('ffff00'))), 'malformed'],
    ['bytes after the extensions', record(buildClientHello({ extensions: [], trailing: hex('01') })), 'malformed'],
    ['a ServerHello', record(Buffer.concat([Buffer.from([2, 0, 0, 4]), Buffer.alloc(4)])), 'unexpected'],
    ['an empty handshake record', hex('1603010000'), 'unexpected'],
    ['a record of 20,000 bytes', hex('1603014e20'), 'overflow'],
    ['a change_cipher_spec', hex('140303000101'), 'unexpected'],
    ['an alert', hex('15030100020100'), 'unexpected'],
    ['application data', hex('170303000100'), 'unexpected'],
    ['another protocol version', hex('16040100050100000100'), 'malformed'],
    ['a hello that announces 16 MiB', record(hex('01ffffff0303')), 'malformed'],
    ['an alert in the middle', Buffer.concat([record(hex('01')), hex('15030100020228')]), 'unexpected'],
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'not_tls'],
    ['an SSLv2 hello', hex('802e0100020015'), 'not_tls'],
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
    const bytes = records(buildClientHello({ extensions: [NAME] }), size);
    expect(readClientHello(bytes)).toEqual(hello('a.test'));
    expect(readClientHello(bytes.subarray(0, -1))).toEqual({ kind: 'incomplete' });
  });

  test('an endless ClientHello is abandoned at the limit', () => {
    const endless = Buffer.concat([hex('16030140000100'), Buffer.alloc(CLIENT_HELLO_BYTES_MAX)]);
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
