import { describe, expect, it } from 'vitest';
import { type IssuanceState, NO_CERTIFICATE } from '../../../main/domains/hostname-machine.ts';
import type { AttachedDomain } from '../../../main/domains/domain-set.ts';
import { afterClockWentBack } from '../../../main/domains/suspend.ts';
import { attachedDomain } from '../../support/domains-world.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = 1_000 * DAY;

const past = { verifiedAtMs: NOW - DAY, attachedAtMs: NOW - DAY, lastCheckedAtMs: NOW - DAY };
const back = (domain: Partial<AttachedDomain>, issuanceDelayMs = 0) =>
  afterClockWentBack(attachedDomain({ ...past, ...domain }), NOW, issuanceDelayMs);

describe('a domain after the clock went back', () => {
  it.each([
    ['none stays none', null, null],
    ['one within a day stays', NOW + DAY - 1, NOW + DAY - 1],
    ['one that is further away moves to a day from now', NOW + 365 * DAY, NOW + DAY],
  ])('moves its next check: %s', (_name, nextCheckAtMs, expected) => {
    expect(back({ nextCheckAtMs }).nextCheckAtMs).toBe(expected);
  });

  it.each([
    [NOW + DAY, NOW + 2 * DAY, NOW, NOW],
    [NOW - DAY, null, NOW - DAY, null],
  ])('counts as verified and checked now, if that was in the future: %i, %i', (verified, checked, is, was) => {
    const domain = back({ verifiedAtMs: verified, lastCheckedAtMs: checked });
    expect([domain.verifiedAtMs, domain.lastCheckedAtMs]).toEqual([is, was]);
  });

  it.each([
    ['61 days from its renewal, as a new one is with a day to spare, stays', 61 * DAY, 61 * DAY],
    ['further from its renewal is from the future, and replaced now', 61 * DAY + 1, 0],
  ])('replaces a leaf from the future: one that is %s', (_name, renewalMs, attemptMs) => {
    const renewAtMs = NOW + renewalMs;
    const issued = { ...NO_CERTIFICATE, state: 'issued', nextAttemptAtMs: renewAtMs, renewAtMs } as const;
    const { certificate } = back({ certificate: { ...issued, notAfterMs: renewAtMs + 30 * DAY } });
    expect(certificate.nextAttemptAtMs).toBe(NOW + attemptMs);
  });

  it.each([
    ['5 minutes', 0, 5 * MINUTE],
    ['the issuance delay, where that is longer', 20 * MINUTE, 20 * MINUTE],
  ])('waits for a first certificate no longer than %s', (_name, issuanceDelayMs, waitMs) => {
    const pending = { state: 'pending', seriesAtMs: NOW + DAY, nextAttemptAtMs: NOW + DAY } as const;
    const { certificate } = back({ certificate: { ...NO_CERTIFICATE, ...pending } }, issuanceDelayMs);
    expect(certificate).toMatchObject({ seriesAtMs: NOW + waitMs, nextAttemptAtMs: NOW + waitMs });
  });

  it.each([
    ['verified', 0, { state: 'pending', refusal: null, seriesAtMs: NOW, nextAttemptAtMs: NOW }],
    ['verified', MINUTE, { state: 'pending', refusal: null, seriesAtMs: NOW + MINUTE, nextAttemptAtMs: NOW + MINUTE }],
    ['suspended', 0, { state: 'failed', nextAttemptAtMs: null }],
  ] as const)(
    '%s, with an issuance delay of %i ms: begins a first issuance that was given up',
    (state, delayMs, after) => {
      const refusal = { code: 'timed_out', message: 'No certificate could be issued within 30 minutes.' } as const;
      const certificate: IssuanceState = { ...NO_CERTIFICATE, state: 'failed', refusal };
      expect(back({ state, certificate }, delayMs).certificate).toMatchObject(after);
    },
  );
});
