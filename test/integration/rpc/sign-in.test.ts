import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClock } from '../../../main/base/clock.ts';
import { createAccess, createSignIn } from '../../../main/rpc/access.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { CONTROL_TOKEN, signInWith, startControl } from '../../support/rpc/rpc-control.ts';

const ask = (url: string, token: string | null) =>
  fetch(`${url}/sign-in`, { method: 'POST', headers: token === null ? {} : { authorization: `Bearer ${token}` } });

describe('a link that signs in', () => {
  it('contains a ticket, which is exchanged for a session and never for the token', async () => {
    const { server, url, access } = await startControl();
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

  it('works once', async () => {
    const { server, url } = await startControl();
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

  it('is given to a caller with the token', async () => {
    const { url } = await startControl();
    const answer = await ask(url, CONTROL_TOKEN);
    const { path } = (await answer.json()) as { path: string };
    expect([answer.status, (await signInWith(url + path)).status]).toEqual([201, 200]);
  });

  it.each([null, 'wrong', ''])('is not given for %j', async (token) => {
    const { url } = await startControl();
    expect((await ask(url, token)).status).toBe(401);
  });

  it('cannot be guessed, used from another site, or followed', async () => {
    const { server, url } = await startControl();
    const link = url + server.signInPath();
    expect((await signInWith(`${url}/#ticket=${'a'.repeat(43)}`)).status).toBe(404);
    expect((await signInWith(link, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await signInWith(link, { origin: 'http://evil.test' })).status).toBe(403);
    expect((await fetch(link.replace('/#ticket=', '/sign-in/'))).status).toBe(405);
    expect((await signInWith(link)).status).toBe(200);
  });

  it('is forgotten when many more are requested', async () => {
    const { server, url } = await startControl();
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
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const link = `http://127.0.0.1:${(server.address() as AddressInfo).port}${signIn.issue()}`;
    expect((await signInWith(link)).status).toBe(403);
    owner = uid;
    expect((await signInWith(link)).status).toBe(200);
  });
});

describe('a new token', () => {
  it('signs every session out', async () => {
    const { server, url, access } = await startControl();
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
});
