import { describe, expect, it } from 'vitest';
import { createZonePublisher, type StoredVersion, type StoredZones } from '../../../main/dns/zone-publisher.ts';
import type { Zone } from '../../../main/dns/zone.ts';
import { createFakeClock, FAKE_NOW_MS as NOW } from '../../support/fake-clock.ts';

type Versions = Record<string, StoredVersion[]>;

let keys = 0;
const a = (name: string, visibleFromMs: number | null = null, visibleUntilMs: number | null = null): StoredVersion => ({
  ...{ key: ++keys, name, type: 'A', ttlSeconds: 60, value: '192.0.2.1' },
  ...{ visibleFromMs, visibleUntilMs },
});

/** A store in memory that counts how often a zone's versions are read. */
function storedIn(versions: Versions, settle: () => string[] = () => []) {
  const reads: string[] = [];
  const moments = (nowMs: number) =>
    Object.values(versions)
      .flat()
      .flatMap(({ visibleFromMs, visibleUntilMs }) => [visibleFromMs ?? 0, visibleUntilMs ?? 0])
      .filter((atMs) => atMs > nowMs);
  let settledMs = 0;
  const stored: StoredZones = {
    zones: () => Object.keys(versions).map((name) => ({ name, supportsAlias: true })),
    versions(zone) {
      reads.push(zone);
      return versions[zone] ?? [];
    },
    nextChangeMs: () => moments(settledMs).sort((x, y) => x - y)[0] ?? null,
    settle(nowMs) {
      const failed = settle();
      const due = Object.keys(versions).filter((zone) =>
        (versions[zone] ?? []).some(({ visibleFromMs: from, visibleUntilMs: until }) =>
          [from, until].some((atMs) => atMs !== null && atMs > settledMs && atMs <= nowMs),
        ),
      );
      settledMs = nowMs;
      return [...failed, ...due];
    },
    moveBack: () => undefined,
  };
  return { stored, reads };
}

const names = (zones: readonly Zone[]) =>
  zones.flatMap(({ records }) => records.filter(({ data }) => data.type === 'A').map(({ name }) => name));

describe('the visible zones', () => {
  it('change at the moments of propagation, each told once', async () => {
    const clock = createFakeClock();
    const { stored } = storedIn({ 'a.test': [a('old.a.test', null, NOW + 2_000), a('new.a.test', NOW + 1_000)] });
    const told: number[] = [];
    const publisher = createZonePublisher({ clock, stored, onPublished: () => told.push(clock.now() - NOW) });
    const shown: string[][] = [names(publisher.zones())];
    for (let second = 0; second < 3; second++) {
      await clock.pass(1_000);
      shown.push(names(publisher.zones()));
    }
    const both = ['old.a.test', 'new.a.test'];
    expect(shown).toEqual([['old.a.test'], both, ['new.a.test'], ['new.a.test']]);
    expect(told).toEqual([1_000, 2_000]);
    publisher.stop();
  });

  it('are the same values for zones that have not changed', () => {
    const versions: Versions = { 'a.test': [a('x.a.test')], 'b.test': [a('x.b.test')] };
    const { stored, reads } = storedIn(versions);
    const publisher = createZonePublisher({ clock: createFakeClock(), stored, onPublished: () => undefined });
    const [firstA, firstB] = publisher.zones();
    versions['b.test'] = [...(versions['b.test'] ?? []), a('y.b.test')];
    publisher.changed('b.test');
    const [secondA, secondB] = publisher.zones();
    expect(secondA).toBe(firstA);
    expect(secondB).not.toBe(firstB);
    // A record that was there is not parsed again.
    expect(secondB?.records[2]).toBe(firstB?.records[2]);
    expect([publisher.zones()[1] === secondB, reads]).toEqual([true, ['a.test', 'b.test', 'b.test']]);
    publisher.stop();
  });

  it('are right although the store fails, which is tried again a minute later', async () => {
    const errors: unknown[] = [];
    const clock = createFakeClock({ onError: (error) => errors.push(error) });
    let tries = 0;
    const { stored } = storedIn({ 'a.test': [a('new.a.test', NOW + 1_000)] }, () => {
      if (++tries === 2) throw new Error('full');
      return [];
    });
    const publisher = createZonePublisher({ clock, stored, onPublished: () => undefined });
    expect(names(publisher.zones())).toEqual([]);
    await clock.pass(1_000);
    expect([errors.length, names(publisher.zones())]).toEqual([1, ['new.a.test']]);
    await clock.pass(60_000);
    expect([errors.length, tries]).toEqual([1, 3]);
    publisher.stop();
  });
});
