import { writeFileSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { expect, it } from 'vitest';
import { listen } from '../../support/ports.ts';
import { createClock } from '../../../main/base/clock.ts';
import { createRunLeaves, RUN_DAYS } from '../../../main/ca/leaf.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { findTool } from '../../support/tools.ts';
import { run } from '../../support/command.ts';
import { createRogueLeaf } from './rogue-leaf.ts';

/** What a thief of a run's root could do with it, if its key were not dropped: nothing but its hosts, in three libraries. */

const HOSTS = ['api.vercel.com', 'api.cloudflare.com'];
/** No name below a host is among them: constraints permit those as well. */
const FOREIGN = [
  ...['vercel.com', 'www.vercel.com', 'dashboard.vercel.com', 'evilapi.vercel.com', 'api.vercel.com.evil.com', 'com'],
  ...['cloudflare.com', 'dash.cloudflare.com', 'one.one.one.one', 'api.netlify.com', 'api.fly.io', 'api.render.com'],
  ...['api.github.com', 'github.com', 'gitlab.com', 'pypi.org', 'google.com', 'www.google.com', 'example.com'],
  ...['localhost', 'demo.vivarium.localhost', 'vivarium.localhost', 'www.acme.test', 'xn--pi-6jc.vercel.com'],
  ...['vercel.api.vivarium.localhost'],
];
const SOURCES = join(import.meta.dirname, '../../support/tls-clients');

const root = createRoot({ realNowMs: createClock().state().realNow, owner: 'run', suffixes: HOSTS, ofRun: RUN_DAYS });

/**
 * Shows a leaf for whatever is asked for. The arguments of the clients are the root's file and a port; `proxy` is
 * another one, at which CONNECT leads to it for any name.
 */
async function serveAll(): Promise<{ place: string[]; proxy: number }> {
  const contexts = new Map(
    [...HOSTS, ...FOREIGN].map((name) => {
      const { certificatePem: cert, privateKeyPem: key } = createRogueLeaf(root, [{ kind: 'dns', value: name }]);
      return [name, createSecureContext({ cert, key })];
    }),
  );
  const { port } = await listen(
    createServer(
      { SNICallback: (name, done) => done(null, contexts.get(name)) },
      (_request, response) => void response.end(),
    ),
  );
  const proxy = createProxy().on('connect', (_request, client: Socket) => {
    const socket = connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    for (const each of [socket, client]) each.on('error', () => undefined);
    socket.pipe(client).pipe(socket);
  });
  const file = join(temporaryFolder(), 'root.pem');
  writeFileSync(file, root.certificatePem);
  return { place: [file, String(port)], proxy: (await listen(proxy)).port };
}

/** The names that a client accepts; it says something about each. */
async function accepted(command: string, ...args: string[]): Promise<string[]> {
  const { text } = await run(command, [...args, ...HOSTS, ...FOREIGN]);
  const said = new Map(text.split('\n').map((line) => line.split('\t', 2) as [string, string]));
  expect(FOREIGN.filter((name) => (said.get(name) ?? '') !== '')).toHaveLength(25);
  return [...said].filter(([, words]) => words === 'accepts it').map(([name]) => name);
}

/** wget looks names up itself, unless a proxy does. */
const WGET = `file=$1; proxy=$2; shift 2
for name in "$@"; do
  if said=$(wget -nv -t1 -O /dev/null --ca-certificate="$file" -e https_proxy="http://127.0.0.1:$proxy" "https://$name/" 2>&1)
  then printf '%s\\taccepts it\\n' "$name"; else printf '%s\\t%s\\n' "$name" "$(printf %s "$said" | tr '\\n' ' ')"; fi
done`;

it('the root of a run is good for its hosts only: OpenSSL, in Python', async ({ skip }) => {
  skip(findTool('python3') === null, 'there is no Python');
  const { place } = await serveAll();
  expect(await accepted('python3', join(SOURCES, 'ask.py'), ...place)).toEqual(HOSTS);
});

it('the root of a run is good for its hosts only: Go', async ({ skip }) => {
  skip(findTool('go') === null, 'there is no Go');
  const { place } = await serveAll();
  expect(await accepted('go', 'run', join(SOURCES, 'ask.go'), ...place)).toEqual(HOSTS);
});

it('the root of a run is good for its hosts only: GnuTLS, in wget', async ({ skip }) => {
  const isGnu = findTool('wget') !== null && (await run('wget', ['--version'])).text.includes('+ssl/gnutls');
  skip(!isGnu, 'there is no wget with GnuTLS');
  const { place, proxy } = await serveAll();
  expect(await accepted('/bin/sh', '-c', WGET, 'sh', place[0] ?? '', String(proxy))).toEqual(HOSTS);
});

it('Java takes a root without its constraints, so the root’s key is dropped before it serves', async ({ skip }) => {
  skip(findTool('java') === null, 'there is no Java');
  const { place } = await serveAll();
  expect((await accepted('java', join(SOURCES, 'Ask.java'), ...place)).length).toBeGreaterThan(20);
  expect(Object.keys(createRunLeaves(HOSTS, createClock().state().realNow)).toSorted()).toEqual(['leafAt', 'rootPem']);
});
