import { Resolver } from 'node:dns/promises';
import { describe, expect } from 'vitest';
import { zoneTest } from '../../../support/dns/dns-zone-engine.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** The serial in the engine's SOA answer. */
async function serial(engine: Engine, zone = 'acme.test'): Promise<number> {
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${engine.app.runtime.dns.port}`]);
  return (await resolver.resolveSoa(zone)).serial;
}

const putA = (engine: Engine, name: string, value: string, zone = 'acme.test') =>
  engine.call('records.put', { zone, name, type: 'A', value });

/** The change of the serial during `work`. */
const stepOf =
  (engine: Engine) =>
  async (work: () => Promise<unknown>, zone?: string): Promise<number> => {
    const before = await serial(engine, zone);
    await work();
    return (await serial(engine, zone)) - before;
  };

const it = zoneTest.extend('step', ({ engine }) => stepOf(engine));

describe('a zone’s serial', () => {
  it('advances with every visible change, and with no other', async ({ call, put, load, records, step }) => {
    const steps = [
      await step(() => put('www', 'A', '192.0.2.1')),
      await step(() => put('www', 'A', '192.0.2.1')),
      await step(() => put('www', 'A', '192.0.2.2')),
      await step(async () => {
        const [first] = await records();
        await call('records.remove', { id: first?.id });
      }),
      await step(() => load('a A 192.0.2.1\nb A 192.0.2.2')),
      await step(() => call('zones.create', { name: 'other.test' })),
    ];
    expect(steps).toEqual([1, 0, 1, 1, 1, 0]);
  });

  it('waits for propagation', async ({ call, put, step }) => {
    await call('settings.update', { propagation: 'PT1H' });
    await call('clock.freeze');
    const steps = [
      await step(() => put('www', 'A', '192.0.2.1')),
      await step(() => call('clock.advance', { by: 'PT59M59S' })),
      await step(() => call('clock.advance', { by: 'PT1S' })),
      await step(() => call('clock.advance', { by: 'PT48H' })),
      await step(() => call('clock.reset')),
    ];
    expect(steps).toEqual([0, 0, 1, 0, 0]);
  });

  it('is the same after a restart, and never repeats an earlier one, even of a removed zone', async () => {
    const dataDir = temporaryFolder();
    const first = await startEngine({ empty: true, dataDir });
    await first.call('zones.create', { name: 'acme.test' });
    await putA(first, 'www', '192.0.2.1');
    const before = { acme: await serial(first), platform: await serial(first, 'vivarium.localhost') };
    await first.stop();
    const second = await startEngine({ empty: true, dataDir });
    expect({ acme: await serial(second), platform: await serial(second, 'vivarium.localhost') }).toEqual(before);
    expect(await stepOf(second)(() => putA(second, 'www', '192.0.2.2'))).toBeGreaterThan(0);
    const last = await serial(second);
    await second.call('zones.remove', { name: 'acme.test' });
    await second.call('zones.create', { name: 'acme.test' });
    expect(await serial(second)).toBeGreaterThan(last);
  });

  it('is that of a zone file, and counts on from there', async () => {
    const dataDir = temporaryFolder();
    const engine = await startEngine({ empty: true, dataDir });
    await engine.call('zones.create', { name: 'acme.test' });
    const soa = (number: number): string => `@ SOA ns1.acme.test. h.acme.test. ${number} 1 2 3 30\n`;
    const many = Array.from({ length: 200 }, (_, index) => `h${index} A 192.0.2.1\n`).join('');
    const load = (text: string) => engine.call('zones.import', { name: 'acme.test', text });
    await load(`${soa(2_026_010_101)}@ NS ns1.acme.test.\n${many}`);
    expect(await serial(engine)).toBe(2_026_010_101);
    expect((await engine.call('zones.export', { name: 'acme.test' })).text).toContain('SOA ns1 h 2026010101 1 2 3 30');
    await putA(engine, 'www', '192.0.2.1');
    expect(await serial(engine)).toBe(2_026_010_102);
    // The zone has moved on; a later serial counts, an earlier one does not (RFC 1982).
    for (const [given, then] of [
      [2_026_010_101, 2_026_010_102],
      [2_026_010_201, 2_026_010_201],
      [4_000_000_000, 4_000_000_000],
      [2_026_010_201, 4_000_000_000],
      [4_294_967_295, 4_294_967_295],
    ] as const) {
      await load(soa(given));
      expect(await serial(engine)).toBe(then);
    }
    await engine.call('zones.create', { name: 'next.test' });
    await putA(engine, 'www', '192.0.2.2');
    expect([await serial(engine), await serial(engine, 'next.test')]).toEqual([1, 1]);
    await engine.stop();
    expect(await serial(await startEngine({ empty: true, dataDir }))).toBe(1);
  });

  it('of a new zone is that of its file or vivarium.yaml, even if another zone is ahead', async ({ engine }) => {
    const { call, load } = engine;
    await load('@ SOA ns1 h 2026010101 1 2 3 30');
    const zones = { 'old.test': '@ SOA ns1 h 9 1 2 3 30\nwww A 192.0.2.1\n' };
    const applied = { text: JSON.stringify({ vivarium: 1, zones }) };
    await call('world.apply', applied);
    expect(await serial(engine, 'old.test')).toBe(9);
    expect((await call('world.diff', applied)).changes).toEqual([]);
    await putA(engine, 'new', '192.0.2.1', 'old.test');
    expect([await serial(engine, 'old.test'), await serial(engine)]).toEqual([10, 2_026_010_101]);
    // A zone that is made again is later than both.
    await call('zones.remove', { name: 'acme.test' });
    await call('zones.create', { name: 'acme.test' });
    expect(await serial(engine)).toBeGreaterThan(2_026_010_101);
  });

  it('advances with the hostnames in the platform’s zone', async ({ call, step }) => {
    const project = { id: '' };
    const steps = [
      await step(
        async () => Object.assign(project, await call('projects.create', { name: 'Shop' })),
        'vivarium.localhost',
      ),
      await step(() => call('keys.create', { projectId: project.id }), 'vivarium.localhost'),
      await step(() => call('projects.remove', { projectId: project.id }), 'vivarium.localhost'),
    ];
    // Other zones took serials in between.
    expect(steps.map((by) => by > 0)).toEqual([true, false, true]);
  });
});
