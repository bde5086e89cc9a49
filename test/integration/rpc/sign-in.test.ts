import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/fake-clock.ts';
import { CONTROL_TOKEN, startControl } from '../../support/rpc-control.ts';

const follow = (link: string, init: RequestInit = {}) => fetch(link, { redirect: 'manual', ...init });

const ask = (url: string, token: string | null) =>
  fetch(`${url}/sign-in`, { method: 'POST', headers: token === null ? {} : { authorization: `Bearer ${token}` } });

describe('a link that signs in', () => {
  it('redirects to the interface with the token in the fragment, and is not cached', async () => {
    const { server, url } = await startControl();
    const response = await follow(url + server.signInPath());
    expect([response.status, response.headers.get('location')]).toEqual([303, `/#token=${CONTROL_TOKEN}`]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('works once', async () => {
    const { server, url } = await startControl();
    const link = url + server.signInPath();
    await follow(link);
    const again = await follow(link);
    expect([again.status, again.headers.get('location')]).toEqual([404, null]);
  });

  it('works for a minute', async () => {
    const clock = createFakeClock();
    const { server, url } = await startControl({ clock });
    const [early, late] = [url + server.signInPath(), url + server.signInPath()];
    await clock.pass(59_000);
    expect((await follow(early)).status).toBe(303);
    await clock.pass(1_000);
    expect((await follow(late)).status).toBe(404);
  });

  it('is given to who has the token', async () => {
    const { url } = await startControl();
    const answer = await ask(url, CONTROL_TOKEN);
    const { path } = (await answer.json()) as { path: string };
    expect([answer.status, (await follow(url + path)).status]).toEqual([201, 303]);
  });

  it.each([null, 'wrong', ''])('is not given for %j', async (token) => {
    const { url } = await startControl();
    expect((await ask(url, token)).status).toBe(401);
  });

  it('cannot be guessed, followed from another site, or asked for by name', async () => {
    const { server, url } = await startControl();
    const path = server.signInPath();
    expect((await follow(`${url}/sign-in/${'a'.repeat(43)}`)).status).toBe(404);
    expect((await follow(url + path, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    expect((await follow(url + path, { method: 'POST' })).status).toBe(405);
    expect((await follow(url + path)).status).toBe(303);
  });

  it('is forgotten when many more are asked for', async () => {
    const { server, url } = await startControl();
    const first = server.signInPath();
    for (let count = 0; count < 20; count++) server.signInPath();
    expect((await follow(url + first)).status).toBe(404);
  });
});
