import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { startEngine } from '../engine.ts';
import { freePort, listen } from '../ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export type Site = Awaited<ReturnType<typeof openSite>>;

/** An engine for real ACME clients, with a folder for them. `*.acme.test` leads here. */
export async function openSite() {
  const engine = await startEngine({ empty: true });
  const [httpPort, tlsPort] = [await freePort(), await freePort()];
  await engine.call('settings.update', { acmeHttpPort: httpPort, acmeTlsPort: tlsPort });
  await engine.call('zones.create', { name: 'acme.test' });
  await engine.call('records.put', { zone: 'acme.test', name: '*', type: 'A', value: '127.0.0.1' });
  const { caFile: rootFile, acme } = engine.app.runtime;
  const folder = temporaryFolder();
  /** Runs a command in the folder. @throws Error with its output when it fails */
  const run = (program: string, args: readonly string[], environment: Record<string, string> = {}) =>
    new Promise<string>((resolve, reject) => {
      const env = { PATH: process.env.PATH, HOME: folder, ...environment };
      const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
      child.on('error', reject);
      child.on('close', (code) => {
        if (code === 0) resolve(output);
        else reject(new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`));
      });
    });
  return { engine, folder, directory: acme.directoryUrl, rootFile, httpPort, tlsPort, run };
}

/** A web server for clients without one, which serves a folder. */
export async function serveFiles(port: number, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const server = createServer((request, response) => {
    try {
      response.end(readFileSync(join(folder, request.url?.split('/').at(-1) ?? '')));
    } catch {
      response.writeHead(404).end();
    }
  });
  await listen(server, port);
}
