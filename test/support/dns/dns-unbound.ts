import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './dns-dig.ts';
import { freePort } from '../ports.ts';
import { requireTool } from '../tools.ts';

/**
 * unbound on a free port, which queries the server at `port` for the zones and validates with their trust anchors, each
 * as a file's text. The caller ends the process.
 */
export async function startUnbound(
  folder: string,
  port: number,
  zones: ReadonlyMap<string, string>,
): Promise<{ child: ChildProcess; port: number }> {
  writeFileSync(join(folder, 'anchors'), [...zones.values()].join(''));
  const own = await freePort();
  const lines = [
    'server:',
    '  interface: 127.0.0.1',
    `  port: ${own}`,
    '  username: ""',
    '  chroot: ""',
    `  directory: "${folder}"`,
    '  pidfile: ""',
    '  use-syslog: no',
    '  do-not-query-localhost: no',
    '  domain-insecure: "localhost"',
    '  local-zone: "test." nodefault',
    `  trust-anchor-file: "${folder}/anchors"`,
    'remote-control:',
    '  control-enable: no',
    ...[...zones.keys()].flatMap((name) => ['stub-zone:', `  name: "${name}"`, `  stub-addr: 127.0.0.1@${port}`]),
  ];
  writeFileSync(join(folder, 'unbound.conf'), `${lines.join('\n')}\n`);
  const child = spawn(requireTool('unbound'), ['-d', '-c', join(folder, 'unbound.conf')], { stdio: 'ignore' });
  for (;;) {
    if (child.exitCode !== null) throw new Error(`unbound ended with ${child.exitCode}`);
    const question = ['+tries=1', '+time=1', 'version.bind', 'CH', 'TXT'];
    const text = await run('dig', ['@127.0.0.1', '-p', String(own), ...question]);
    if (text.includes('status:')) return { child, port: own };
  }
}

/** Ends a process that was started here. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
