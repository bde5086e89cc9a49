import { describe, expect, it } from 'vitest';
import {
  certificateDueMs,
  certificateEventDue,
  certificateTimes,
  isServed,
  nextCertificate,
  nextHostname,
  NO_CERTIFICATE,
  type CertificateEvent,
  type HostnameEvent,
  type HostnameState,
  type IssuanceState,
} from '../../../main/domains/hostname-machine.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = 1_000 * DAY;

const THEN = NOW - 1_000;

const HOSTNAMES = {
  pending: { state: 'pending', stateBefore: null, verifiedAtMs: null },
  verified: { state: 'verified', stateBefore: null, verifiedAtMs: THEN },
  'misconfigured, never verified': { state: 'misconfigured', stateBefore: null, verifiedAtMs: null },
  'misconfigured, once verified': { state: 'misconfigured', stateBefore: null, verifiedAtMs: THEN },
  'suspended, was pending': { state: 'suspended', stateBefore: 'pending', verifiedAtMs: null },
  'suspended, was verified': { state: 'suspended', stateBefore: 'verified', verifiedAtMs: THEN },
  'suspended, was misconfigured': { state: 'suspended', stateBefore: 'misconfigured', verifiedAtMs: THEN },
} as const satisfies Record<string, HostnameState>;
type HostnameName = keyof typeof HOSTNAMES;

const checked = (verdict: 'ok' | 'failed' | 'unknown', hasFoundNothing = false): HostnameEvent => ({
  type: 'checked',
  atMs: NOW,
  verdict,
  hasFoundNothing,
});
const HOSTNAME_EVENTS = {
  ok: checked('ok'),
  wrong: checked('failed'),
  nothing: checked('failed', true),
  unknown: checked('unknown', true),
  lost: { type: 'plan_lost' },
  returned: { type: 'plan_returned' },
} as const satisfies Record<string, HostnameEvent>;

/** The state after each event that changes it. */
const HOSTNAME_TABLE: Record<HostnameName, Partial<Record<keyof typeof HOSTNAME_EVENTS, HostnameState['state']>>> = {
  pending: { ok: 'verified', wrong: 'misconfigured', lost: 'suspended' },
  verified: { wrong: 'misconfigured', nothing: 'misconfigured', lost: 'suspended' },
  'misconfigured, never verified': { ok: 'verified', nothing: 'pending', lost: 'suspended' },
  'misconfigured, once verified': { ok: 'verified', lost: 'suspended' },
  'suspended, was pending': { returned: 'pending' },
  'suspended, was verified': { returned: 'verified' },
  'suspended, was misconfigured': { returned: 'misconfigured' },
};

const hostnameCells = (Object.keys(HOSTNAME_TABLE) as HostnameName[]).flatMap((from) =>
  (Object.keys(HOSTNAME_EVENTS) as (keyof typeof HOSTNAME_EVENTS)[]).map((event) => ({
    from,
    event,
    cell: HOSTNAME_TABLE[from][event],
  })),
);

describe('a hostname', () => {
  it.each(hostnameCells)('$from, on "$event"', ({ from, event, cell }) => {
    const before = HOSTNAMES[from];
    const after = nextHostname(before, HOSTNAME_EVENTS[event]);
    if (cell === undefined) {
      expect(after).toBe(before);
      return;
    }
    expect(after.state).toBe(cell);
    expect(after.verifiedAtMs).toBe(event === 'ok' ? NOW : before.verifiedAtMs);
    expect(after.stateBefore).toBe(after.state === 'suspended' ? (before.stateBefore ?? before.state) : null);
  });

  it('is served once it has been verified, misconfigured or not, unless it is suspended', () => {
    expect(Object.entries(HOSTNAMES).flatMap(([name, state]) => (isServed(state) ? [name] : []))).toEqual([
      'verified',
      'misconfigured, once verified',
    ]);
  });

  it('returns from a suspension in its previous state', () => {
    for (const name of ['pending', 'verified', 'misconfigured, once verified'] as const) {
      const suspended = nextHostname(HOSTNAMES[name], HOSTNAME_EVENTS.lost);
      expect(nextHostname(suspended, HOSTNAME_EVENTS.returned)).toEqual(HOSTNAMES[name]);
    }
  });
});

const NO_REASON = { code: 'caa_forbids', message: 'No.' } as const;
const leaf = { renewAtMs: NOW + 60 * DAY, notAfterMs: NOW + 90 * DAY };
const none = NO_CERTIFICATE;
const pending: IssuanceState = { ...none, state: 'pending', seriesAtMs: NOW - MINUTE, nextAttemptAtMs: NOW };
const delayed: IssuanceState = { ...pending, seriesAtMs: NOW + MINUTE, nextAttemptAtMs: NOW + MINUTE };
const late: IssuanceState = { ...pending, seriesAtMs: NOW - 30 * MINUTE, nextAttemptAtMs: NOW };
const issued: IssuanceState = { ...none, ...leaf, state: 'issued', nextAttemptAtMs: leaf.renewAtMs };
const renewing: IssuanceState = { ...issued, refusal: NO_REASON, seriesAtMs: NOW - 30 * MINUTE, nextAttemptAtMs: NOW };
const failed: IssuanceState = { ...none, state: 'failed', refusal: { code: 'timed_out', message: 'No.' } };
const expired: IssuanceState = {
  ...{ ...issued, state: 'expired' },
  ...{ renewAtMs: NOW - 40 * DAY, notAfterMs: NOW - 10 * DAY, nextAttemptAtMs: NOW },
};
const states = { none, pending, delayed, late, issued, renewing, failed, expired };
type Name = keyof typeof states;

const newLeaf = { renewAtMs: NOW + 61 * DAY, notAfterMs: NOW + 91 * DAY };
const fresh: IssuanceState = { ...none, ...newLeaf, state: 'issued', nextAttemptAtMs: newLeaf.renewAtMs };

const events = {
  verified: { type: 'hostname_verified', atMs: NOW, delayMs: 0 },
  verifiedWithDelay: { type: 'hostname_verified', atMs: NOW, delayMs: 2 * MINUTE },
  reverified: { type: 'reverified', atMs: NOW, delayMs: 0 },
  reverifiedWithDelay: { type: 'reverified', atMs: NOW, delayMs: 2 * MINUTE },
  attempt: { type: 'attempt_due', atMs: NOW },
  renewal: { type: 'renewal_due', atMs: NOW },
  issued: { type: 'issued', atMs: NOW, ...newLeaf },
  caaForbids: { type: 'refused', atMs: NOW, ...NO_REASON },
  caaLookupFailed: { type: 'refused', atMs: NOW, code: 'caa_lookup_failed', message: 'Unknown.' },
  suffixNotPermitted: { type: 'refused', atMs: NOW, code: 'suffix_not_permitted', message: 'No.' },
  notAfter: { type: 'not_after_passed' },
  suspended: { type: 'suspended' },
  returned: { type: 'returned' },
} as const satisfies Record<string, CertificateEvent>;
type Event = keyof typeof events;

/** The change, and whether an attempt follows. */
type Cell = [Partial<IssuanceState>, 'attempt'?];
const series = (atMs: number) =>
  ({ state: 'pending', refusal: null, seriesAtMs: atMs, nextAttemptAtMs: atMs }) as const;
const SERIES = series(NOW);
const LATER = series(NOW + 2 * MINUTE);
const begins = {
  verified: [SERIES, 'attempt'],
  verifiedWithDelay: [LATER],
  reverified: [SERIES, 'attempt'],
  reverifiedWithDelay: [LATER],
} as const satisfies Partial<Record<Event, Cell>>;

/** The same change for any reason of the refusal, apart from the reason itself. */
const refused = (change: Partial<IssuanceState>) => ({
  caaForbids: [{ ...change, refusal: NO_REASON }] as Cell,
  caaLookupFailed: [{ ...change, refusal: { code: 'caa_lookup_failed', message: 'Unknown.' } }] as Cell,
  suffixNotPermitted: [{ ...change, refusal: { code: 'suffix_not_permitted', message: 'No.' } }] as Cell,
});
const timedOut = (last: string): Cell => {
  const message = `No certificate could be issued within 30 minutes. The last attempt: ${last}`;
  return [{ state: 'failed', refusal: { code: 'timed_out', message }, seriesAtMs: null, nextAttemptAtMs: null }];
};
const continued: Partial<Record<Event, Cell>> = {
  ...{ reverified: [{}, 'attempt'], attempt: [{}, 'attempt'] },
  issued: [fresh],
};

/** Every other event changes nothing. */
const table: Record<Name, Partial<Record<Event, Cell>>> = {
  none: begins,
  pending: {
    ...continued,
    reverifiedWithDelay: [{}, 'attempt'],
    ...refused({ nextAttemptAtMs: NOW + 5 * MINUTE }),
    suspended: [none],
  },
  delayed: { ...continued, ...refused({ seriesAtMs: NOW, nextAttemptAtMs: NOW + 5 * MINUTE }), suspended: [none] },
  late: {
    ...continued,
    reverifiedWithDelay: [{}, 'attempt'],
    caaForbids: timedOut('No.'),
    caaLookupFailed: timedOut('Unknown.'),
    suffixNotPermitted: timedOut('No.'),
    suspended: [none],
  },
  issued: {
    attempt: [{ seriesAtMs: NOW }, 'attempt'],
    renewal: [{ seriesAtMs: NOW }, 'attempt'],
    issued: [fresh],
    ...refused({ seriesAtMs: NOW, nextAttemptAtMs: NOW + 5 * MINUTE }),
    notAfter: [{ state: 'expired' }],
    suspended: [{ nextAttemptAtMs: null }],
  },
  renewing: {
    ...continued,
    reverifiedWithDelay: [{}, 'attempt'],
    renewal: [{}, 'attempt'],
    ...refused({ nextAttemptAtMs: NOW + DAY }),
    notAfter: [{ state: 'expired', seriesAtMs: null }],
    suspended: [{ refusal: null, seriesAtMs: null, nextAttemptAtMs: null }],
    returned: [{ nextAttemptAtMs: leaf.renewAtMs }],
  },
  failed: { ...begins, issued: [fresh] },
  expired: {
    ...begins,
    attempt: [{}, 'attempt'],
    renewal: [{}, 'attempt'],
    issued: [fresh],
    ...refused({ nextAttemptAtMs: NOW + DAY }),
    suspended: [{ nextAttemptAtMs: null }],
    returned: [{ nextAttemptAtMs: NOW - 40 * DAY }],
  },
};

const cells = (Object.keys(table) as Name[]).flatMap((from) =>
  (Object.keys(events) as Event[]).map((event) => ({ from, event, cell: table[from][event] ?? ([{}] as Cell) })),
);

it.each(cells)('a certificate $from, on "$event"', ({ from, event, cell }) => {
  const before = states[from];
  const [change, attempt] = cell;
  const attempts = attempt === 'attempt';
  expect(nextCertificate(before, events[event])).toEqual({ state: { ...before, ...change }, attempts });
});

describe('what is due automatically', () => {
  const due = (current: IssuanceState, atMs: number) => certificateEventDue(current, atMs)?.type ?? null;
  const suspended = { ...issued, nextAttemptAtMs: null };
  const daily = { ...renewing, seriesAtMs: NOW - 31 * MINUTE };

  it.each([
    ['nothing without a certificate', none, NOW, null, null],
    ['nothing after it was given up', failed, NOW, null, null],
    ['the attempt of a pending one', pending, NOW, NOW, 'attempt_due'],
    ['nothing before the issuance delay is over', delayed, NOW, NOW + MINUTE, null],
    ['nothing for an issued one', issued, NOW, leaf.renewAtMs, null],
    ['renewal at 30 days left', issued, leaf.renewAtMs, leaf.renewAtMs, 'renewal_due'],
    ['renewal even when its end has passed as well', issued, leaf.notAfterMs, leaf.renewAtMs, 'renewal_due'],
    ['another attempt of a renewal', renewing, NOW, NOW, 'attempt_due'],
    ['the end of one that could not be renewed', { ...renewing, notAfterMs: NOW }, NOW, NOW, 'not_after_passed'],
    ['the end of a suspended one', suspended, leaf.notAfterMs, leaf.notAfterMs, 'not_after_passed'],
    ['another attempt after the end', expired, NOW, NOW, 'attempt_due'],
  ] as const)('is %s', (_name, current, atMs, dueMs, event) => {
    expect([certificateDueMs(current), due(current, atMs)]).toEqual([dueMs, event]);
  });

  it.each([
    ['nothing', none, null, null],
    ['the renewals of a healthy one, in a row', issued, leaf.renewAtMs, null],
    ['the attempts of a first one, separately', pending, null, NOW],
    ['the attempts of a renewal within 30 minutes, separately', renewing, null, NOW],
    ['the daily ones after that, in a row, and the end', daily, NOW, renewing.notAfterMs],
    ['the daily ones after the end, in a row', expired, expired.nextAttemptAtMs, null],
    ['the end of a suspended one', suspended, null, leaf.notAfterMs],
  ] as const)('is %s', (_name, current, repeatingMs, onceMs) => {
    expect(certificateTimes(current)).toEqual({ repeatingMs, onceMs });
  });

  it('is 7 attempts in the 30 minutes of a series, the last at their end', () => {
    let current = nextCertificate(none, events.verified).state;
    const attempts: number[] = [];
    for (let at = certificateDueMs(current); at !== null; at = certificateDueMs(current)) {
      attempts.push((at - NOW) / MINUTE);
      current = nextCertificate(current, { ...events.caaForbids, atMs: at }).state;
    }
    expect(attempts).toEqual([0, 5, 10, 15, 20, 25, 30]);
    expect(current).toMatchObject({ state: 'failed', refusal: { code: 'timed_out' } });
  });

  it('is the end of the 30 minutes after a late attempt', () => {
    const standing = { ...pending, seriesAtMs: NOW - 27 * MINUTE };
    expect(certificateDueMs(nextCertificate(standing, events.caaForbids).state)).toBe(NOW + 3 * MINUTE);
  });
});
