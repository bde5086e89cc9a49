import { describe, expect, it } from 'vitest';
import { isServed, nextHostname } from '../../../main/domains/hostname-machine.ts';
import type { HostnameEvent, HostnameState } from '../../../main/domains/hostname-machine.ts';

const THEN = 1_000;
const NOW = 2_000;

const states = {
  pending: { state: 'pending', stateBefore: null, verifiedAtMs: null },
  verified: { state: 'verified', stateBefore: null, verifiedAtMs: THEN },
  'misconfigured, never verified': { state: 'misconfigured', stateBefore: null, verifiedAtMs: null },
  'misconfigured, once verified': { state: 'misconfigured', stateBefore: null, verifiedAtMs: THEN },
  'suspended, was pending': { state: 'suspended', stateBefore: 'pending', verifiedAtMs: null },
  'suspended, was verified': { state: 'suspended', stateBefore: 'verified', verifiedAtMs: THEN },
  'suspended, was misconfigured': { state: 'suspended', stateBefore: 'misconfigured', verifiedAtMs: THEN },
} as const satisfies Record<string, HostnameState>;
type Name = keyof typeof states;

const checked = (verdict: 'ok' | 'failed' | 'unknown', hasFoundNothing = false): HostnameEvent => ({
  type: 'checked',
  atMs: NOW,
  verdict,
  hasFoundNothing,
});
const events = {
  ok: checked('ok'),
  wrong: checked('failed'),
  nothing: checked('failed', true),
  unknown: checked('unknown', true),
  lost: { type: 'plan_lost' },
  returned: { type: 'plan_returned' },
} as const satisfies Record<string, HostnameEvent>;

/** The state after each event that changes it. */
const table: Record<Name, Partial<Record<keyof typeof events, HostnameState['state']>>> = {
  pending: { ok: 'verified', wrong: 'misconfigured', lost: 'suspended' },
  verified: { wrong: 'misconfigured', nothing: 'misconfigured', lost: 'suspended' },
  'misconfigured, never verified': { ok: 'verified', nothing: 'pending', lost: 'suspended' },
  'misconfigured, once verified': { ok: 'verified', lost: 'suspended' },
  'suspended, was pending': { returned: 'pending' },
  'suspended, was verified': { returned: 'verified' },
  'suspended, was misconfigured': { returned: 'misconfigured' },
};

const cells = (Object.keys(table) as Name[]).flatMap((from) =>
  (Object.keys(events) as (keyof typeof events)[]).map((event) => ({ from, event, cell: table[from][event] })),
);

describe('a hostname', () => {
  it.each(cells)('$from, on "$event"', ({ from, event, cell }) => {
    const before = states[from];
    const after = nextHostname(before, events[event]);
    if (cell === undefined) {
      expect(after).toBe(before);
      return;
    }
    expect(after.state).toBe(cell);
    expect(after.verifiedAtMs).toBe(event === 'ok' ? NOW : before.verifiedAtMs);
    expect(after.stateBefore).toBe(after.state === 'suspended' ? (before.stateBefore ?? before.state) : null);
  });

  it('is served once it has been verified, misconfigured or not, unless it is suspended', () => {
    expect(Object.entries(states).flatMap(([name, state]) => (isServed(state) ? [name] : []))).toEqual([
      'verified',
      'misconfigured, once verified',
    ]);
  });

  it('returns from a suspension in its previous state', () => {
    for (const name of ['pending', 'verified', 'misconfigured, once verified'] as const) {
      const suspended = nextHostname(states[name], events.lost);
      expect(nextHostname(suspended, events.returned)).toEqual(states[name]);
    }
  });
});
