// @vitest-environment ./test/support/page-environment.ts
import { expect, it } from 'vitest';
import type { LanStatus } from '../../../../../main/contract/reach.ts';
import { OtherDevices } from '../../../../../renderer/shared/session/other-devices.svelte.ts';
import { Toasts } from '../../../../../renderer/shared/session/toasts.svelte.ts';
import { fakeChanges, fakeClient } from '../../../../support/fake-client.ts';
import { createFakeClock, settle } from '../../../../support/fake-clock.ts';

const choice = (name: string, automatic: boolean) => ({ interface: name, address: '10.0.0.1', automatic });
const OFF: LanStatus = {
  ...{ state: 'off', keep: false, hostnames: [], hostnamesTotal: 0 },
  choices: [choice('docker0', false), choice('en0', true)],
};

async function setUp(first: LanStatus = OFF) {
  const time = createFakeClock();
  const changes = fakeChanges();
  let status = first;
  const fake = fakeClient({
    'lan.status': () => status,
    'lan.start': (input: { interface: string; keep: boolean }) =>
      (status = { ...OFF, ...input, state: 'on', wanted: input.interface }),
    'lan.stop': () => (status = OFF),
  });
  const toasts = new Toasts(time);
  const devices = new OtherDevices({ client: fake.client, changes, time, toasts });
  await settle();
  /** The engine's calls other than queries. */
  const told = () => fake.calls.filter(({ procedure }) => procedure !== 'lan.status');
  const become = async (next: LanStatus) => {
    status = next;
    changes.tell({ type: 'lan.changed', at: '2026-11-20T09:00:00.000Z' });
    await time.pass(1_000);
  };
  return { devices, told, toasts, become };
}

it('sharing offers the likely network first, and the chosen one while it exists', async () => {
  const { devices, become } = await setUp();
  expect(devices.chosen).toBe('en0');
  devices.chosen = 'docker0';
  expect(devices.chosen).toBe('docker0');
  await become({ ...OFF, choices: [choice('en1', false)] });
  expect(devices.chosen).toBe('en1');
});

it('sharing is turned on as chosen, and undoing its end restores the same', async () => {
  const { devices, told, toasts, become } = await setUp();
  devices.keep = true;
  expect(told()).toEqual([]);
  await devices.start();
  await become({ ...OFF, state: 'on', keep: true, wanted: 'en0' });
  await devices.stop();
  toasts.undoLast();
  await settle();
  expect(told()).toEqual([
    { procedure: 'lan.start', input: { interface: 'en0', keep: true } },
    { procedure: 'lan.stop', input: {} },
    { procedure: 'lan.start', input: { interface: 'en0', keep: true } },
  ]);
});

it('while sharing is on, the switch for the next start applies at once', async () => {
  const { devices, told } = await setUp({ ...OFF, state: 'waiting', wanted: 'en7', problem: 'It is gone.' });
  devices.keep = true;
  await settle();
  expect(told()).toEqual([{ procedure: 'lan.start', input: { interface: 'en7', keep: true } }]);
});
