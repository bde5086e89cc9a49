import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DnsClient } from '../../main/dns/client/client.ts';
import { TYPE_CODES } from '../../main/dns/wire/record.ts';
import { findTool } from '../support/tools.ts';
import { freePort } from './harness.ts';

/** Another authoritative server. It serves `NAME.zone` of the folder for each zone. */
interface DnsPeer {
  name: string;
  program: string;
  debianPackage: string;
  args: (file: string) => string[];
  config: (served: { folder: string; zones: readonly string[]; port: number }) => string;
}

const lines = (indented: string, ...parts: readonly string[][]): string =>
  parts.map(([head, ...rest]) => [head, ...rest.map((line) => `${indented}${line}`)].join('\n')).join('\n');

const NSD: DnsPeer = {
  name: 'NSD',
  program: 'nsd',
  debianPackage: 'nsd',
  args: (file) => ['-d', '-c', file],
  config: ({ folder, zones, port }) =>
    lines(
      '  ',
      [
        'server:',
        `ip-address: 127.0.0.1@${port}`,
        'username: ""',
        `zonesdir: "${folder}"`,
        `pidfile: "${join(folder, 'pid')}"`,
        `xfrdir: "${folder}"`,
        `xfrdfile: "${join(folder, 'xfrd')}"`,
        `zonelistfile: "${join(folder, 'zones')}"`,
        'server-count: 1',
        'minimal-responses: no',
      ],
      ['remote-control:', 'control-enable: no'],
      ...zones.map((name) => ['zone:', `name: ${name}`, `zonefile: ${name}.zone`]),
    ),
};

const BIND: DnsPeer = {
  name: 'BIND',
  program: 'named',
  debianPackage: 'bind9',
  args: (file) => ['-g', '-n', '1', '-c', file],
  config: ({ folder, zones, port }) =>
    lines(
      '  ',
      [
        'options {',
        `directory "${folder}";`,
        `listen-on port ${port} { 127.0.0.1; };`,
        'listen-on-v6 { none; };',
        'pid-file none;',
        'session-keyfile none;',
        'recursion no;',
        'dnssec-validation no;',
        'empty-zones-enable no;',
        'minimal-responses no;',
        'notify no;',
        'check-integrity no;',
        'check-names master ignore;',
        '};',
      ],
      ['controls {};'],
      ...zones.map((name) => [`zone "${name}" { type primary; file "${name}.zone"; };`]),
    ),
};

const KNOT: DnsPeer = {
  name: 'Knot',
  program: 'knotd',
  debianPackage: 'knot',
  args: (file) => ['-c', file],
  config: ({ folder, zones, port }) =>
    lines(
      '    ',
      ['server:', `rundir: "${folder}"`, `listen: 127.0.0.1@${port}`, 'udp-workers: 1', 'tcp-workers: 1'],
      ['database:', `storage: "${folder}"`],
      ['zone:'],
      ...zones.map((name) => [
        `  - domain: "${name}"`,
        `storage: "${folder}"`,
        `file: "${name}.zone"`,
        'zonefile-sync: -1',
      ]),
    ),
};

const PEERS = [BIND, NSD, KNOT];

/** Debian installs servers in a folder that is not on every user's PATH. */
const programOf = ({ program }: DnsPeer): string | null => {
  const beside = join('/usr/sbin', program);
  return findTool(program) ?? (existsSync(beside) ? beside : null);
};

export const installedPeers = (): DnsPeer[] => PEERS.filter((peer) => programOf(peer) !== null);

export const missingPeers = (): string =>
  PEERS.filter((peer) => programOf(peer) === null)
    .map(({ name, debianPackage }) => `${name} is not here (apt-get install ${debianPackage})`)
    .join('; ');

/** The server on a free port, once it answers for the last zone. The caller ends the process. */
export async function startPeer(
  peer: DnsPeer,
  folder: string,
  zones: readonly string[],
  client: DnsClient,
): Promise<{ child: ChildProcess; port: number }> {
  const port = await freePort();
  const file = join(folder, `${peer.program}.conf`);
  writeFileSync(file, `${peer.config({ folder, zones, port })}\n`);
  const child = spawn(programOf(peer) ?? peer.program, peer.args(file), { stdio: 'ignore' });
  const address = { address: '127.0.0.1', port };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${peer.name} ended with ${child.exitCode}`);
    const reply = await client.ask(address, { name: zones.at(-1) ?? '', type: TYPE_CODES.SOA });
    if (reply.kind === 'answered' && reply.rcode === 'NOERROR') return { child, port };
    await new Promise((resolve) => setImmediate(resolve));
  }
}
