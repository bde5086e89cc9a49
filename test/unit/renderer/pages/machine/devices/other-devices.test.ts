// @vitest-environment ./test/support/page-environment.ts
import { expect, it } from 'vitest';
import type { LanStatus } from '../../../../../../main/contract/reach.ts';
import { OtherDevices } from '../../../../../../renderer/pages/machine/devices/other-devices.svelte.ts';
import { settle } from '../../../../../support/fake-clock.ts';
import { pageParts } from '../../../../../support/page/page-parts.ts';

const choice = (name: string, automatic: boolean) => ({ interface: name, address: '10.0.0.1', automatic });
const OFF: LanStatus = {
  ...{ state: 'off', keep: false, hostnames: [], hostnamesTotal: 0 },
  choices: [choice('docker0', false), choice('en0', true)],
};

async function setUp(first: LanStatus = OFF) {
  let status = first;
  const parts = pageParts({
    'lan.status': () => status,
    'lan.start': (input: { interface: string; keep: boolean }) =>
      (status = { ...OFF, ...input, state: 'on', wanted: input.interface }),
    'lan.stop': () => (status = OFF),
  });
  const devices = new OtherDevices({ ...parts.source, toasts: parts.toasts });
  await settle();
  /** The engine's calls other than queries. */
  const told = () => parts.calls.filter(({ procedure }) => procedure !== 'lan.status');
  const become = (next: LanStatus) => {
    status = next;
    return parts.tell('lan.changed');
  };
  return { ...parts, devices, told, become };
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
  const { devices, told, undo, become } = await setUp();
  devices.keep = true;
  expect(told()).toEqual([]);
  await devices.start();
  await become({ ...OFF, state: 'on', keep: true, wanted: 'en0' });
  await devices.stop();
  await undo();
  const started = { procedure: 'lan.start', input: { interface: 'en0', keep: true } };
  expect(told()).toEqual([started, { procedure: 'lan.stop', input: {} }, started]);
});

it('while sharing is on, the switch for the next start applies at once', async () => {
  const { devices, told } = await setUp({ ...OFF, state: 'waiting', wanted: 'en7', problem: 'It is gone.' });
  devices.keep = true;
  await settle();
  expect(told()).toEqual([{ procedure: 'lan.start', input: { interface: 'en7', keep: true } }]);
});
