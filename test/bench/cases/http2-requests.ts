import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  compare,
  end,
  type Figure,
  freePort,
  ROUND_SECONDS,
  startProgram,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';
import { isInstalled, leadTo, startJsonUpstream } from './upstream-requests.ts';

/** Small JSON from an upstream over HTTP/2 to the client, recorded, compared with Caddy by processor time. */
export async function http2Requests(): Promise<Figure[]> {
  if (!isInstalled('h2load') || !isInstalled('caddy')) return [];
  const upstream = await startJsonUpstream();
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  const [host = ''] = (await leadTo(vivarium, `http://127.0.0.1:${upstream.ready}`)).split(':');
  const caddyPort = await freePort();
  const caddy = await startCaddy(host, caddyPort, upstream.ready);
  const side = (child: ChildProcess, port: number) => ({ child, load: () => load(host, port) });
  const [ours, theirs] = [side(vivarium.child, vivarium.runtime.https.port), side(caddy, caddyPort)];
  for (const { load: warmUp } of [ours, theirs]) warmUp();
  const { byCpu, cost } = compare(ours, theirs, ({ requests }) => requests);
  for (const child of [caddy, vivarium.child, upstream.child]) await end(child);
  return [
    {
      what: 'small JSON through to an upstream over HTTP/2 from the client, recorded, against Caddy, by processor time',
      measured: `${byCpu.toFixed(2)} ×`,
      wanted: '≥ 1.0 ×',
      met: byCpu >= 1,
      detail: cost,
    },
  ];
}

/** 8 connections with 8 streams each. */
function load(host: string, port: number): { requests: number; failures: number } {
  const args = ['-t1', '-c8', '-m8', '-D', String(ROUND_SECONDS), `--connect-to=127.0.0.1:${port}`];
  const done = spawnSync('h2load', [...args, `https://${host}:${port}/pet`], { encoding: 'utf8' });
  const number = (pattern: RegExp): number => Number(pattern.exec(done.stdout)?.[1] ?? Number.NaN);
  return { requests: number(/status codes: (\d+) 2xx/), failures: number(/ (\d+) failed/) };
}

async function startCaddy(host: string, port: number, upstreamPort: number): Promise<ChildProcess> {
  const folder = temporaryFolder();
  const config = join(folder, 'Caddyfile');
  const { key, certificate } = makeLeaf(host, folder);
  writeFileSync(
    config,
    `{\n  admin off\n  auto_https off\n}\nhttps://${host}:${port} {\n  bind 127.0.0.1\n  tls ${certificate} ${key}\n` +
      `  reverse_proxy 127.0.0.1:${upstreamPort}\n}\n`,
  );
  const env = { GOMAXPROCS: '1', HOME: folder };
  return await startProgram('caddy', ['run', '--adapter', 'caddyfile', '--config', config], port, env);
}

/** A self-signed certificate and its key, as files in a folder. */
export function makeLeaf(host: string, folder: string): { key: string; certificate: string } {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'leaf.pem')];
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const named = ['-subj', '/CN=bench', '-addext', `subjectAltName=DNS:${host}`];
  execFileSync('openssl', ['req', ...made, ...named, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  return { key, certificate };
}
