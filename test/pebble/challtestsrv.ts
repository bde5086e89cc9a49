import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { DATA_DIR, engineReady, option, portOf } from './engine.ts';
import { callAt } from '../support/rpc/rpc-call.ts';

/** Suffixes that the root of a test run permits, besides its own. */
const SUFFIXES = (process.env['VIVARIUM_PEBBLE_SUFFIXES'] ?? 'primary.wtf,gw0.wtf,gw1.wtf,gw2.wtf,gw3.wtf').split(',');
const PROGRAM = join(import.meta.dirname, '..', '..', 'out', 'main', 'vivarium.js');
const TTL = 1;
const HISTORY_MAX = 1_000;

const http01 = option('http01', ':5002');
const defaults: Record<'A' | 'AAAA', string> = {
  A: option('defaultIPv4', '127.0.0.1'),
  AAAA: option('defaultIPv6', '::1'),
};

rmSync(DATA_DIR, { recursive: true, force: true });
const dns = ['--dns-port', String(portOf(option('dnsserver', ':8053')))];
const ports = ['--http-port', '0', '--https-port', '0', '--control-port', '0', ...dns];
const child = spawn(process.execPath, [PROGRAM, 'serve', '--empty', '--data-dir', DATA_DIR, ...ports], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
let hasFailed = false;
child.on('exit', (code) => process.exit(hasFailed ? 1 : (code ?? 1)));
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill('SIGTERM'));
const runtime = await engineReady();

interface Asked {
  host?: string;
  value?: string;
  target?: string;
  addresses?: string[];
  policies?: { tag: string; value: string }[];
  ip?: string;
  token?: string;
  content?: string;
  path?: string;
  targetURL?: string;
}

const zones = new Set<string>();
/** Names with records, and names above them: no wildcard from above matches them. */
const known = new Set<string>();

const hostOf = ({ host = '' }: Asked): string => host.toLowerCase().replace(/\.$/, '');
const zoneOf = (host: string): string => host.split('.').at(-1) ?? host;
const nameIn = (host: string): string => (host === zoneOf(host) ? '@' : host.slice(0, -zoneOf(host).length - 1));

async function put(host: string, type: string, value: string): Promise<void> {
  await callAt(runtime.control, 'records.put', {
    zone: zoneOf(host),
    name: nameIn(host),
    type,
    ttl: TTL,
    value,
    force: true,
  });
}

async function remove(host: string, type: string): Promise<void> {
  const listed = await callAt(runtime.control, 'records.list', { zone: zoneOf(host), name: nameIn(host) });
  for (const { id } of listed.filter((each) => each.type === type))
    await callAt(runtime.control, 'records.remove', { id });
}

async function putDefaults(host: string): Promise<void> {
  for (const type of ['A', 'AAAA'] as const) if (defaults[type] !== '') await put(host, type, defaults[type]);
}

/**
 * Every name has the default addresses, even one with other records, unless it is an alias; so do the names around it.
 */
async function makeRoom(host: string, { isAlias = false } = {}): Promise<void> {
  const zone = zoneOf(host);
  if (!zones.has(zone)) {
    zones.add(zone);
    await callAt(runtime.control, 'zones.create', { name: zone });
    await putDefaults(`*.${zone}`);
  }
  const labels = host.split('.');
  for (let from = isAlias ? 1 : 0; from < labels.length - 1; from++) {
    const name = labels.slice(from).join('.');
    if (known.has(name)) continue;
    known.add(name);
    await putDefaults(name);
    await putDefaults(`*.${name}`);
  }
}

async function setAddresses(asked: Asked, type: 'A' | 'AAAA'): Promise<void> {
  const host = hostOf(asked);
  await makeRoom(host);
  await remove(host, type);
  for (const address of asked.addresses ?? [defaults[type]]) if (address !== '') await put(host, type, address);
}

async function setDefault(type: 'A' | 'AAAA', ip: string): Promise<void> {
  const hosts = [...[...zones].map((zone) => `*.${zone}`), ...[...known].flatMap((name) => [name, `*.${name}`])];
  defaults[type] = ip;
  for (const host of hosts) {
    await remove(host, type);
    if (ip !== '') await put(host, type, ip);
  }
}

const failing = new Map<string, string>();
const answers = new Map<string, string>();
const redirects = new Map<string, string>();
const history: { URL: string; Host: string; HTTPS: boolean; ServerName: string }[] = [];

/** What each path of the management interface does; its return value is the answer. */
const PATHS: Record<string, (asked: Asked) => unknown> = {
  '/set-default-ipv4': ({ ip = '' }) => setDefault('A', ip),
  '/set-default-ipv6': ({ ip = '' }) => setDefault('AAAA', ip),
  '/add-a': (asked) => setAddresses(asked, 'A'),
  '/clear-a': ({ host = '' }) => setAddresses({ host }, 'A'),
  '/add-aaaa': (asked) => setAddresses(asked, 'AAAA'),
  '/clear-aaaa': ({ host = '' }) => setAddresses({ host }, 'AAAA'),
  async '/add-caa'(asked) {
    await makeRoom(hostOf(asked));
    for (const { tag, value } of asked.policies ?? []) await put(hostOf(asked), 'CAA', `0 ${tag} "${value}"`);
  },
  '/clear-caa': (asked) => remove(hostOf(asked), 'CAA'),
  async '/set-cname'(asked) {
    await makeRoom(hostOf(asked), { isAlias: true });
    await remove(hostOf(asked), 'CNAME');
    await put(hostOf(asked), 'CNAME', `${(asked.target ?? '').replace(/\.$/, '')}.`);
  },
  '/clear-cname': (asked) => remove(hostOf(asked), 'CNAME'),
  async '/set-txt'(asked) {
    await makeRoom(hostOf(asked));
    await put(hostOf(asked), 'TXT', asked.value ?? '');
  },
  '/clear-txt': (asked) => remove(hostOf(asked), 'TXT'),
  async '/set-servfail'(asked) {
    const hostname = hostOf(asked);
    const { id } = await callAt(runtime.control, 'breaks.start', { entry: 'dns.servfail', on: { hostname } });
    failing.set(hostname, id);
  },
  async '/clear-servfail'(asked) {
    const id = failing.get(hostOf(asked));
    if (failing.delete(hostOf(asked))) await callAt(runtime.control, 'breaks.stop', { id });
  },
  '/add-http01': ({ token = '', content = '' }) => void answers.set(token, content),
  '/del-http01': ({ token = '' }) => void answers.delete(token),
  '/add-redirect': ({ path = '', targetURL = '' }) => void redirects.set(path, targetURL),
  '/del-redirect': ({ path = '' }) => void redirects.delete(path),
  '/http-request-history': (asked) => history.filter(({ Host }) => Host.split(':')[0] === hostOf(asked)),
  '/clear-request-history': () => void history.splice(0),
};

async function manage(request: IncomingMessage): Promise<{ status: number; body: string }> {
  const path = PATHS[request.url ?? ''];
  if (path === undefined) return { status: 404, body: 'Vivarium’s adapter has nothing for this.\n' };
  try {
    const text = await textOf(request);
    const value = await path((text === '' ? {} : JSON.parse(text)) as Asked);
    return { status: 200, body: value === undefined ? '' : JSON.stringify(value) };
  } catch (error) {
    return { status: 500, body: `${String(error)}\n` };
  }
}

try {
  for (const suffix of SUFFIXES) {
    await makeRoom(suffix);
    await callAt(runtime.control, 'ca.extend', { suffix, confirm: true });
  }
} catch (error) {
  process.stderr.write(`VIVARIUM_PEBBLE_SUFFIXES: ${String(error)}\n`);
  hasFailed = true;
  // Otherwise it would keep the DNS port.
  child.kill('SIGTERM');
  await once(child, 'exit');
}
createServer((request, response) => {
  void manage(request).then(({ status, body }) => response.writeHead(status).end(body));
}).listen(portOf(option('management', ':8055')), '127.0.0.1');
if (http01 !== '') {
  createServer(({ url = '', headers }, response) => {
    history.push({ URL: url, Host: headers.host ?? '', HTTPS: false, ServerName: '' });
    if (history.length > HISTORY_MAX) history.shift();
    const to = redirects.get(url);
    if (to !== undefined) return response.writeHead(301, { location: to }).end();
    const answer = answers.get(url.split('/').at(-1) ?? '');
    return response.writeHead(answer === undefined ? 404 : 200).end(answer);
  }).listen(portOf(http01), '127.0.0.1');
}
