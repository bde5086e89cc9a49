import { describe, expect, test } from 'vitest';
import { readAuthority, surveyHeaders, readRequestTarget } from '../../../../main/proxy/front/authority.ts';
import type { AuthorityFacts } from '../../../../main/proxy/front/authority.ts';

const LIMITS = { headerFieldsMax: 10, targetLengthMax: 100 };

const http1 = (rawHeaders: string[], more: Partial<AuthorityFacts> = {}): AuthorityFacts => ({
  ...{ method: 'GET', target: '/', httpVersion: '1.1', http2: false, scheme: 'http' },
  ...{ pseudoAuthority: null, pseudoScheme: null, limits: LIMITS, known: null },
  headers: surveyHeaders(rawHeaders),
  ...more,
});
const http2 = (pseudoAuthority: string | null, rawHeaders: string[] = [], more: Partial<AuthorityFacts> = {}) =>
  http1(rawHeaders, {
    ...{ httpVersion: '2.0', http2: true, pseudoAuthority, pseudoScheme: 'https', scheme: 'https' },
    ...more,
  });
/** A request over HTTP/1.1 to `a.test`. */
const toA = (more: Partial<AuthorityFacts>) => http1(['Host', 'a.test'], more);

/** `host port path` of an accepted target, `status heading` of a refused one. */
function outcome(facts: AuthorityFacts): string {
  const verdict = readAuthority(facts);
  if (!verdict.ok) return `${verdict.problem.status} ${verdict.problem.heading}`;
  const { host, port } = verdict.authority.authority;
  return `${host} ${port ?? '-'} ${verdict.path}`;
}

const CHUNKED = ['Transfer-Encoding', 'chunked'];
const UNCLEAR = '400 Unclear where the request ends';
const MANY = Array.from({ length: 10 }, () => ['X', 'y']).flat();

describe('the authority of a request', () => {
  test.each<[string, AuthorityFacts, string]>([
    ['a Host', http1(['Host', 'a.test']), 'a.test - /'],
    ['a Host with a port that is not the listener’s', http1(['Host', 'a.test:1']), 'a.test 1 /'],
    ['upper case and a trailing dot', http1(['hOST', 'A.Test.']), 'a.test - /'],
    ['an IPv6 literal', http1(['Host', '[::1]:8080']), '[::1] 8080 /'],
    ['HTTP/1.0 with a Host', toA({ httpVersion: '1.0' }), 'a.test - /'],
    ['chunked', http1(['Host', 'a.test', ...CHUNKED]), 'a.test - /'],
    ['Chunked in capitals', http1(['Host', 'a.test', 'transfer-encoding', 'CHUNKED']), 'a.test - /'],
    ['an absolute target beside another Host', toA({ target: 'http://b.test:9/x' }), 'b.test 9 /x'],
    ['OPTIONS *', toA({ method: 'OPTIONS', target: '*' }), 'a.test - *'],
    [':authority', http2('a.test:8443'), 'a.test 8443 /'],
    [':authority and the same Host', http2('a.test', ['host', 'A.test']), 'a.test - /'],
    ['Host in place of :authority', http2(null, ['host', 'a.test']), 'a.test - /'],

    ['no Host', http1([]), '400 No Host'],
    ['no Host in HTTP/1.0', http1([], { httpVersion: '1.0' }), '400 No Host'],
    ['no Host beside an absolute target', http1([], { target: 'http://a.test/' }), '400 No Host'],
    ['an empty Host', http1(['Host', '']), '400 Unreadable Host'],
    ['two Hosts', http1(['Host', 'a.test', 'Host', 'b.test']), '400 More than one Host'],
    ['the same Host twice', http1(['Host', 'a.test', 'host', 'a.test']), '400 More than one Host'],
    ['a list of hosts', http1(['Host', 'a.test, b.test']), '400 Unreadable Host'],
    ['user information', http1(['Host', 'user@a.test']), '400 Unreadable Host'],
    ['a path in Host', http1(['Host', 'a.test/x']), '400 Unreadable Host'],
    ['a port above 65535', http1(['Host', 'a.test:65536']), '400 Unreadable Host'],
    ['user information in an absolute target', toA({ target: 'http://a@b.test/' }), '400 Unreadable Host'],
    ['an absolute target without a host', toA({ target: 'http:///x' }), '400 Unreadable Host'],
    ['another scheme in an absolute target', toA({ target: 'https://a.test/' }), '421 Wrong scheme'],
    ['an invalid target', toA({ target: 'x' }), '400 Unreadable request target'],
    ['a target of 101 characters', toA({ target: '/'.repeat(101) }), '414 The URL is too long'],
    ['11 fields', http1(['Host', 'a.test', ...MANY]), '431 Too many header fields'],
    ['HTTP/0.9', http1([], { httpVersion: '0.9' }), '400 Unsupported HTTP version'],
    ['HTTP/2.0 written in a request line', toA({ httpVersion: '2.0' }), '400 Unsupported HTTP version'],
    ['Transfer-Encoding in HTTP/1.0', http1(['Host', 'a.test', ...CHUNKED], { httpVersion: '1.0' }), UNCLEAR],
    ['gzip, chunked', http1(['Host', 'a.test', 'Transfer-Encoding', 'gzip, chunked']), UNCLEAR],
    [':authority and another Host', http2('a.test', ['host', 'b.test']), '400 Conflicting hosts'],
    [':authority and another port in Host', http2('a.test:1', ['host', 'a.test:2']), '400 Conflicting hosts'],
    ['neither :authority nor Host', http2(null), '400 No Host'],
    [':scheme http inside TLS', http2('a.test', [], { pseudoScheme: 'http' }), '421 Wrong scheme'],
  ])('%s', (_, facts, expected) => {
    expect(outcome(facts)).toBe(expected);
  });

  test('the authority of the previous request is reused if it is the same text', () => {
    const known = { text: 'a.test', authority: { host: 'a.test', port: null } };
    const again = readAuthority(http1(['Host', 'a.test'], { known }));
    const other = readAuthority(http1(['Host', 'b.test'], { known }));
    expect(again.ok && again.authority).toBe(known);
    expect(other.ok && other.authority.authority.host).toBe('b.test');
  });
});

const origin = (path: string) => ({ ok: true, target: { form: 'origin', path } });
const absolute = (scheme: string, authority: string, path: string) => ({
  ok: true,
  target: { form: 'absolute', scheme, authority, path },
});
const fault = (name: string) => ({ ok: false, fault: name });

test.each([
  ['GET', '/', origin('/')],
  ['GET', '/v1/pets?limit=20&x=%20', origin('/v1/pets?limit=20&x=%20')],
  ['GET', '//evil.test/', origin('//evil.test/')],
  ['GET', '/http://a/', origin('/http://a/')],
  ['GET', 'http://a.test:8080/x?y', absolute('http', 'a.test:8080', '/x?y')],
  ['GET', 'HTTPS://A.test/x', absolute('https', 'A.test', '/x')],
  ['GET', 'http://a.test', absolute('http', 'a.test', '/')],
  ['GET', 'http://a.test?y', absolute('http', 'a.test', '/?y')],
  ['OPTIONS', 'http://a.test', absolute('http', 'a.test', '*')],
  ['OPTIONS', 'http://a.test/v1/pets', absolute('http', 'a.test', '/v1/pets')],
  ['GET', 'http://user@a.test/', absolute('http', 'user@a.test', '/')],
  ['GET', 'http:///x', absolute('http', '', '/x')],
  ['OPTIONS', '*', { ok: true, target: { form: 'asterisk' } }],
  ['GET', '*', fault('not_a_target')],
  ['GET', '', fault('bad_character')],
  ['GET', 'a.test:80', fault('not_a_target')],
  ['GET', 'v1/pets', fault('not_a_target')],
  ['GET', 'http:/a.test/', fault('not_a_target')],
  ['GET', 'ftp://a.test/', fault('bad_scheme')],
  ['GET', 'javascript://a.test/', fault('bad_scheme')],
  ['GET', '/a b', fault('bad_character')],
  ['GET', '/a\tb', fault('bad_character')],
  ['GET', '/a\0b', fault('bad_character')],
  ['GET', '/a\r\nb', fault('bad_character')],
  ['GET', '/a\n', fault('bad_character')],
  ['GET', '/a\x7fb', fault('bad_character')],
  ['GET', '/é', fault('bad_character')],
  ['GET', '/a#b', fault('fragment')],
  ['GET', '/a\\b', fault('backslash')],
  ['GET', 'http:\\\\a.test\\', fault('backslash')],
])('the request target of %s %j', (method, text, expected) => {
  expect(readRequestTarget(method, text)).toEqual(expected);
});
