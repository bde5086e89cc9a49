import { expect, test } from 'vitest';
import { describeAcmeRate, readAcmeRate } from '../../../main/contract/acme-rates.ts';
import { DAY_MS } from '../../../main/contract/duration.ts';
import { settingsUpdate } from '../../../main/contract/settings.ts';

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
