import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { accountLabel, createValidation, persistenceFault } from '../../../main/acme/validation.ts';

const CLAIM = {
  issuer: 'vivarium.localhost',
  accountUri: 'https://localhost:8443/acme/account/anna',
  wildcard: false,
  nowMs: Date.parse('2027-03-15T00:00:00Z'),
};
const GOOD = `vivarium.localhost; accounturi=${CLAIM.accountUri}`;
const seconds = (moment: string): number => Date.parse(moment) / 1_000;

test.each<[string, readonly string[], 'valid' | 'malformed' | 'unauthorized', Partial<typeof CLAIM>?]>([
  ['names the CA and the account', [GOOD], 'valid'],
  ['in another case and without blanks', [`VIVARIUM.localhost;ACCOUNTURI=${CLAIM.accountUri}`], 'valid'],
  ['with unknown parameters', [`${GOOD}; later=x`], 'valid'],
  ['among those of other CAs', ['ca.example; accounturi=x', 'v=spf1 -all', GOOD], 'valid'],
  ['beside a wrong one', [`${GOOD}; accounturi=x`, GOOD], 'valid'],
  ['behind many wrong ones', [...Array.from({ length: 20 }, () => `${GOOD}x`), GOOD], 'valid'],
  ['is missing', [], 'unauthorized'],
  ['is for another CA', [`ca.example; accounturi=${CLAIM.accountUri}`], 'unauthorized'],
  ['is for another account', ['vivarium.localhost; accounturi=https://localhost:8443/acme/account/b'], 'unauthorized'],
  ['is for the account in another case', [GOOD.replace('anna', 'Anna')], 'unauthorized'],
  ['lacks the account', ['vivarium.localhost'], 'malformed'],
  ['has the account twice', [`${GOOD}; AccountURI=${CLAIM.accountUri}`], 'malformed'],
  ['is not an issue value', [`${GOOD}; x`], 'malformed'],
  ['ends with a semicolon', [`${GOOD};`], 'malformed'],
  ['is for the name alone', [GOOD], 'unauthorized', { wildcard: true }],
  ['has another policy', [`${GOOD}; policy=all`], 'unauthorized', { wildcard: true }],
  ['is for the names below too', [`${GOOD}; policy=WildCard`], 'valid', { wildcard: true }],
  ['is for the names below, and so for the name', [`${GOOD}; policy=wildcard`], 'valid'],
  ['is valid until now', [`${GOOD}; persistUntil=${seconds('2027-03-15T00:00:00Z')}`], 'valid'],
  ['has ended', [`${GOOD}; persistUntil=${seconds('2027-03-14T23:59:59Z')}`], 'unauthorized'],
  ['has an end that is not a number', [`${GOOD}; persistUntil=2027-03-15`], 'malformed'],
  ['has a negative end', [`${GOOD}; persistUntil=-1`], 'malformed'],
])('a persistent record %s', (_what, values, expected, more = {}) => {
  expect(persistenceFault(values, { ...CLAIM, ...more })?.type ?? 'valid').toBe(expected);
});

// The example of draft-ietf-acme-dns-account-label-02 §3.2.
test('has a separate label for each account', () => {
  expect(accountLabel('https://example.com/acme/acct/ExampleAccount')).toBe('_ujmmovf2vn55tgye.');
});

describe('the methods of DNS', () => {
  const task = {
    identifier: { type: 'dns', value: 'app.acme.test' },
    ...{ wildcard: true, accountUri: CLAIM.accountUri, token: 'tok', keyAuthorization: 'tok.thumb' },
  } as const;
  const digest = hash('sha256', task.keyAuthorization, 'base64url');

  test.each([
    ['dns-01', '_acme-challenge.app.acme.test', digest],
    ['dns-account-01', `${accountLabel(CLAIM.accountUri)}_acme-challenge.app.acme.test`, digest],
    ['dns-persist-01', '_validation-persist.app.acme.test', `${GOOD}; policy=wildcard`],
  ] as const)('%s queries %s', async (method, name, right) => {
    const records = new Map<string, string[]>([[name, [right, ...Array<string>(10).fill('x')]]]);
    const validate = createValidation({
      resolve: () => Promise.reject(new Error('It asks for no address.')),
      async texts(asked) {
        return { ok: true, values: records.get(asked) ?? [], ttlSeconds: 60 };
      },
      localPort: () => 0,
      arriving: (_url, got) => got,
      tlsPort: () => 0,
      readCertificate: () => ({ names: '', digest: null }),
      userAgent: '',
      issuer: () => CLAIM.issuer,
      now: () => CLAIM.nowMs,
    });
    const good = await validate(method, task);
    expect([good.error, good.attempts[0]?.what]).toEqual([null, `${name} TXT`]);
    expect(good.attempts[0]?.found.split(', ')).toHaveLength(10);
    expect(good.reuseMs).toBe(method === 'dns-persist-01' ? 60_000 : undefined);
    records.set(name, ['x']);
    expect((await validate(method, task)).error?.detail).toContain(name);
  });
});
