import { describe, expect, test } from 'vitest';
import { namesFault, readIdentifiers, type RequestedNames } from '../../../main/acme/identifiers.ts';
import type { AcmeError } from '../../../main/acme/problem.ts';

const dns = (value: string) => ({ type: 'dns', value }) as const;
const many = (count: number) => Array.from({ length: count }, (_, index) => dns(`n${index}.test`));
const ip = (value: string) => ({ type: 'ip', value }) as const;

describe('identifiers', () => {
  test('are normalised, each once', () => {
    const given = [dns('A.acme.test'), dns('a.acme.test'), dns('*.acme.test'), ip('127.0.0.1'), ip('::1')];
    expect(readIdentifiers(given).map(({ value }) => value)).toEqual([
      ...['a.acme.test', '*.acme.test', '127.0.0.1', '::1'],
    ]);
    expect(readIdentifiers(many(100))).toHaveLength(100);
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'malformed'],
    ['none', [], 'malformed'],
    ['too many', many(101), 'malformed'],
    ['a text', ['a.test'], 'malformed'],
    ['no value', [{ type: 'dns' }], 'malformed'],
    ['mail', [{ type: 'email', value: 'a@a.test' }], 'unsupportedIdentifier'],
    ['two wildcards', [dns('*.*.test')], 'rejectedIdentifier'],
    ['a wildcard inside a name', [dns('a.*.test')], 'rejectedIdentifier'],
    ['an address as a hostname', [dns('127.0.0.1')], 'rejectedIdentifier'],
    ['a hostname as an address', [ip('a.test')], 'rejectedIdentifier'],
    ['an address in another form', [ip('0:0:0:0:0:0:0:1')], 'rejectedIdentifier'],
    ['a port', [dns('a.test:443')], 'rejectedIdentifier'],
  ])('are refused: %s', (_what, given, type) => {
    expect(() => readIdentifiers(given)).toThrow(expect.objectContaining({ type }) as AcmeError);
  });
});

describe('the names of a CSR', () => {
  const order = [dns('a.test'), dns('*.b.test'), ip('::1')];
  const right = { dns: ['A.test', '*.b.test'], ip: ['::1'], others: 0, commonName: null };

  test.each<[string, Partial<RequestedNames>, RegExp | null]>([
    ['the same', {}, null],
    ['the same, one as the common name too', { commonName: 'a.TEST' }, null],
    ['one more', { dns: [...right.dns, 'c.test'] }, /contains "c.test"/],
    ['one fewer', { dns: ['a.test'] }, /lacks \*\.b\.test/],
    ['without the address', { ip: [] }, /lacks ::1/],
    ['another common name', { commonName: 'c.test' }, /common name "c.test"/],
    ['only a common name', { dns: [], ip: [], commonName: 'a.test' }, /no subject alternative name/],
    ['a mail address', { others: 1 }, /neither a hostname nor/],
  ])('%s', (_what, changed, fault) => {
    const found = namesFault(order, { ...right, ...changed });
    if (fault === null) expect(found).toBeNull();
    else expect(found).toMatch(fault);
  });
});
