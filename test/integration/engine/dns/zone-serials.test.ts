import { Resolver } from 'node:dns/promises';
import { describe, expect, it } from 'vitest';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** The serial in the engine's SOA answer. */
async function serial(engine: Engine, zone = 'acme.test'): Promise<number> {
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${engine.app.runtime.dns.port}`]);
  return (await resolver.resolveSoa(zone)).serial;
}

const put = (engine: Engine, name: string, value: string, zone = 'acme.test') =>
  engine.call('records.put', { zone, name, type: 'A', value });

async function engineWithZone(options: { dataDir?: string } = {}): Promise<Engine> {
  const engine = await startEngine({ empty: true, ...options });
  await engine.call('zones.create', { name: 'acme.test' });
  return engine;
}

/** The change of the serial during `work`. */
async function step(engine: Engine, work: () => Promise<unknown>, zone?: string): Promise<number> {
  const before = await serial(engine, zone);
  await work();
  return (await serial(engine, zone)) - before;
}

describe('a zone’s serial', () => {
  it('advances with every visible change, and with no other', async () => {
    const engine = await engineWithZone();
    const steps = [
      await step(engine, () => put(engine, 'www', '192.0.2.1')),
      await step(engine, () => put(engine, 'www', '192.0.2.1')),
      await step(engine, () => put(engine, 'www', '192.0.2.2')),
      await step(engine, async () => {
        const [first] = (await engine.call('records.list', { zone: 'acme.test' }));
        await engine.call('records.remove', { id: first?.id });
      }),
      await step(engine, () =>
        engine.call('zones.import', { name: 'acme.test', text: 'a A 192.0.2.1\nb A 192.0.2.2' }),
      ),
      await step(engine, () => engine.call('zones.create', { name: 'other.test' })),
    ];
    expect(steps).toEqual([1, 0, 1, 1, 1, 0]);
  });

  it('waits for propagation', async () => {
    const engine = await engineWithZone();
    await engine.call('settings.update', { propagation: 'PT1H' });
    await engine.call('clock.freeze');
    const steps = [
      await step(engine, () => put(engine, 'www', '192.0.2.1')),
      await step(engine, () => engine.call('clock.advance', { by: 'PT59M59S' })),
      await step(engine, () => engine.call('clock.advance', { by: 'PT1S' })),
      await step(engine, () => engine.call('clock.advance', { by: 'PT48H' })),
      await step(engine, () => engine.call('clock.reset')),
    ];
    expect(steps).toEqual([0, 0, 1, 0, 0]);
  });

  it('is the same after a restart, and never repeats an earlier one, even of a removed zone', async () => {
    const dataDir = temporaryFolder();
    const first = await engineWithZone({ dataDir });
    await put(first, 'www', '192.0.2.1');
    const before = { acme: await serial(first), platform: await serial(first, 'vivarium.localhost') };
    await first.stop();
    const second = await startEngine({ empty: true, dataDir });
    expect({ acme: await serial(second), platform: await serial(second, 'vivarium.localhost') }).toEqual(before);
    expect(await step(second, () => put(second, 'www', '192.0.2.2'))).toBeGreaterThan(0);
    const last = await serial(second);
    await second.call('zones.remove', { name: 'acme.test' });
    await second.call('zones.create', { name: 'acme.test' });
    expect(await serial(second)).toBeGreaterThan(last);
  });

  it('is that of a zone file, and counts on from there', async () => {
    const dataDir = temporaryFolder();
    const engine = await engineWithZone({ dataDir });
    const soa = (number: number): string => `@ SOA ns1.acme.test. h.acme.test. ${number} 1 2 3 30\n`;
    const many = Array.from({ length: 200 }, (_, index) => `h${index} A 192.0.2.1\n`).join('');
    const load = (text: string) => engine.call('zones.import', { name: 'acme.test', text });
    await load(`${soa(2_026_010_101)}@ NS ns1.acme.test.\n${many}`);
    expect(await serial(engine)).toBe(2_026_010_101);
    expect(((await engine.call('zones.export', { name: 'acme.test' }))).text).toContain(
      'SOA ns1 h 2026010101 1 2 3 30',
    );
    await put(engine, 'www', '192.0.2.1');
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
    await put(engine, 'www', '192.0.2.2');
    expect(await serial(engine)).toBe(1);
    await engine.stop();
    expect(await serial(await startEngine({ empty: true, dataDir }))).toBe(1);
  });

  it('of a new zone is that of its file, even if another zone is ahead, and of a zone in a vivarium.yaml too', async () => {
    const engine = await engineWithZone();
    await engine.call('zones.import', { name: 'acme.test', text: '@ SOA ns1 h 2026010101 1 2 3 30' });
    const zones = { 'old.test': '@ SOA ns1 h 9 1 2 3 30\nwww A 192.0.2.1\n' };
    const applied = { text: JSON.stringify({ vivarium: 1, zones }) };
    await engine.call('world.apply', applied);
    expect(await serial(engine, 'old.test')).toBe(9);
    expect(((await engine.call('world.diff', applied))).changes).toEqual([]);
    await put(engine, 'new', '192.0.2.1', 'old.test');
    expect([await serial(engine, 'old.test'), await serial(engine)]).toEqual([10, 2_026_010_101]);
    // A zone that is made again is later than both.
    await engine.call('zones.remove', { name: 'acme.test' });
    await engine.call('zones.create', { name: 'acme.test' });
    expect(await serial(engine)).toBeGreaterThan(2_026_010_101);
  });

  it('advances with the hostnames in the platform’s zone', async () => {
    const engine = await engineWithZone();
    const project = { id: '' };
    const steps = [
      await step(
        engine,
        async () => Object.assign(project, await engine.call('projects.create', { name: 'Shop' })),
        'vivarium.localhost',
      ),
      await step(engine, () => engine.call('keys.create', { projectId: project.id }), 'vivarium.localhost'),
      await step(engine, () => engine.call('projects.remove', { projectId: project.id }), 'vivarium.localhost'),
    ];
    // Other zones took serials in between.
    expect(steps.map((by) => by > 0)).toEqual([true, false, true]);
  });
});
