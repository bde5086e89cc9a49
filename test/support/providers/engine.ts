import { readFileSync } from 'node:fs';
import { fetch as undiciFetch, ProxyAgent } from 'undici';
import { expect } from 'vitest';
import { startEngine, track } from '../engine.ts';
import type { Driven } from './coverage.ts';

interface Limited {
  status: number;
  headers: Headers;
}

export type ProviderEngine = Awaited<ReturnType<typeof startProviderEngine>>;
export type Connected = Awaited<ReturnType<ProviderEngine['connect']>>;

/** An engine with three projects, for accounts of providers. */
export async function startProviderEngine() {
  const engine = await startEngine({ empty: true, ephemeral: true });
  for (const name of ['Shop', 'Blog', 'Rival']) await engine.call('projects.create', { name });
  const zones = new Set<string>();
  return {
    ...engine,
    async connect(provider: string, projectId: string, also: readonly string[] = []) {
      const opened = await engine.call('providers.connect', { provider, projectId, also });
      const { origin, username, password } = new URL(opened.proxyUrl);
      const token = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
      const agent = new ProxyAgent({ uri: origin, token, requestTls: { ca: readFileSync(opened.caFile) } });
      track(() => agent.destroy());
      /** By the connection's proxy and root. */
      const fetch = (async (input: string | URL | Request, init?: RequestInit) => {
        const { url, method, headers, body } = new Request(input, init);
        const text = body === null ? undefined : await new Response(body).text();
        const sent = { method, headers: Object.fromEntries(headers), dispatcher: agent };
        return undiciFetch(url, { ...sent, ...(text !== undefined && { body: text }) });
      }) as typeof globalThis.fetch;
      const rest = restBy(opened.token, fetch);
      /** What a call is answered without a token, and with one of another kind. */
      const refused = (url: string, foreign: Record<string, string>) =>
        Promise.all(
          [{}, foreign].map(async (headers): Promise<[number, unknown]> => {
            const answer = await fetch(url, { headers });
            return [answer.status, await answer.json()];
          }),
        );
      return { ...opened, fetch, rest, refused };
    },
    /** Puts a record into a zone of Vivarium's DNS, which is made if there is none. */
    async put(zone: string, name: string, type: string, value: string) {
      if (!zones.has(zone)) await engine.call('zones.create', { name: zone });
      zones.add(zone);
      return await engine.call('records.put', { zone, name, type, value });
    },
    domain: (hostname: string) => engine.call('domains.get', { hostname }),
    /** What the first call beyond a limit is answered, which the clock lifts. `other` is not limited by it. */
    async beyond<Answer extends Limited>(
      call: () => Promise<Answer>,
      { calls, waitS, by, other }: { calls: number; waitS: number; by: string; other?: () => Promise<void> },
    ): Promise<Answer> {
      for (let left = calls; left > 0; left -= 100) {
        const answers = await Promise.all(Array.from({ length: Math.min(left, 100) }, call));
        expect(answers.filter(({ status }) => status === 429)).toEqual([]);
      }
      const refused = await call();
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(waitS);
      await other?.();
      await engine.call('clock.advance', { by });
      expect((await call()).status).toBeLessThan(300);
      return refused;
    },
  };
}

/** What a call that has to be refused throws. */
export const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => new Error('It was not refused.'),
    (error: unknown) => error,
  );

/** Expects that calls are refused so; `read` reads what a client throws. */
export const refusesBy =
  (read: (thrown: unknown) => object) =>
  async (call: Promise<unknown>, status: number, code?: number | string, more: object = {}): Promise<void> =>
    expect(read(await thrownBy(call))).toMatchObject({ status, ...(code !== undefined && { code }), ...more });

/** Calls of a REST API below a URL by bare fetch; those that succeed are noted. */
const restBy =
  (token: string, fetch: typeof globalThis.fetch) =>
  (base: string, driven: Driven = new Set()) =>
    async function ask<Body>(method: string, path: string, body?: object) {
      const url = `${base}${path}`;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      if (response.ok) driven.add(`${method} ${new URL(url).pathname}`);
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: JSON.parse(text || 'null') as Body };
    };
