import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'vitest';
import { demoTest as it } from '../../../support/engine-test.ts';
import type { ClockMove } from '../../../../main/contract/status.ts';
import { startEngine, track, type Engine } from '../../../support/engine.ts';

const move = async (engine: Engine, procedure: string, input?: unknown) =>
  ((await engine.call(procedure, input)) as ClockMove).happened;

it('moving the clock reports what fell due in between', async ({ engine, call, api }) => {
  await call('clock.freeze');
  await api();
  await api({ key: null });
  await call('settings.update', { propagation: 'PT1H' });
  await call('zones.create', { name: 'acme.test' });
  await call('records.put', { zone: 'acme.test', name: '@', type: 'TXT', value: 'hello' });
  expect(await move(engine, 'clock.advance', { by: 'PT1M' })).toEqual(['2 per-minute limits have reset.']);
  expect(await move(engine, 'clock.advance', { by: 'PT59M' })).toEqual([
    'The certificate of happypaws.example (project Happy Paws) failed.',
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

it('a move that can not be stored is refused and has not happened', async ({ engine, call }) => {
  await call('clock.freeze');
  const before = await call('clock.get');
  const other = new Sqlite(join(engine.dataDir, 'vivarium.db'));
  track(() => void other.close());
  other.exec('BEGIN IMMEDIATE');
  const refused = { code: 'unavailable', message: expect.stringContaining('this change was not stored') };
  await expect(call('clock.advance', { by: 'P2D' })).rejects.toMatchObject(refused);
  await expect(call('clock.resume')).rejects.toMatchObject(refused);
  const after = await call('clock.get');
  expect({ ...after, realNow: '', offset: '' }).toEqual({ ...(before as ClockMove), realNow: '', offset: '' });
  other.exec('ROLLBACK');
  expect(await move(engine, 'clock.advance', { by: 'P2D' })).toContain('3 domains were checked again.');
});

it.for(['2020-01-01', '2040-01-01'])(
  'a reset from another time from %s keeps trying for a pending certificate',
  async (to, { call }) => {
    const certificate = async () => (await call('domains.get', { hostname: 'happypaws.example' })).certificate;
    expect(await certificate()).toMatchObject({ state: 'pending' });
    await call('clock.set', { to });
    await call('clock.reset');
    expect(await certificate()).toMatchObject({ state: 'pending' });
  },
);

it('requests per second are reported for all projects, and for one', async () => {
  // Of its own: the restored world of the other tests keeps what was counted per second.
  const { call, ...engine } = await startEngine();
  const { id: projectId } = await engine.demo();
  await Promise.all([engine.api(), engine.api(), engine.api({ host: 'happy-paws.vivarium.localhost', key: null })]);
  const sumOf = async (input: { projectId?: string }) => {
    const { requests } = await call('status.rates', input);
    expect(requests).toHaveLength(300);
    return requests.reduce((sum, count) => sum + count);
  };
  // The current second is reported when it is over.
  await expect.poll(() => sumOf({})).toBe(3);
  expect(await sumOf({ projectId })).toBe(2);
  await expect(call('status.rates', { projectId: 'prj_gone' })).rejects.toMatchObject({ code: 'not_found' });
});
