import { describe, expect, it } from 'vitest';
import { admissionOfFragment, readSignInLink } from '../../../../renderer/connection/sign-in-link.ts';

const ORIGIN = 'http://127.0.0.1:4780';

describe('the URL fragment', () => {
  it.each([
    ['#token=abc-DEF_1.2~', 'abc-DEF_1.2~'],
    ['token=abc', 'abc'],
    ['#token=abc&more=1', 'abc'],
    ['', null],
    ['#', null],
    ['#/pets', null],
    ['#token=', null],
    ['#token=two words', null],
    ['#token=a,b', null],
    [`#token=${'x'.repeat(201)}`, null],
  ])('"%s" contains the token %j', (fragment, token) => {
    expect(admissionOfFragment(fragment)).toEqual(token === null ? null : { kind: 'token', token });
  });

  it('contains a ticket', () => {
    expect(admissionOfFragment('#ticket=abc')).toEqual({ kind: 'ticket', ticket: 'abc' });
  });
});

describe('the pasted text', () => {
  it.each([
    `${ORIGIN}/#token=abc`,
    `  ${ORIGIN}/#token=abc\n`,
    'http://localhost:4780/#token=abc',
    'http://[::1]:4780/#token=abc',
    '#token=abc',
    'token=abc',
    'abc',
  ])('"%s" is a token of this Vivarium', (text) => {
    expect(readSignInLink(text, ORIGIN)).toEqual({ kind: 'token', token: 'abc' });
  });

  it.each([`${ORIGIN}/#ticket=abc`, '#ticket=abc'])('"%s" is a ticket of this Vivarium', (text) => {
    expect(readSignInLink(text, ORIGIN)).toEqual({ kind: 'ticket', ticket: 'abc' });
  });

  it('leads to the Vivarium on another port', () => {
    const href = 'http://127.0.0.1:4790/#token=abc';
    expect(readSignInLink(href, ORIGIN)).toEqual({ kind: 'elsewhere', href });
  });

  it.each([
    ['', 'Paste the link'],
    ['two words', 'neither a link nor a token'],
    [`${ORIGIN}/`, 'after #ticket= is missing'],
    [`${ORIGIN}/#token=`, 'after #ticket= is missing'],
    ['javascript://127.0.0.1/%0aalert(1)#token=abc', 'not a sign-in link'],
    ['http://example.org/#token=abc', 'points to example.org'],
    ['http://localhost.example.org:4780/#token=abc', 'points to localhost.example.org'],
    ['http://', 'not a sign-in link'],
  ])('"%s" is refused with the reason', (text, message) => {
    const result = readSignInLink(text, ORIGIN);
    expect(result).toMatchObject({ kind: 'fault', message: expect.stringContaining(message) as string });
  });
});
