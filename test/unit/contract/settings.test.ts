import { expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../main/contract/default-settings.ts';
import { settingsInForce, settingsValues } from '../../../main/contract/settings.ts';

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
