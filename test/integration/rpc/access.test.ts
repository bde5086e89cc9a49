import { type IncomingMessage, createServer } from 'node:http';
import { describe, expect } from 'vitest';
import { listen } from '../../support/ports.ts';
import { createClock } from '../../../main/base/clock.ts';
import { createAccess, createSignIn } from '../../../main/rpc/access.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { CONTROL_TOKEN, signInWith, startControl, controlTest as it } from '../../support/rpc/rpc-control.ts';
import { bodyOf, exchangeRaw, requestRaw, statusOf } from '../../support/rpc/rpc-raw.ts';

const TOKEN_LINE = `Authorization: Bearer ${CONTROL_TOKEN}`;

describe('a request with the right token, but from the wrong place', () => {
  it.for<[string, (port: number) => string[]]>([
    ['a rebound name', (port) => [`Host: evil.example:${port}`]],
    ['our name on another port', (port) => [`Host: localhost:${port + 1}`]],
    ['our address without a port', () => ['Host: 127.0.0.1']],
    ['two Hosts', (port) => [`Host: 127.0.0.1:${port}`, 'Host: evil.example']],
    ['a foreign Origin', (port) => [`Host: 127.0.0.1:${port}`, 'Origin: http://evil.example']],
    ['a sandboxed page', (port) => [`Host: 127.0.0.1:${port}`, 'Origin: null']],
    ['a page of another port here', (port) => [`Host: 127.0.0.1:${port}`, 'Origin: http://127.0.0.1:8080']],
    ['a foreign page’s fetch', (port) => [`Host: 127.0.0.1:${port}`, 'Sec-Fetch-Site: cross-site']],
    [
      'a sibling page’s fetch',
      (port) => [`Host: localhost:${port}`, 'Sec-Fetch-Site: same-site', 'Sec-Fetch-Mode: cors'],
    ],
  ])('(%s) is answered 403 with the reason, for any path', async ([_what, headersFor], { port, fake }) => {
    for (const line of [
      'POST /api/projects/list',
      'GET /api/openapi.json',
      'GET /',
      'GET /rpc',
      'OPTIONS /api/projects/list',
    ]) {
      const answer = await requestRaw(port, line, [...headersFor(port), TOKEN_LINE, 'Content-Length: 0']);
      expect([line, statusOf(answer)]).toEqual([line, 403]);
      expect(JSON.parse(bodyOf(answer))).toMatchObject({ code: 'forbidden', message: expect.stringMatching(/\.$/) });
      expect(answer).not.toMatch(/access-control/i);
    }
    expect(fake.calls).toEqual([]);
  });

  it('is refused with an absolute request target: the port is not a proxy', async ({ port }) => {
    const answer = await requestRaw(port, `GET http://127.0.0.1:${port}/`, [`Host: 127.0.0.1:${port}`]);
    expect(statusOf(answer)).toBe(403);
  });

  it('is refused without Host', async ({ port }) => {
    expect(statusOf(await exchangeRaw(port, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'))).toBe(400);
    expect(statusOf(await exchangeRaw(port, 'GET / HTTP/1.0\r\n\r\n'))).toBe(403);
  });

  it('gets nothing with CONNECT', async ({ port }) => {
    expect(await exchangeRaw(port, 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n')).toBe('');
  });
});

describe('the control port’s own names', () => {
  it.each(['127.0.0.1', 'localhost', 'vivarium.localhost', 'LOCALHOST'])('include %s', async (hostname) => {
    const { port, fake } = await startControl();
    fake.stub('projects', 'list', () => []);
    const headers = [
      `Host: ${hostname}:${port}`,
      TOKEN_LINE,
      `Origin: http://${hostname.toLowerCase()}:${port}`,
      'Content-Length: 0',
    ];
    const answer = await requestRaw(port, 'POST /api/projects/list', headers);
    expect([statusOf(answer), bodyOf(answer)]).toEqual([200, '[]']);
    expect(answer).not.toMatch(/access-control/i);
  });

  it('include the IPv6 address on the same port, if the system has it', async ({ port, fake, lines }) => {
    if (lines.some(({ message }) => message.includes('no IPv6'))) return;
    fake.stub('projects', 'list', () => []);
    const text = `POST /api/projects/list HTTP/1.1\r\nHost: [::1]:${port}\r\n${TOKEN_LINE}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    expect(statusOf(await exchangeRaw(port, text, '::1'))).toBe(200);
  });
});

const ask = (url: string, token: string | null) =>
  fetch(`${url}/sign-in`, { method: 'POST', headers: token === null ? {} : { authorization: `Bearer ${token}` } });

describe('a link that signs in', () => {
  it('contains a ticket, which is exchanged for a session and never for the token', async ({ server, url, access }) => {
    const path = server.signInPath();
    expect(path).toMatch(/^\/#ticket=\w{43}$/);
    const response = await signInWith(url + path);
    const { token } = (await response.json()) as { token: string };
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect([access.accepts(token), token === CONTROL_TOKEN]).toEqual([true, false]);
    const call = await fetch(`${url}/api/status/get`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(call.status).not.toBe(401);
  });

  it('works once', async ({ server, url }) => {
    const link = url + server.signInPath();
    expect([(await signInWith(link)).status, (await signInWith(link)).status]).toEqual([200, 404]);
  });

  it('works for a minute, or as long as requested', async () => {
    const clock = createFakeClock();
    const { server, url } = await startControl({ clock });
    const [early, late, long] = [undefined, undefined, 60_001].map((ms) => url + server.signInPath(ms));
    await clock.pass(59_000);
    expect((await signInWith(early ?? '')).status).toBe(200);
    await clock.pass(1_000);
    expect((await signInWith(late ?? '')).status).toBe(404);
    expect((await signInWith(long ?? '')).status).toBe(200);
  });

  it('is given to a caller with the token', async ({ url }) => {
    const answer = await ask(url, CONTROL_TOKEN);
    const { path } = (await answer.json()) as { path: string };
    expect([answer.status, (await signInWith(url + path)).status]).toEqual([201, 200]);
  });

  it.for([null, 'wrong', ''])('is not given for %j', async (token, { url }) => {
    expect((await ask(url, token)).status).toBe(401);
  });

  it('cannot be guessed, used from another site, or followed', async ({ server, url }) => {
    const link = url + server.signInPath();
    expect((await signInWith(`${url}/#ticket=${'a'.repeat(43)}`)).status).toBe(404);
    expect((await signInWith(link, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await signInWith(link, { origin: 'http://evil.test' })).status).toBe(403);
    expect((await fetch(link.replace('/#ticket=', '/sign-in/'))).status).toBe(405);
    expect((await signInWith(link)).status).toBe(200);
  });

  it('is forgotten when many more are requested', async ({ server, url }) => {
    const first = server.signInPath();
    for (let count = 0; count < 20; count++) server.signInPath();
    expect((await signInWith(url + first)).status).toBe(404);
  });

  it.each([
    ['its user', process.getuid?.() ?? null],
    ['root, who may do everything', 0],
  ])('still works for %s if another user of the machine is faster', async (_who, uid) => {
    const clock = createClock();
    let owner: number | null = 65_534;
    const signIn = createSignIn({ clock, access: createAccess(CONTROL_TOKEN, () => 0), ownerOf: () => owner });
    const server = createServer((request: IncomingMessage, response) =>
      signIn.handle(request, response, request.url ?? ''),
    );
    const link = `http://127.0.0.1:${(await listen(server)).port}${signIn.issue()}`;
    expect((await signInWith(link)).status).toBe(403);
    owner = uid;
    expect((await signInWith(link)).status).toBe(200);
  });
});

it('a new token signs every session out', async ({ server, url, access }) => {
  const session = access.session();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/rpc`, ['vivarium', `token.${session}`]);
  const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve));
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  access.replace('another');
  server.signOutAll();
  expect((await closed).reason).toBe('The token has been renewed');
  expect((await ask(url, CONTROL_TOKEN)).status).toBe(401);
  expect((await ask(url, 'another')).status).toBe(201);
});
