// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { SnapshotInfo } from '../../../../../main/contract/snapshots.ts';
import { BEFORE_RESTORE, Snapshots } from '../../../../../renderer/app/clock/snapshots.svelte.ts';
import { type Answers, refuses } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';
import { pageParts } from '../../../../support/page/page-parts.ts';

const snapshot = (name: string, more: Partial<SnapshotInfo> = {}): SnapshotInfo => ({
  name,
  createdAt: '2026-11-22T12:00:00.000Z',
  bytes: 200_000,
  ...more,
});

async function setUp(answers: Answers = {}) {
  const parts = pageParts({
    'snapshots.list': () => [
      snapshot('broken', { fault: 'it is cut off' }),
      snapshot(BEFORE_RESTORE),
      snapshot('demo'),
      snapshot('older', { requests: 12 }),
    ],
    'snapshots.save': ({ name }: { name: string }) => snapshot(name),
    'snapshots.restore': ({ name }: { name: string }) => snapshot(name),
    'snapshots.remove': ({ name }: { name: string }) => snapshot(name),
    ...answers,
  });
  const snapshots = new Snapshots({ ...parts.source, toasts: parts.toasts });
  await settle();
  const asked = () => parts.calls.slice(1).map(({ procedure, input }) => [procedure, input]);
  return { ...parts, snapshots, asked };
}

describe('restoring a world', () => {
  it('keeps the present world, which Undo restores', async () => {
    const { snapshots, undo, said, asked } = await setUp();
    expect(snapshots.newest?.name).toBe('demo');
    const restoring = snapshots.restore('demo');
    expect(snapshots.restoring).toBe(true);
    await snapshots.restore('older');
    await restoring;
    expect(snapshots.restoring).toBe(false);
    expect(asked()).toEqual([['snapshots.restore', { name: 'demo', keep: BEFORE_RESTORE }]]);
    await undo();
    expect(asked().at(-1)).toEqual(['snapshots.restore', { name: BEFORE_RESTORE }]);
    expect(said()).toEqual(['The world is as it was before.']);
  });

  it('to the world before the last restoration does not overwrite it first', async () => {
    const { snapshots, toasts, asked } = await setUp();
    await snapshots.restore(BEFORE_RESTORE);
    expect(asked()).toEqual([['snapshots.restore', { name: BEFORE_RESTORE }]]);
    expect(toasts.canUndo).toBe(false);
  });

  it('names what it ended', async () => {
    const ended = [{ entry: 'drill', drill: 'hammering' }, { entry: 'dns.servfail' }, { entry: 'http.status' }];
    const restore = ({ name }: { name: string }) => ({ ...snapshot(name), ended });
    const { snapshots, toasts } = await setUp({ 'snapshots.restore': restore });
    await snapshots.restore('demo');
    expect(toasts.list[0]?.text).toBe('The world “demo” is restored. Ended: the drill hammering and 2 breaks.');
  });

  it('tells why it failed, with nothing to undo', async () => {
    const { snapshots, toasts } = await setUp({ 'snapshots.restore': () => Promise.reject(new Error('no')) });
    await snapshots.restore('demo');
    expect([snapshots.restoring, toasts.canUndo]).toEqual([false, false]);
    expect(toasts.list[0]?.text).toMatch(/^The world was not restored\./);
  });
});

it('saving a snapshot is refused no longer than the world is broken', async () => {
  const { snapshots, tell } = await setUp({ 'snapshots.save': refuses('conflict', 'The world is broken on purpose.') });
  snapshots.saving.values.name = 'demo';
  await snapshots.save();
  expect(snapshots.saving.fault('name')).toContain('broken on purpose');
  await tell('breaks.changed');
  expect([snapshots.saving.fault('name'), snapshots.saving.values.name]).toEqual([undefined, 'demo']);
});

it('saving a snapshot replaces only one whose name was typed', async () => {
  const { snapshots, asked } = await setUp();
  for (const name of ['demo', 'new']) {
    snapshots.saving.values.name = name;
    snapshots.saving.values.traffic = name === 'new';
    expect(snapshots.replaced?.name).toBe(name === 'demo' ? 'demo' : undefined);
    await snapshots.save();
    expect(asked().at(-1)).toEqual(['snapshots.save', { name, force: name === 'demo', traffic: name === 'new' }]);
    expect(snapshots.saving.values).toEqual({ name: '', traffic: false });
  }
});
