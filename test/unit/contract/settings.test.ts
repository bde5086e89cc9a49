import { expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../main/contract/default-settings.ts';
import { settingsInForce, settingsUpdate, settingsValues } from '../../../main/contract/settings.ts';
import { describeAcmeRate, readAcmeRate } from '../../../main/contract/acme-rates.ts';
import { DAY_MS } from '../../../main/contract/duration.ts';

const messageFor = (patch: object): string | undefined =>
  settingsValues
    .partial()
    .safeParse(patch)
    .error?.issues.map(({ message }) => message)[0];

const BAN_BOUNDS = 'must be from one second ("PT1S") to 366 days ("P366D")';
const WAIT_BOUNDS = 'must be 48 hours ("PT48H") at most; "PT0S" is none';
const RESOLVER_FORM = 'must be "local", or an address and a port such as "192.0.2.53:53" or "[2001:db8::53]:53"';

test.each<[string, string, string | undefined]>([
  ['banDuration', 'PT1S', undefined],
  ['banDuration', 'P366D', undefined],
  ['banDuration', 'PT0.999S', BAN_BOUNDS],
  ['banDuration', 'P366DT0.001S', BAN_BOUNDS],
  ['propagation', 'PT48H', undefined],
  ['propagation', 'PT48H0.001S', WAIT_BOUNDS],
  ['issuanceDelay', 'P3D', WAIT_BOUNDS],
  // More milliseconds than a number can represent.
  ['issuanceDelay', `P${'9'.repeat(30)}D`, WAIT_BOUNDS],
  ['resolver', 'local', undefined],
  ['resolver', '192.0.2.53:53', undefined],
  ['resolver', '[2001:db8::53]:65535', undefined],
  ['resolver', '192.0.2.53', RESOLVER_FORM],
  ['resolver', '192.0.2.256:53', RESOLVER_FORM],
  ['resolver', '192.0.2.53:0', RESOLVER_FORM],
  ['resolver', '192.0.2.53:65536', RESOLVER_FORM],
  ['resolver', '[192.0.2.53]:53', RESOLVER_FORM],
  ['resolver', '2001:db8::53:53', RESOLVER_FORM],
])('%s %s: %s', (name, value, message) => {
  expect(messageFor({ [name]: value })).toBe(message);
});

test('effective settings are milliseconds and addresses', () => {
  expect(settingsInForce(DEFAULT_SETTINGS)).toEqual({
    ban: { afterRefusals: 20, durationMs: 600_000 },
    propagationMs: 0,
    issuanceDelayMs: 0,
    resolver: null,
    acmePerspectives: [],
    acmeRates: new Map(),
  });
  expect(settingsInForce({ ...DEFAULT_SETTINGS, resolver: '[2001:db8::53]:5353' }).resolver).toEqual({
    address: '2001:db8::53',
    port: 5353,
  });
});

test.each([
  ['failedValidations 2 PT1H', ['failedValidations', { count: 2, periodMs: 3_600_000 }]],
  ['newOrders 1 10m', ['newOrders', { count: 1, periodMs: 600_000 }]],
  ['consecutiveFailures 3 3 days', ['consecutiveFailures', { count: 3, periodMs: 259_200_000 }]],
  ['orders 1 PT1H', null],
  ['newOrders 0 PT1H', null],
  ['newOrders 1000000 PT1H', null],
  ['newOrders 1 PT0.5S', null],
  ['newOrders 1 P10001D', null],
  ['newOrders 1 soon', null],
  ['newOrders 1', null],
  ['', null],
])('the limit %j is %j', (text, expected) => {
  expect(readAcmeRate(text)).toEqual(expected);
});

test('a limit that is given twice is refused', () => {
  const parse = (...acmeRates: string[]) => settingsUpdate.safeParse({ acmeRates }).error?.issues[0]?.message;
  expect(parse('newOrders 1 PT1H', 'newOrders 2 PT1H')).toContain('each limit once');
  expect(parse('newOrders 1 PT1H', 'newAccounts 1 PT1H')).toBeUndefined();
});

test('a limit is described by its period, and one that is refilled by one a day by that', () => {
  expect(describeAcmeRate({ count: 50, periodMs: 7 * DAY_MS })).toBe('50 in 7 days');
  expect(describeAcmeRate({ count: 1_152, periodMs: 1_152 * DAY_MS })).toBe('1,152, and one more each day');
});

test('an error for an invalid limit of ACME clients names all of them', () => {
  const message = settingsUpdate.safeParse({ acmeRates: ['orders 1 PT1H'] }).error?.issues[0]?.message;
  expect(message).toContain('limits are newAccounts, newAccountsPerRange, newOrders');
});
