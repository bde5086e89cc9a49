import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type TestContext } from 'vitest';
import { track } from '../../../support/engine.ts';
import type { DeviceAnswer, DeviceRequest } from '../../../support/device-requests.ts';
import { startProgram, type RunningProgram } from '../../../support/program.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { HOST_ADDRESS, missingForTwoMachines, twoMachines, type TwoMachines } from '../../../support/two-machines.ts';

/** The demo's hostname for devices, and one of a project that no device should reach. */
const SHOP = 'www.happypaws.test';
const PRIVATE = 'private.vivarium.localhost';
/** The name of the page for devices. */
const OWN = 'vivarium.internal';
const SECRET_TEXT = 'PRIVATE DEV SERVER';

/** Answers every request and WebSocket upgrade with a text that no device should read. */
const DEV_SERVER = `
const server = require('node:http').createServer((request, response) => response.end('${SECRET_TEXT}'));
server.on('upgrade', (request, socket) => socket.end('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n${SECRET_TEXT}'));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

const reason = missingForTwoMachines();
const needsMachines = ({ skip }: TestContext): void => skip(reason !== null, reason ?? '');

interface Row {
  name: string;
  request: DeviceRequest;
}

/** An engine with a dev server that only this machine should reach: a platform hostname and a redirect below localhost. */
async function startShared(machines: TwoMachines, args: readonly string[]): Promise<RunningProgram> {
  const [enter = '', ...words] = machines.on('host');
  const command = [...words, process.execPath, '-e', DEV_SERVER];
  const devServer = spawn(enter, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  track(() => void devServer.kill());
  const [port] = (await once(devServer.stdout.setEncoding('utf8'), 'data')) as [string];
  const program = await startProgram(args, { within: machines.on('host') });
  const { url, token } = program.runtime.control;
  const call = (procedure: string, input: unknown): unknown => {
    const headers = ['-H', `Authorization: Bearer ${token}`, '-H', 'Content-Type: application/json'];
    const words = ['-s', ...headers, '-d', JSON.stringify(input), `${url}/api/${procedure}`];
    const { stdout } = machines.run('host', 'curl', ...words);
    return JSON.parse(stdout);
  };
  const target = { kind: 'upstream', url: `http://127.0.0.1:${port.trim()}` };
  const { id: projectId } = call('projects/create', { name: 'Private', plan: 'pro', target }) as { id: string };
  call('deploys/create', { projectId });
  for (const hostname of ['here.localhost', 'gone.localhost'])
    expect(call('domains/attach', { projectId, hostname, local: true })).toMatchObject({ hostname });
  expect(
    call('domains/setRedirects', { projectId, redirects: [{ from: 'gone.localhost', to: 'here.localhost' }] }),
  ).toMatchObject({ id: projectId });
  return program;
}

function sendAll(machines: TwoMachines, rows: readonly Row[]): (Row & { answer: DeviceAnswer })[] {
  const file = join(temporaryFolder(), 'requests.json');
  writeFileSync(file, JSON.stringify(rows.map(({ request }) => request)));
  const script = join(import.meta.dirname, '../../../support/device-requests.ts');
  const { stdout } = machines.run('device', process.execPath, script, HOST_ADDRESS, file);
  const answers = JSON.parse(stdout) as DeviceAnswer[];
  return rows.map((row, index) => ({ ...row, answer: answers[index] ?? { status: null, alert: 'none', text: '' } }));
}

const head = (host: string, path = '/', more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close${more}`;
const UPGRADE =
  '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
const GET = { ':method': 'GET', ':scheme': 'https' };
const SOCKET = { ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'https', 'sec-websocket-version': '13' };

/** Every way to name a host, for names that this machine alone has. */
function foreignRequests({ http, https }: { http: number; https: number }): Row[] {
  const named = (kind: string, values: readonly string[], of: (value: string) => DeviceRequest): Row[] =>
    values.map((value) => ({ name: `${kind} ${value}`, request: of(value) }));
  const machineNames = ['localhost', '127.0.0.1', '[::1]', 'vivarium.localhost'];
  const projectNames = [PRIVATE, 'private-staging.vivarium.localhost', 'demo.vivarium.localhost', 'here.localhost'];
  const names = [...projectNames, 'gone.localhost'];
  const spellings = `${PRIVATE.toUpperCase()} ${PRIVATE}. ${PRIVATE}:80 localhost:5173 LOCALHOST a.localhost`.split(
    ' ',
  );
  const ownPaths = ['/root.crl', '/dns-query?dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB', '/acme/directory'];
  const ownHosts = ['localhost', '127.0.0.1', 'vivarium.localhost'];
  const controlPaths = '/healthz /api/openapi.json /rpc /acme/directory /stop /.well-known/vivarium-look/a'.split(' ');
  const plain = (text: string, more: Partial<DeviceRequest> = {}) => ({ port: http, head: text, ...more });
  const tls = (serverName: string, text: string) => ({ port: https, serverName, head: text });
  const http2 = (fields: Record<string, string>) => ({ port: https, serverName: SHOP, fields });
  return [
    ...named('Host', [...machineNames, ...names, ...spellings, 'example.com', '0.0.0.0', '10.77.0.2'], (host) =>
      plain(head(host)),
    ),
    ...named('HTTP/1.0 Host', [PRIVATE, 'localhost'], (host) => plain(`GET / HTTP/1.0\r\nHost: ${host}`)),
    ...named('OPTIONS * at', [PRIVATE, 'localhost'], (host) =>
      plain(`OPTIONS * HTTP/1.1\r\nHost: ${host}\r\nConnection: close`),
    ),
    ...ownHosts.flatMap((host) => named(`own path at ${host}`, ownPaths, (path) => plain(head(host, path)))),
    ...named(`path at ${HOST_ADDRESS}`, controlPaths, (path) => plain(head(HOST_ADDRESS, path))),
    ...named('path at vivarium.internal', controlPaths, (path) => tls(OWN, head(OWN, path))),
    ...named('SNI', [...names, 'localhost', 'vivarium.localhost'], (host) => tls(host, head(host))),
    ...named('without SNI', [...names, 'vivarium.localhost'], (host) => tls('', head(host))),
    ...named('Host below another SNI', [...names, 'localhost'], (host) => tls(SHOP, head(host))),
    ...named('HTTP/2 :authority', [...names, 'localhost', '127.0.0.1'], (host) =>
      http2({ ...GET, ':authority': host, ':path': '/' }),
    ),
    ...named('HTTP/2 DNS query', ownHosts, (host) => http2({ ...GET, ':authority': host, ':path': ownPaths[1] ?? '' })),
    ...named(
      'CONNECT',
      [...names, ...machineNames].flatMap((host) => [`${host}:443`, `${host}:80`]),
      (connect) =>
        plain(head(connect), { connect, ...(connect.endsWith(':443') && { serverName: connect.slice(0, -4) }) }),
    ),
    ...named('SNI in a tunnel for another', names, (serverName) =>
      plain(head(serverName), { connect: `${SHOP}:443`, serverName }),
    ),
    ...named('Host in a tunnel for another', [PRIVATE, 'localhost'], (host) =>
      plain(head(host), { connect: `${SHOP}:80` }),
    ),
    ...named('URL', [...names, ...machineNames], (host) => plain(head(SHOP, `http://${host}/`))),
    ...named('OPTIONS URL', [PRIVATE, 'localhost'], (host) =>
      plain(`OPTIONS http://${host} HTTP/1.1\r\nHost: ${host}\r\nConnection: close`),
    ),
    ...named('WebSocket', [PRIVATE, 'here.localhost'], (host) => plain(head(host, '/', UPGRADE))),
    ...named('WebSocket over HTTP/2', [PRIVATE, 'here.localhost'], (host) =>
      http2({ ...SOCKET, ':authority': host, ':path': '/' }),
    ),
  ];
}

/** The status, or the alert of a handshake that was refused. */
const outcome = ({ answer: { status, alert } }: { answer: DeviceAnswer }): string => alert ?? String(status);

test('a device reaches no name that only this machine has, by any way to name it, and no answer lists names', async (context) => {
  needsMachines(context);
  const machines = await twoMachines();
  const { runtime } = await startShared(machines, ['--lan']);
  const ports = { http: runtime.http.port, https: runtime.https.port };
  const answered = sendAll(machines, foreignRequests(ports));
  expect(answered.length).toBeGreaterThanOrEqual(73);

  // CONNECT over HTTP/2 is refused before its host is read, unless the host leads to an upstream.
  const refusalsOf = ({ name }: Row): string[] =>
    name.startsWith('WebSocket over HTTP/2') ? ['405'] : ['404', '421', 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME'];
  const wrong = answered.filter((row) => !refusalsOf(row).includes(outcome(row)));
  expect(wrong.map((row) => `${row.name}: ${outcome(row)}`)).toEqual([]);
  const asked = (row: Row): string => JSON.stringify(row.request);
  const lists = answered.filter((row) =>
    [SHOP, PRIVATE, 'demo.vivarium.localhost', 'here.localhost', SECRET_TEXT].some(
      (text) => row.answer.text.includes(text) && !asked(row).includes(text),
    ),
  );
  expect(lists.map(({ name, answer }) => `${name}: ${answer.text}`)).toEqual([]);

  // DNS: names below localhost, other zones, transfers, updates.
  const dig = (...words: string[]) =>
    machines.run('device', 'dig', `@${HOST_ADDRESS}`, '-p', `${runtime.dns.port}`, '+tries=1', '+time=5', ...words)
      .stdout;
  for (const words of [PRIVATE, 'localhost', 'happypaws.test SOA', 'example.com', 'version.bind TXT CH'])
    expect(dig(...words.split(' ')), words).toMatch(/status: (REFUSED|NOTIMP)/);
  for (const zone of ['happypaws.test', SHOP, 'vivarium.localhost'])
    expect(dig(zone, 'AXFR')).toContain('Transfer failed');
  expect(dig('+opcode=UPDATE', SHOP, 'SOA')).toMatch(/status: (REFUSED|NOTIMP|FORMERR|NOTAUTH)/);

  // The same ways lead to a hostname for devices.
  const fields = { ...GET, ':authority': SHOP, ':path': '/v1/openapi.json' };
  const open: Row[] = [
    { name: 'Host', request: { port: ports.http, head: head(SHOP, '/v1/openapi.json') } },
    { name: 'SNI', request: { port: ports.https, serverName: SHOP, head: head(SHOP, '/v1/openapi.json') } },
    { name: 'HTTP/2', request: { port: ports.https, serverName: SHOP, fields } },
    { name: 'CONNECT', request: { port: ports.http, connect: `${SHOP}:443`, serverName: SHOP, fields } },
    { name: 'URL', request: { port: ports.http, head: head(SHOP, `http://${SHOP}/v1/openapi.json`) } },
    { name: 'page', request: { port: ports.http, head: head(HOST_ADDRESS) } },
  ];
  expect(sendAll(machines, open).map(outcome)).toEqual(open.map(() => '200'));
});

test('with --host 0.0.0.0, which containers need, every served hostname is reached at this machine’s address', async (context) => {
  needsMachines(context);
  const machines = await twoMachines();
  const { runtime } = await startShared(machines, ['--host', '0.0.0.0']);
  const answered = sendAll(machines, [
    { name: 'Host', request: { port: runtime.http.port, head: head(PRIVATE) } },
    { name: 'SNI', request: { port: runtime.https.port, serverName: PRIVATE, head: head(PRIVATE) } },
    { name: 'WebSocket', request: { port: runtime.http.port, head: head(PRIVATE, '/', UPGRADE) } },
  ]);
  expect(answered.map(outcome)).toEqual(['200', '200', '101']);
  for (const { answer } of answered.slice(0, 2)) expect(answer.text).toContain(SECRET_TEXT);
});
