import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { track } from '../engine.ts';
import { requireTool } from '../tools.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A request that gets no answer until it is released. */
export interface Held {
  /** It has arrived. */
  readonly asked: Promise<unknown>;
  /** The program that sent it has ended, or has its answer. */
  readonly closed: Promise<unknown>;
  release(): void;
}

export interface NpmRegistry {
  readonly url: string;
  /** The requested paths in order. */
  readonly asked: readonly string[];
  hold(path: string): Held;
}

/** Packages for `npm ci`: `first` requires a newer Node than any, and the script of `second` requests `/script`. */
export const FIRST = '/first/-/first-1.0.0.tgz';
export const SCRIPT = '/script';

const POSTINSTALL = `require('http').get(process.env.npm_config_registry + 'script', (answer) => answer.resume())`;
const PACKAGES = { first: { engines: { node: '>=99' } }, second: { scripts: { postinstall: 'node ask.cjs' } } };

/** A registry on a loopback port with the two packages, and a project that wants them locked. */
export async function startRegistry(): Promise<{ registry: NpmRegistry; root: string }> {
  const tarballs = new Map(Object.entries(PACKAGES).map(([name, fields]) => [name, pack(name, fields)]));
  const asked: string[] = [];
  const holds = new Map<string, (response: ServerResponse, answer: () => void) => void>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const answer = () => {
      const name = path.split('/')[1] ?? '';
      const tarball = tarballs.get(name);
      if (path === SCRIPT) response.end();
      else if (tarball === undefined) response.writeHead(404).end();
      else if (path.endsWith('.tgz')) response.end(tarball);
      else response.end(JSON.stringify(describePackage(name, tarball)));
    };
    const hold = holds.get(path);
    if (hold === undefined) answer();
    else hold(response, answer);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  track(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const describePackage = (name: string, tarball: Buffer) => ({
    name,
    'dist-tags': { latest: '1.0.0' },
    versions: {
      '1.0.0': {
        ...manifest(name),
        dist: { tarball: `${url}${name}/-/${name}-1.0.0.tgz`, integrity: integrity(tarball) },
      },
    },
  });
  const hold = (path: string): Held => {
    const came = Promise.withResolvers<unknown>();
    const gone = Promise.withResolvers<unknown>();
    const release = Promise.withResolvers<unknown>();
    holds.set(path, (response, answer) => {
      holds.delete(path);
      response.once('close', gone.resolve);
      void release.promise.then(answer);
      came.resolve(path);
    });
    return { asked: came.promise, closed: gone.promise, release: () => release.resolve(path) };
  };
  return { registry: { url, asked, hold }, root: makeProject(tarballs) };
}

const manifest = (name: string) => ({ name, version: '1.0.0', ...PACKAGES[name as keyof typeof PACKAGES] });

const integrity = (tarball: Buffer): string => `sha512-${createHash('sha512').update(tarball).digest('base64')}`;

function pack(name: string, fields: object): Buffer {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'package'));
  writeFileSync(join(folder, 'package', 'package.json'), JSON.stringify({ name, version: '1.0.0', ...fields }));
  writeFileSync(join(folder, 'package', 'ask.cjs'), POSTINSTALL);
  execFileSync(requireTool('tar'), ['-czf', 'package.tgz', 'package'], { cwd: folder });
  return readFileSync(join(folder, 'package.tgz'));
}

function makeProject(tarballs: ReadonlyMap<string, Buffer>): string {
  const root = temporaryFolder();
  const names = [...tarballs.keys()];
  const project = {
    name: 'project',
    version: '1.0.0',
    dependencies: Object.fromEntries(names.map((name) => [name, '1.0.0'])),
  };
  const locked = [...tarballs].map(([name, tarball]) => [
    `node_modules/${name}`,
    { version: '1.0.0', integrity: integrity(tarball), hasInstallScript: name === 'second' },
  ]);
  const packages = { '': project, ...(Object.fromEntries(locked) as object) };
  // npm 11 runs the scripts of named packages only.
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...project, allowScripts: { second: true } }));
  writeFileSync(
    join(root, 'package-lock.json'),
    JSON.stringify({ name: 'project', version: '1.0.0', lockfileVersion: 3, requires: true, packages }),
  );
  return root;
}
