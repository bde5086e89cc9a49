import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { track } from './engine.ts';

/** Two machines in one network: network namespaces with a cable between their interfaces. */
export interface TwoMachines {
  /** The command prefix for the machine with Vivarium, or for the other device. */
  on(machine: 'host' | 'device'): string[];
  /** Runs a command there to its end, at most 20 s. */
  run(machine: 'host' | 'device', command: string, ...args: string[]): { code: number | null; stdout: string };
}

/** The two ends of the cable. */
export const INTERFACES = { host: 'lan0', device: 'dev0' } as const;

export const HOST_INTERFACE = INTERFACES.host;
export const HOST_ADDRESS = '10.77.0.1';

/** Their addresses after `useIpv6`. */
export const IPV6_ADDRESSES = { host: 'fd00:77::1', device: 'fd00:77::2' } as const;

const SET_UP = `set -e
ip link set lo up
unshare -n sleep 600 &
device=$!
until [ "$(readlink /proc/$device/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.02; done
ip link add ${HOST_INTERFACE} type veth peer name dev0 netns $device
ip addr add ${HOST_ADDRESS}/24 dev ${HOST_INTERFACE}
ip link set ${HOST_INTERFACE} up
nsenter -t $device -n sh -c 'ip link set lo up; ip addr add 10.77.0.2/24 dev dev0; ip link set dev0 up; ip route add default via ${HOST_ADDRESS}'
echo "$$ $device"
read end || true
kill $device
`;

/** Why this machine cannot simulate two others; null if it can. */
export function missingForTwoMachines(): string | null {
  if (process.platform !== 'linux') return 'network namespaces are Linux’s';
  for (const program of ['ip', 'nsenter', 'curl', 'dig']) {
    if (spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0) return `${program} is not installed`;
  }
  const cable = 'ip link add lan0 type veth peer name dev0';
  return spawnSync('unshare', ['-rn', 'sh', '-c', cable]).status === 0 ? null : 'namespaces are not allowed here';
}

/** Both, until the end of the test. */
export async function twoMachines(): Promise<TwoMachines> {
  const child = spawn('unshare', ['-rn', 'sh', '-c', SET_UP], { stdio: ['pipe', 'pipe', 'inherit'] });
  track(() => end(child));
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const [host = '', device = ''] = line.trim().split(' ');
  const on = (machine: 'host' | 'device'): string[] => [
    ...['nsenter', '-t', machine === 'host' ? host : device, '-U', '-n', '--preserve-credentials'],
  ];
  return {
    on,
    run(machine, command, ...args) {
      const [enter = '', ...words] = on(machine);
      const { status, stdout } = spawnSync(enter, [...words, command, ...args], { encoding: 'utf8', timeout: 20_000 });
      return { code: status, stdout };
    },
  };
}

/** Adds IPv6 addresses, usable at once (without duplicate address detection). */
export function useIpv6(machines: TwoMachines): void {
  for (const machine of ['host', 'device'] as const) {
    machines.run(machine, 'ip', 'addr', 'add', `${IPV6_ADDRESSES[machine]}/64`, 'dev', INTERFACES[machine], 'nodad');
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.stdin?.end();
  await once(child, 'close');
}
