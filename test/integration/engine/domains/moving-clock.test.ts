import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { ClockMove } from '../../../../main/contract/status.ts';
import type { Domain } from '../../../../main/contract/domains.ts';
import { startEngine, track, type Engine } from '../../../support/engine.ts';

const move = async (engine: Engine, procedure: string, input?: unknown) =>
  ((await engine.call(procedure, input)) as ClockMove).happened;

describe('moving the clock', () => {
  it('reports what fell due in between', async () => {
    const engine = await startEngine();
    await engine.call('clock.freeze');
    await engine.api();
    await engine.api({ key: null });
    await engine.call('settings.update', { propagation: 'PT1H' });
    await engine.call('zones.create', { name: 'acme.test' });
    await engine.call('records.put', { zone: 'acme.test', name: '@', type: 'TXT', value: 'hello' });
    expect(await move(engine, 'clock.advance', { by: 'PT1M' })).toEqual(['2 per-minute limits have reset.']);
    expect(await move(engine, 'clock.advance', { by: 'PT59M' })).toEqual([
      'The certificate of happypaws.example (project Happy Paws) was given up.',
      '1 DNS change is visible now.',
    ]);
    expect(await move(engine, 'clock.advance', { by: 'PT48H' })).toEqual([
      '3 domains were checked again.',
      '2 daily limits have reset.',
    ]);
    expect(await move(engine, 'clock.advance', { by: 'P89D' })).toContain(
      'The certificate of www.happypaws.test (project Happy Paws) was renewed.',
    );
    expect(await move(engine, 'clock.set', { to: '2030-12-05T00:00:00Z' })).toContain(
      'GET /pets/{petId} is removed: it answers 410.',
    );
    expect(await move(engine, 'clock.reset')).toContain('GET /pets/{petId} answers again.');
  });
});

describe('a move that can not be stored', () => {
  it('is refused and has not happened', async () => {
    const engine = await startEngine();
    await engine.call('clock.freeze');
    const before = await engine.call('clock.get');
    const other = new Sqlite(join(engine.dataDir, 'vivarium.db'));
    track(() => void other.close());
    other.exec('BEGIN IMMEDIATE');
    const refused = { code: 'unavailable', message: expect.stringContaining('this change was not stored') as string };
    await expect(engine.call('clock.advance', { by: 'P2D' })).rejects.toMatchObject(refused);
    await expect(engine.call('clock.resume')).rejects.toMatchObject(refused);
    const after = (await engine.call('clock.get')) as ClockMove;
    expect({ ...after, realNow: '', offset: '' }).toEqual({ ...(before as ClockMove), realNow: '', offset: '' });
    other.exec('ROLLBACK');
    expect(await move(engine, 'clock.advance', { by: 'P2D' })).toContain('3 domains were checked again.');
  });
});

describe('a reset from another time', () => {
  it.each(['2020-01-01', '2040-01-01'])('from %s keeps trying for a pending certificate', async (to) => {
    const engine = await startEngine();
    const certificate = async () =>
      ((await engine.call('domains.get', { hostname: 'happypaws.example' })) as Domain).certificate;
    expect(await certificate()).toMatchObject({ state: 'pending' });
    await engine.call('clock.set', { to });
    await engine.call('clock.reset');
    expect(await certificate()).toMatchObject({ state: 'pending' });
  });
});

describe('requests per second', () => {
  it('are reported for all projects, and for one', async () => {
    const engine = await startEngine();
    const { id: projectId } = await engine.demo();
    await Promise.all([engine.api(), engine.api(), engine.api({ host: 'happy-paws.vivarium.localhost', key: null })]);
    const sumOf = async (input: { projectId?: string }) => {
      const { requests } = (await engine.call('status.rates', input)) as { requests: number[] };
      expect(requests).toHaveLength(300);
      return requests.reduce((sum, count) => sum + count);
    };
    // The current second is reported when it is over.
    await expect.poll(() => sumOf({})).toBe(3);
    expect(await sumOf({ projectId })).toBe(2);
    await expect(engine.call('status.rates', { projectId: 'prj_gone' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
