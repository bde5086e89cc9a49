import { describe, expect, test } from 'vitest';
import { readRequestTarget } from '../../../../main/proxy/front/authority.ts';

const origin = (path: string) => ({ ok: true, target: { form: 'origin', path } });
const absolute = (scheme: string, authority: string, path: string) => ({
  ok: true,
  target: { form: 'absolute', scheme, authority, path },
});
const fault = (name: string) => ({ ok: false, fault: name });

describe('forms of a request target', () => {
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
  ])('%s %j', (method, text, expected) => {
    expect(readRequestTarget(method, text)).toEqual(expected);
  });
});
