import { Resolver } from 'node:dns/promises';
import { describe, expect, it } from 'vitest';
import type { RecordInfo } from '../../../main/contract/zones.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The serial in the engine's SOA answer. */
async function serial(engine: Engine, zone = 'acme.test'): Promise<number> {
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${engine.app.runtime.dns.port}`]);
  return (await resolver.resolveSoa(zone)).serial;
}

const put = (engine: Engine, name: string, value: string, zone = 'acme.test') =>
  engine.call('records.put', { zone, name, type: 'A', value }) as Promise<RecordInfo>;

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
        const [first] = (await engine.call('records.list', { zone: 'acme.test' })) as RecordInfo[];
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
