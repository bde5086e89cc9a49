import { describe, expect, it } from 'vitest';
import { formatRecord } from '../../../../main/dns/wire/record-text.ts';
import { findZone, ZoneSet } from '../../../../main/dns/zones/zone-set.ts';
import { createSigningKey } from '../../../../main/dns/zones/zone-signer.ts';
import { createZonePublisher } from '../../../../main/dns/zones/zone-publisher.ts';
import type { StoredVersion, StoredZones } from '../../../../main/dns/zones/zone-publisher.ts';
import { createFakeClock, FAKE_NOW_MS as NOW, type FakeClock } from '../../../support/fake-clock.ts';

const a = (
  name: string,
  visibleFromMs: number | null = null,
  visibleUntilMs: number | null = null,
  value = '192.0.2.1',
): StoredVersion => ({ name, type: 'A', ttlSeconds: 60, value, visibleFromMs, visibleUntilMs });

type SettledVersion = StoredVersion & { zone: string };

/** A store in memory that counts reads. */
function storedIn(versions: Record<string, StoredVersion[]>) {
  const reads: string[] = [];
  const serials: Record<string, number> = {};
  const isDue = (nowMs: number) => (version: StoredVersion) =>
    [version.visibleFromMs, version.visibleUntilMs].some((at) => at !== null && at <= nowMs);
  const zone = (name: string) =>
    name in versions ? { name, supportsAlias: true, serial: (serials[name] ??= 1), signing: null } : null;
  const stored: StoredZones = {
    zones: () => Object.keys(versions).flatMap((name) => zone(name) ?? []),
    zone,
    versions(name) {
      reads.push(`all of ${name}`);
      return versions[name] ?? [];
    },
    versionsAt(name, owner) {
      reads.push(owner);
      return (versions[name] ?? []).filter((version) => version.name === owner);
    },
    nextChangeMs() {
      const moments = Object.values(versions)
        .flat()
        .flatMap(({ visibleFromMs, visibleUntilMs }) => [visibleFromMs ?? Infinity, visibleUntilMs ?? Infinity]);
      const next = Math.min(...moments);
      return next === Infinity ? null : next;
    },
    due: (nowMs, ownersMax) =>
      Object.entries(versions)
        .flatMap(([name, all]) => all.filter(isDue(nowMs)).map((version) => ({ zone: name, name: version.name })))
        .slice(0, ownersMax),
    settle(owners, nowMs) {
      const [gone, added] = [[] as SettledVersion[], [] as SettledVersion[]];
      for (const owner of owners) {
        versions[owner.zone] = (versions[owner.zone] ?? []).flatMap((version) => {
          if (version.name !== owner.name) return [version];
          if ((version.visibleUntilMs ?? Infinity) <= nowMs) {
            gone.push({ ...version, zone: owner.zone });
            return [];
          }
          if ((version.visibleFromMs ?? Infinity) > nowMs) return [version];
          const settled = { ...version, visibleFromMs: null };
          added.push({ ...settled, zone: owner.zone });
          return [settled];
        });
      }
      for (const { zone: name } of owners) serials[name] = (serials[name] ?? 0) + 1;
      return { gone, added, rrsets: owners.length };
    },
    moveBack: () => undefined,
    lowestTtl: ({ zone: name, name: owner, type }) => {
      const here = (versions[name] ?? []).filter((version) => version.name === owner && version.type === type);
      return here.length === 0 ? undefined : Math.min(...here.map(({ ttlSeconds }) => ttlSeconds));
    },
  };
  return { stored, reads, versions, serials };
}

function publish(stored: StoredZones, clock: FakeClock, onPublished: () => void = () => undefined) {
  const zones = new ZoneSet();
  return { zones, ...createZonePublisher({ clock, stored, zones, onPublished }) };
}

/** Names that have an A record in their zone. */
const names = (zones: ZoneSet, candidates: readonly string[]) =>
  candidates.filter((name) =>
    findZone(zones, name)
      ?.node(name)
      ?.rrsets.some(({ type }) => type === 'A'),
  );

const serialOf = (zones: ZoneSet, apex: string) => {
  const soa = zones.get(apex)?.negative.data[0];
  return soa?.type === 'SOA' ? soa.serial : null;
};

describe('the signatures of a zone', () => {
  /** The first and last second of an RRSIG (RFC 4034 §3.1). */
  function validity(zones: ZoneSet): { from: number; until: number } {
    const index = zones.get('a.test');
    const [data] = index?.signer?.sign(index.negative)?.data ?? [];
    const octets = Buffer.from(data !== undefined && 'octets' in data ? data.octets : '', 'latin1');
    return { from: octets.readUInt32BE(12) * 1000, until: octets.readUInt32BE(8) * 1000 };
  }

  it('are renewed when a question needs them, so a jump of the clock over many years costs nothing', async () => {
    const clock = createFakeClock();
    const { stored } = storedIn({ 'a.test': [a('a.test')] });
    const signing = { on: true, keys: [{ ...createSigningKey(), retiresAtMs: null }], broken: null, stranger: null };
    let reads = 0;
    const all = () => {
      reads++;
      return stored.zones().map((zone) => ({ ...zone, signing }));
    };
    let told = 0;
    const { current, stop, clockAdjusted } = publish({ ...stored, zones: all }, clock, () => told++);
    for (const to of ['2100-01-01', '2038-01-19']) {
      reads = 0;
      const movedMs = Date.parse(to) - clock.now();
      await clock.set(Date.parse(to));
      expect([reads, told]).toEqual([0, 0]);
      clockAdjusted({ movedMs });
      const { from, until } = validity(current());
      expect([from <= clock.now(), until > clock.now()]).toEqual([true, true]);
      const before = reads;
      current();
      expect(reads).toBe(before);
    }
    stop();
  });
});

describe('the visible zones', () => {
  it('change at the moments of propagation, each announced once, together with the serial', async () => {
    const clock = createFakeClock();
    const both = ['old.a.test', 'new.a.test'];
    const { stored } = storedIn({ 'a.test': [a('old.a.test', null, NOW + 2_000), a('new.a.test', NOW + 1_000)] });
    const told: number[] = [];
    const { zones, stop } = publish(stored, clock, () => told.push(clock.now() - NOW));
    const shownNow = () => `${names(zones, both).join(' ')} ${serialOf(zones, 'a.test')}`;
    const shown = [shownNow()];
    for (let second = 0; second < 3; second++) {
      await clock.pass(1_000);
      shown.push(shownNow());
    }
    expect(shown).toEqual(['old.a.test 1', 'old.a.test new.a.test 2', 'new.a.test 3', 'new.a.test 3']);
    expect(told).toEqual([1_000, 2_000]);
    stop();
  });

  it('apply changes without reading the rest, with the same result as reading everything', () => {
    const at = (name: string, value?: string, more: Partial<StoredVersion> = {}) => ({
      ...a(name, null, null, value),
      ...more,
    });
    const before = [a('x.a.test'), a('a.test')];
    const gone = [
      at('x.a.test', '192.0.2.4', { ttlSeconds: 10 }),
      at('x.a.test', '192.0.2.5'),
      a('deep.z.a.test'),
      at('a.test', '"text"', { type: 'TXT' }),
    ];
    const added = [
      at('x.a.test', '192.0.2.2'),
      at('x.a.test', '192.0.2.3', { ttlSeconds: 30 }),
      at('x.a.test', '"text"', { type: 'TXT' }),
      a('deep.y.a.test'),
      at('a.test', '192.0.2.9'),
      at('cut.a.test', 'ns.other.test', { type: 'NS' }),
    ];
    const later = a('later.a.test', NOW + 1_000);
    const { stored, reads, versions, serials } = storedIn({ 'a.test': [...before, ...gone] });
    const { zones, recordsChanged, stop } = publish(stored, createFakeClock());
    reads.length = 0;
    versions['a.test'] = [...before, ...added, later];
    serials['a.test'] = 2;
    recordsChanged('a.test', { gone, added });
    expect(reads).toEqual([]);
    const loaded = publish(stored, createFakeClock());
    const shown = (set: ZoneSet) => [...(set.get('a.test')?.records() ?? [])].map((record) => formatRecord(record));
    expect(shown(zones)).toEqual(shown(loaded.zones));
    expect([serialOf(zones, 'a.test'), names(zones, ['later.a.test'])]).toEqual([2, []]);
    const cut = (set: ZoneSet) => {
      const zone = set.get('a.test');
      return zone?.cutAbove(zone.closest('www.cut.a.test'))?.name;
    };
    expect([cut(zones), cut(loaded.zones)]).toEqual(['cut.a.test', 'cut.a.test']);
    stop();
    loaded.stop();
  });

  it('appear and disappear with the zones', () => {
    const { stored, versions } = storedIn({});
    const { zones, zoneChanged, stop } = publish(stored, createFakeClock());
    versions['a.test'] = [a('x.a.test')];
    zoneChanged('a.test');
    expect(names(zones, ['x.a.test'])).toEqual(['x.a.test']);
    delete versions['a.test'];
    zoneChanged('a.test');
    expect(zones.has('a.test')).toBe(false);
    stop();
  });

  it('contain their SOA and NS once, with the apex’s other records', () => {
    const { stored, serials } = storedIn({ 'a.test': [a('a.test')] });
    serials['a.test'] = 7;
    const { zones, recordsChanged, stop } = publish(stored, createFakeClock());
    serials['a.test'] = 8;
    recordsChanged('a.test', { gone: [{ ...a('a.test', null, null, 'ns.a.test'), type: 'NS' }], added: [] });
    const apex = zones.get('a.test')?.node('a.test')?.rrsets;
    const lines = apex?.flatMap(({ name, ttlSeconds, data }) =>
      data.map((each) => formatRecord({ name, ttlSeconds, data: each })),
    );
    expect(lines).toEqual([
      'a.test. 3600 IN SOA ns.vivarium.localhost. hostmaster.a.test. 8 7200 900 1209600 300',
      'a.test. 3600 IN NS ns.vivarium.localhost.',
      'a.test. 60 IN A 192.0.2.1',
    ]);
    stop();
  });

  it('stay correct when the store fails, and retry a minute later', async () => {
    const errors: unknown[] = [];
    const clock = createFakeClock({ onError: (error) => errors.push(error) });
    const { stored } = storedIn({ 'a.test': [a('new.a.test', NOW + 1_000)] });
    let tries = 0;
    const failing: StoredZones = {
      ...stored,
      settle(owners, nowMs, max) {
        if (++tries === 1) throw new Error('full');
        return stored.settle(owners, nowMs, max);
      },
    };
    const { zones, stop } = publish(failing, clock);
    expect(names(zones, ['new.a.test'])).toEqual([]);
    await clock.pass(1_000);
    expect([errors.length, names(zones, ['new.a.test']), serialOf(zones, 'a.test')]).toEqual([1, ['new.a.test'], 1]);
    await clock.pass(60_000);
    expect([errors.length, tries, serialOf(zones, 'a.test')]).toEqual([1, 2, 2]);
    stop();
  });

  it('keep the remaining time of pending changes, wherever the clock is set back to', async () => {
    const clock = createFakeClock();
    const moved: number[] = [];
    const { stored } = storedIn({ 'a.test': [a('new.a.test', NOW + 7_200_000)] });
    const { clockAdjusted, stop } = publish({ ...stored, moveBack: (byMs) => moved.push(byMs) }, clock);
    clock.onAdjusted(clockAdjusted);
    await clock.pass(3_600_000);
    await clock.set(NOW + 1_800_000);
    await clock.set(NOW + 2_000_000);
    clock.freeze();
    await clock.set(NOW);
    expect(moved).toEqual([1_800_000, 2_000_000]);
    stop();
  });

  it('apply in parts what becomes visible at one moment, and answer questions in between', async () => {
    const clock = createFakeClock();
    const many = Array.from({ length: 1_000 }, (_, n) => a(`h${n}.a.test`, NOW + 1_000));
    const { stored, reads } = storedIn({ 'a.test': many });
    const { zones, published, stop } = publish(stored, clock);
    const thereOf = () => many.filter(({ name }) => zones.get('a.test')?.node(name) !== undefined).length;
    const seen = new Set<number>();
    reads.length = 0;
    let passed = false;
    const passing = clock.advance(1_000).then(() => (passed = true));
    while (!passed) {
      seen.add(thereOf());
      await new Promise((resolve) => setImmediate(resolve));
    }
    await passing;
    // All of it has become visible when the call that moved the clock returns.
    expect([thereOf(), published(), seen.size > 5]).toEqual([1_000, 1_000, true]);
    // None of the parts reads the whole zone, although it begins without names.
    expect(reads).not.toContain('all of a.test');
    stop();
  });

  it('skip records that this version cannot read, and keep the rest', () => {
    const broken = { ...a('broken.a.test'), value: 'not an address' };
    const { stored } = storedIn({ 'a.test': [broken, { ...a('later.a.test'), type: 'SVCB' }, a('good.a.test')] });
    const { zones, stop } = publish(stored, createFakeClock());
    const found = ['broken', 'later', 'good'].filter((name) => zones.get('a.test')?.node(`${name}.a.test`));
    expect(found).toEqual(['good']);
    stop();
  });
});
