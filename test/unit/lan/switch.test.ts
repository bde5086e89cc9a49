import { expect, test } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { VivariumError } from '../../../main/contract/errors.ts';
import type { Interfaces, Place } from '../../../main/lan/interfaces.ts';
import { createSwitch, CHECK_MS } from '../../../main/lan/switch.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

function setUp(kept: string | null = null) {
  const clock = createFakeClock();
  const found: Interfaces = { en0: [{ address: '10.0.0.1', internal: false }] };
  const world = { found, taken: false, closes: true, kept };
  const log: string[] = [];
  const lan = createSwitch({
    clock,
    log: silentLog,
    readInterfaces: () => world.found,
    open({ address }: Place) {
      if (world.taken) return Promise.reject(new VivariumError('conflict', 'Port 8080 is taken.'));
      log.push(`open ${address}`);
      return Promise.resolve({
        close: () =>
          world.closes ? Promise.resolve(void log.push(`close ${address}`)) : Promise.reject(new Error('It is gone.')),
      });
    },
    kept: { get: () => world.kept, set: (wanted) => (world.kept = wanted) },
    onChanged: () => undefined,
  });
  return { lan, world, log, look: () => clock.pass(CHECK_MS) };
}

test('sharing follows the interface to another address, away and back, and closes what it opened', async () => {
  const { lan, world, log, look } = setUp();
  await lan.start('', false);
  await look();
  expect(log).toEqual(['open 10.0.0.1']);
  world.found = { en0: [{ address: '10.0.0.2', internal: false }] };
  await look();
  expect(lan.state()).toMatchObject({ kind: 'on', wanted: 'en0', place: { address: '10.0.0.2' } });
  world.found = {};
  await look();
  expect(lan.state()).toMatchObject({ kind: 'waiting', wanted: 'en0' });
  world.found = { en0: [{ address: '10.0.0.3', internal: false }] };
  world.taken = true;
  await look();
  expect(lan.state()).toMatchObject({ kind: 'waiting', problem: 'Port 8080 is taken.' });
  world.taken = false;
  await look();
  await lan.stop();
  await look();
  expect(log).toEqual([
    ...['open 10.0.0.1', 'close 10.0.0.1', 'open 10.0.0.2', 'close 10.0.0.2', 'open 10.0.0.3', 'close 10.0.0.3'],
  ]);
  expect(lan.state()).toEqual({ kind: 'off' });
});

test('sharing follows the interface even if a socket cannot be closed, because the interface is gone', async () => {
  const { lan, world, look } = setUp();
  await lan.start('en0');
  world.closes = false;
  world.found = { en0: [{ address: '10.0.0.2', internal: false }] };
  await look();
  expect(lan.state()).toMatchObject({ kind: 'on', place: { address: '10.0.0.2' } });
});

test('a failed change leaves everything as it was', async () => {
  const { lan, world, log } = setUp();
  await lan.start('en0', true);
  world.found = { ...world.found, en1: [{ address: '10.9.0.1', internal: false }] };
  world.taken = true;
  await expect(lan.start('en1', false)).rejects.toMatchObject({ code: 'conflict' });
  await expect(lan.start('en7', false)).rejects.toMatchObject({ code: 'not_found' });
  expect([lan.state(), log, world.kept]).toMatchObject([{ place: { interface: 'en0' } }, ['open 10.0.0.1'], 'en0']);
  world.taken = false;
  await lan.start('en1');
  expect([log, world.kept]).toEqual([['open 10.0.0.1', 'open 10.9.0.1', 'close 10.0.0.1'], 'en0']);
});

test('sharing can be kept, or not, while it waits for its interface', async () => {
  const { lan, world, look } = setUp('en1');
  await lan.resume();
  await lan.start('en1', false);
  expect([lan.state().kind, world.kept]).toEqual(['waiting', null]);
  world.found = { en1: [{ address: '10.9.0.1', internal: false }] };
  await look();
  expect(lan.state().kind).toBe('on');
});

test.each<[string | null, string]>([
  [null, 'off'],
  ['en0', 'on'],
  ['en1', 'waiting'],
])('a start with %j kept is %s', async (kept, kind) => {
  const { lan, world } = setUp(kept);
  await lan.resume();
  expect(lan.state().kind).toBe(kind);
  await lan.close();
  expect([lan.state(), world.kept]).toEqual([{ kind: 'off' }, kept]);
});
