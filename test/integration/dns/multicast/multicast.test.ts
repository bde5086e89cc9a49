import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { beforeEach, expect, test, type TestContext } from 'vitest';
import { track } from '../../../support/engine.ts';
import {
  HOST_ADDRESS,
  INTERFACES,
  IPV6_ADDRESSES,
  missingForTwoMachines,
  twoMachines,
  useIpv6,
  type TwoMachines,
} from '../../../support/two-machines.ts';

const reason = missingForTwoMachines();
beforeEach(({ skip }: TestContext) => skip(reason !== null, reason ?? ''));

const IMPORTS = `
import { createClock } from '${import.meta.dirname}/../../../../main/base/clock.ts';
import { announceHost, MULTICAST_PORT } from '${import.meta.dirname}/../../../../main/dns/multicast/multicast.ts';
import { announcement, readMulticast } from '${import.meta.dirname}/../../../../main/dns/multicast/multicast-message.ts';
import { createFakeClock } from '${import.meta.dirname}/../../../support/fake-clock.ts';
`;

/** Announces until it is ended, and prints each name, or why there is none. A line of input lets that much time pass. */
const announcing = (
  where: { interface: string; address: string },
  clock: 'createClock()' | 'createFakeClock()',
  admits = '() => true',
): string => `${IMPORTS}
const clock = ${clock};
const announcer = announceHost({
  ...{ label: 'vivarium', ...${JSON.stringify(where)}, port: 80, clock, admits: ${admits} },
  log: { info() {}, warn: (message) => console.log(message) },
  onChanged: () => announcer.name() !== null && console.log(announcer.name()),
});
process.stdin.on('data', async (milliseconds) => {
  await clock.pass(Number(milliseconds));
  console.log('passed');
});
setInterval(() => undefined, 1000);
`;

/** Listens on the device, and runs `onMessage` for each message. */
const listening = (onMessage: string): string => `${IMPORTS}
import { createSocket } from 'node:dgram';
const socket = createSocket({ type: 'udp4', reuseAddr: true });
socket.on('message', (message) => {
  const [question] = readMulticast(message)?.questions ?? [];
  ${onMessage}
});
socket.bind(MULTICAST_PORT, () => {
  socket.addMembership('224.0.0.251', '10.77.0.2');
  socket.setMulticastInterface('10.77.0.2');
  console.log('ready');
});
`;

/** Claims every name that is probed. */
const claiming = listening(`
  if (question === undefined) return;
  const label = question.name.split('.')[0];
  socket.send(announcement({ label, address: '10.77.0.2', port: 80 }), MULTICAST_PORT, '224.0.0.251');
`);

/** Runs a script on one of the machines, and waits for its first line of output. */
async function start(machines: TwoMachines, machine: 'host' | 'device', script: string) {
  const [enter = '', ...words] = machines.on(machine);
  const child = spawn(enter, [...words, process.execPath, '--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  track(() => end(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  return { child, first: await next(), next };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'close');
}

const ON_IPV4 = { host: HOST_ADDRESS, device: '10.77.0.2' };

test.each([
  ['IPv4', ON_IPV4],
  ['IPv6', IPV6_ADDRESSES],
])('a second machine in the network announces another name, over %s', async (_family, addresses) => {
  const machines = await twoMachines();
  useIpv6(machines);
  const at = (machine: 'host' | 'device') =>
    announcing({ interface: INTERFACES[machine], address: addresses[machine] }, 'createClock()');
  const device = await start(machines, 'device', at('device'));
  expect(device.first).toBe('vivarium.local');
  const host = await start(machines, 'host', at('host'));
  expect(host.first).toBe('vivarium-2.local');
});

test('a name is announced twice (RFC 6762 §8.3)', async () => {
  const machines = await twoMachines();
  const device = await start(machines, 'device', listening("if (question === undefined) console.log('announced');"));
  await start(machines, 'host', announcing({ interface: INTERFACES.host, address: HOST_ADDRESS }, 'createClock()'));
  expect([await device.next(), await device.next()]).toEqual(['announced', 'announced']);
});

/** Asks for the address of vivarium.local twice, not from multicast DNS's port, and prints the ids of the answers. */
const asking = `${IMPORTS}
import { createSocket } from 'node:dgram';
const socket = createSocket('udp4').bind(() => {
  socket.setMulticastInterface('10.77.0.2');
  for (const id of ['0001', '0002']) {
    const query = id + '00000001000000000000' + '08766976617269756d056c6f63616c00' + '00010001';
    socket.send(Buffer.from(query, 'hex'), MULTICAST_PORT, '224.0.0.251');
  }
});
socket.on('message', (message) => console.log(message.readUInt16BE()));
`;

test('an address that has asked too often gets no answer', async () => {
  const machines = await twoMachines();
  const where = { interface: INTERFACES.host, address: HOST_ADDRESS };
  await start(machines, 'host', announcing(where, 'createClock()', '((asked) => () => asked++ > 0)(0)'));
  expect((await start(machines, 'device', asking)).first).toBe('2');
});

test('names that another machine claimed are tried again a minute later', async () => {
  const machines = await twoMachines();
  const claimant = await start(machines, 'device', claiming);
  const { first, child, next } = await start(
    machines,
    'host',
    announcing({ interface: INTERFACES.host, address: HOST_ADDRESS }, 'createFakeClock()'),
  );
  expect(first).toBe('No name is free to announce by multicast DNS');
  await end(claimant.child);
  child.stdin.write('59999\n');
  expect(await next()).toBe('passed');
  child.stdin.write('751\n');
  expect(await next()).toBe('vivarium.local');
});
