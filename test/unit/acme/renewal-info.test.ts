import { describe, expect, test } from 'vitest';
import { askAgainSeconds, readCertificateId, renewalWindow } from '../../../main/acme/profiles.ts';
import { DAY_MS, HOUR_MS } from '../../../main/contract/duration.ts';

describe('renewal information', () => {
  test.each([
    ['90 days: 2 % around two thirds', 90, 59.1, 60.9],
    ['6 days: 2 % around the half', 6, 2.94, 3.06],
  ])('%s', (_what, days, startDays, endDays) => {
    const window = renewalWindow({ notBeforeMs: 0, notAfterMs: days * DAY_MS }, null);
    expect(window.startMs / DAY_MS).toBeCloseTo(startDays, 6);
    expect(window.endMs / DAY_MS).toBeCloseTo(endDays, 6);
  });

  test('asks for an immediate renewal of a revoked certificate', () => {
    const atMs = 50 * DAY_MS;
    expect(renewalWindow({ notBeforeMs: 0, notAfterMs: 90 * DAY_MS }, atMs)).toEqual({
      startMs: atMs - HOUR_MS,
      endMs: atMs - HOUR_MS / 2,
    });
  });

  test('finds a certificate by its identifier', () => {
    // RFC 9773 §4.1, and a serial number without the zero octet.
    expect(readCertificateId('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE')).toEqual({
      issuerKey: '69885b6b87464041e1b37b847ba0ae2cde01c8d4',
      serial: '87654321',
    });
    expect(readCertificateId('AQ.QAE')).toEqual({ issuerKey: '01', serial: '4001' });
    expect(['', '.', 'aYhb', 'a.b.c', 'a+.b', 'YQ.'].map(readCertificateId)).toEqual(Array(6).fill(null));
  });
});

test.each([
  ['in six hours', 90 * DAY_MS, 21_600],
  ['in 15 seconds, where a life of 90 days takes 90 minutes', 90 * 60_000, 15],
  ['in a second at least', 9_000, 1],
])('asks clients to check again %s', (_what, wireMs, seconds) => {
  const dates = { notBeforeMs: 0, notAfterMs: 90 * DAY_MS, wireNotBeforeMs: 0, wireNotAfterMs: wireMs };
  expect(askAgainSeconds(dates)).toBe(seconds);
});
