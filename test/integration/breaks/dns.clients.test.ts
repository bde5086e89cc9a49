import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DNS_ENTRIES } from '../../../main/breaks/catalogue/dns.ts';
import type { Said } from '../../support/breaks/break-dns-clients.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { execute as start } from '../../support/command.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** A Go program is compiled first. */
const ALL_MS = 180_000;

/** Private mounts and port 53 need namespaces, which containers may refuse. */
const canUnshare = spawnSync('unshare', ['-rmnpf', 'ip', 'link']).status === 0;

interface Version {
  command: [string, ...string[]];
  says: string;
}

/** The versions whose wording the catalogue quotes, and how their programs print them. */
const VERSIONS: Record<string, Version> = {
  dig: { command: ['dig', '-v'], says: 'DiG 9.18' },
  curl: { command: ['curl', '--version'], says: 'curl 7.88' },
  python: { command: ['python3', '--version'], says: 'Python 3.11' },
  go: { command: ['go', 'version'], says: 'go version go1.19' },
  java: { command: ['java', '--version'], says: 'openjdk 17' },
};

/** Whether the version of a client that the catalogue names is installed. */
function isInstalled({ command: [program, ...words], says }: Version): boolean {
  const { stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' });
  return `${stdout}${stderr}`.startsWith(says);
}

/** Runs all clients in namespaces whose resolver is Vivarium's server. */
async function ask(): Promise<{ said: Said; clients: Set<string> }> {
  const folder = temporaryFolder();
  const etc = join(folder, 'etc');
  mkdirSync(etc);
  writeFileSync(join(etc, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:3 attempts:1\n');
  writeFileSync(join(etc, 'nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n');
  const lookups = join(ROOT, 'test/support/lookups');
  const here = Object.entries(VERSIONS).flatMap(([client, version]) => (isInstalled(version) ? [client] : []));
  const programs: Record<string, string[]> = {};
  if (here.includes('python')) programs.python = ['python3', join(lookups, 'look.py')];
  if (here.includes('java')) programs.java = ['java', join(lookups, 'Look.java')];
  if (here.includes('go')) {
    programs.go = [join(folder, 'look')];
    const env = { ...process.env, CGO_ENABLED: '0', GO111MODULE: 'off', GOCACHE: join(folder, 'go') };
    await start('go', ['build', '-o', join(folder, 'look'), join(lookups, 'look.go')], { env });
  }
  const script = `set -e
ip link set lo up
# Without an interface, Chromium says only that it is offline.
ip link add lan0 type veth peer name lan1
ip addr add 10.77.0.1/24 dev lan0
ip link set lan0 up
ip link set lan1 up
for name in resolv.conf nsswitch.conf; do mount --bind "$1/$name" "/etc/$name"; done
exec "$2" "$3" "$4"`;
  const program = [process.execPath, join(ROOT, 'test/support/breaks/break-dns-clients.ts'), JSON.stringify(programs)];
  const namespaces = ['-rmnpf', '--mount-proc', '--kill-child', 'sh', '-c', script, 'sh', etc];
  const { stdout } = await start('unshare', [...namespaces, ...program]);
  return {
    said: JSON.parse(stdout) as Said,
    clients: new Set(['dig', 'curl', 'node', 'chromium', ...Object.keys(programs)]),
  };
}

describe.runIf(canUnshare)('real clients of broken names', () => {
  test('report what the catalogue says', { timeout: ALL_MS }, async () => {
    const { said, clients } = await ask();
    const entries = DNS_ENTRIES.filter(({ at }) => at !== 'state');
    const expected = entries.map(({ id, symptoms }) => {
      const of = Object.entries(symptoms).filter(([client]) => clients.has(client));
      return [id, Object.fromEntries(of)];
    });
    const compared = Object.entries(said).map(([id, texts]) => {
      return [id, Object.fromEntries(Object.entries(texts).filter(([client]) => clients.has(client)))];
    });
    expect(Object.fromEntries(compared)).toEqual(Object.fromEntries(expected));
    const statusOf = (text = '') => /NOERROR|NXDOMAIN|SERVFAIL|REFUSED|FORMERR|BADVERS/.exec(text)?.[0] ?? 'none';
    const statuses = (tool: 'dig' | 'kdig') => entries.map(({ id }) => `${id} ${statusOf(said[id]?.[tool])}`);
    expect(statuses('kdig')).toEqual(statuses('dig'));
  });
});
