import { describe, expect, it } from 'vitest';
import {
  banAt,
  gaugeAt,
  groupCallers,
  nameCallers,
  urgentFirst,
} from '../../../../../renderer/shared/limits/callers.ts';
import { FAKE_NOW_MS } from '../../../../support/fake-clock.ts';
import { makeKey, makeUsage } from '../../../../support/page/page-world.ts';

const limits = { perMinute: 60, perDay: 1_000 };
const at = (offsetMs: number): string => new Date(FAKE_NOW_MS + offsetMs).toISOString();

describe('a gauge', () => {
  it.each([
    [0, 'ok'],
    [47, 'ok'],
    [48, 'near'],
    [59, 'near'],
    [60, 'exhausted'],
    [75, 'exhausted'],
  ] as const)('at %d of 60 is %s', (used, level) => {
    expect(gaugeAt({ limit: 60, used, resetsAt: at(1) }, FAKE_NOW_MS)).toMatchObject({ used, level });
  });

  it('without a window has not started', () => {
    const idle = { limit: 60, used: 0, level: 'idle', resetsAtMs: undefined };
    expect(gaugeAt({ limit: 60, used: 0 }, FAKE_NOW_MS)).toEqual(idle);
  });

  it('names the same second as X-RateLimit-Reset', () => {
    expect(gaugeAt({ limit: 60, used: 1, resetsAt: at(264) }, FAKE_NOW_MS).resetsAtMs).toBe(FAKE_NOW_MS + 1_000);
  });

  it('is empty from the moment its window ends, without an event', () => {
    const window = { limit: 60, used: 60, resetsAt: at(0) };
    expect(gaugeAt(window, FAKE_NOW_MS - 1)).toMatchObject({ used: 60, level: 'exhausted' });
    expect(gaugeAt(window, FAKE_NOW_MS)).toMatchObject({ used: 0, level: 'idle' });
  });
});

describe('a ban', () => {
  const numbers = { limits, minute: 60, day: 60, nowMs: FAKE_NOW_MS };
  const banned = makeUsage('key:a', { ...numbers, rest: { bannedUntil: at(4_005) } });

  it('lasts until its end', () => {
    expect(banAt(banned, FAKE_NOW_MS)).toBe(FAKE_NOW_MS + 5_000);
    expect(banAt(banned, FAKE_NOW_MS + 5_000)).toBeUndefined();
  });

  it('does not exist without an end', () => {
    expect(banAt(makeUsage('key:a', numbers), FAKE_NOW_MS)).toBeUndefined();
  });
});

describe('callers', () => {
  const numbers = { limits, minute: 1, day: 1, nowMs: FAKE_NOW_MS };
  const older = makeKey('older', 'Storefront');
  const newer = makeKey('newer', 'Import', { createdAt: '2026-11-21T09:00:00.000Z' });

  it('are sorted: banned first, then exhausted, then in use', () => {
    const of = (id: string, used: number, rest = {}) => ({
      usage: makeUsage(`key:${id}`, { ...numbers, minute: used, day: used, rest }),
    });
    const idle = { usage: { ...of('idle', 0).usage, minute: { limit: 60, used: 0 }, day: { limit: 1_000, used: 0 } } };
    const rows = [idle, of('used', 1), of('full', 60), of('first', 2), of('banned', 0, { bannedUntil: at(5) })];
    const order = (nowMs: number) => urgentFirst(rows, nowMs).map(({ usage }) => usage.keyId);
    expect(order(FAKE_NOW_MS)).toEqual(['banned', 'full', 'used', 'first', 'idle']);
    expect(order(FAKE_NOW_MS + 5).at(-1)).toBe('idle');
  });

  it('are keys in the order of creation, then addresses by name', () => {
    const usages = ['address:::1', 'key:newer', 'address:127.0.0.1', 'key:older'].map((one) => makeUsage(one, numbers));
    const names = nameCallers(usages, [newer, older], limits).map(({ name }) => name);
    expect(names).toEqual(['Storefront', 'Import', '::1', '127.0.0.1']);
  });

  it('include the keys that have not called, with no use', () => {
    const usage = { minute: { limit: 60, used: 0 }, day: { limit: 1_000, used: 0 } };
    expect(nameCallers([], [older], limits)).toMatchObject([{ name: 'Storefront', prefix: 'viv_3fQ9', usage }]);
  });

  it('include a revoked key only while it has counters', () => {
    const revoked = { ...older, revokedAt: at(0) };
    expect(nameCallers([], [revoked], limits)).toEqual([]);
    expect(nameCallers([makeUsage('key:older', numbers)], [revoked], limits)).toMatchObject([{ revoked: true }]);
  });

  it('include a key that is not in the list, by its id', () => {
    const gone = nameCallers([makeUsage('key:gone', numbers)], [], limits);
    expect(gone).toMatchObject([{ name: 'gone', prefix: undefined }]);
  });

  it('in two groups are the active keys, in their original order, and the addresses by name', () => {
    const usages = ['address:127.0.0.1', 'key:newer', 'address:::1'].map((caller) => makeUsage(caller, numbers));
    const revoked = makeKey('gone', 'Gone', { revokedAt: at(0) });
    const { keys, addresses } = groupCallers(usages, [newer, revoked, older], limits);
    expect(keys.map(({ key, usage }) => [key.name, usage.minute.used])).toEqual([
      ['Import', 1],
      ['Storefront', 0],
    ]);
    expect(addresses.map(({ caller }) => caller)).toEqual(['address:::1', 'address:127.0.0.1']);
  });
});
