import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RuntimeFile } from '../../../main/base/config.ts';
import type { Received } from './acme-client.ts';
import { createRemoteClient, type RemoteClient } from './acme-remote.ts';
import { createCsr } from '../certificate-request.ts';

/** A Vivarium in a separate process; each start uses the same folder and the same HTTPS port, which is in all URLs. */
export interface Killable {
  start(): Promise<{
    runtime: RuntimeFile;
    call(procedure: string, input: unknown): Promise<unknown>;
    kill(): unknown;
  }>;
}

export const STEPS = ['order', 'authorization', 'challenge', 'finalize', 'certificate'] as const;

/** How long after the request of a step the process is killed. */
export interface KillPoint {
  step: (typeof STEPS)[number];
  delayMs: number;
}

export interface KillsFound {
  /** How the orders ended: `valid`, or `invalid` with a reason. */
  ended: string[];
  /** Orders that neither continued nor had a reason. */
  stuck: string[];
  /** Accounts, orders and certificates that were acknowledged to a client. */
  lost: string[];
}

/** An order that does not end within this many answers is stuck. */
const POLLS_MAX = 5_000;

/** A web server that answers the http-01 challenges of any client whose key has this thumbprint. */
export async function serveChallenges(thumbprint: string): Promise<{ port: number; close(): void }> {
  const server = createServer(({ url = '' }, response) => response.end(`${url.split('/').at(-1) ?? ''}.${thumbprint}`));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Kills the engine during an order, once for each point, and restarts it; returns what clients then find. */
export async function killDuringOrders({ start }: Killable, points: readonly KillPoint[]): Promise<KillsFound> {
  const found: KillsFound = { ended: [], stuck: [], lost: [] };
  /** All leaves that a client has received, by URL. */
  const seen = new Map<string, string>();
  let engine = await start();
  let client = createRemoteClient(engine.runtime);
  const { keys } = client;
  const web = await serveChallenges((await client.keyAuthorization('')).slice(1));
  try {
    await engine.call('settings.update', { acmeHttpPort: web.port });
    await engine.call('zones.create', { name: 'acme.test' });
    await engine.call('records.put', { zone: 'acme.test', name: '*', type: 'A', value: '127.0.0.1' });
    await client.register();
    for (const [index, { step, delayMs }] of points.entries()) {
      const name = `kill${index}.acme.test`;
      const running = engine;
      const ended = Promise.withResolvers<unknown>();
      let isDue = false;
      const urls = await walk(client, name, (at) => {
        if (at !== step) return;
        isDue = true;
        setTimeout(() => ended.resolve(running.kill()), delayMs);
      });
      if (!isDue) throw new Error(`The order for ${name} ended before ${step}.`);
      await ended.promise;
      client.close();

      engine = await start();
      client = Object.assign(createRemoteClient(engine.runtime), { keys });
      if ((await client.register({ onlyReturnExisting: true })).status !== 200) found.lost.push(`the account, ${name}`);
      for (const url of urls) if ((await client.post(url)).status !== 200) found.lost.push(url);
      const url = urls[0] ?? String((await client.order([name])).fields['location']?.[0]);
      const [status, certificate] = await finish(client, url, name);
      if (status === 'stuck') found.stuck.push(`${name}, after ${step} and ${delayMs} ms`);
      else found.ended.push(status);
      if (certificate !== null) seen.set(...certificate);
      if (urls[1] !== undefined && urls[1] !== certificate?.[0]) found.lost.push(urls[1]);
    }
    for (const [url, leaf] of seen) if (leafOf(await client.post(url))?.toString() !== leaf) found.lost.push(url);
  } finally {
    client.close();
    await engine.kill();
    web.close();
  }
  return found;
}

/** One order as far as the engine answers: the URLs of the order and of its certificate, once the client knows them. */
async function walk(client: RemoteClient, name: string, onSent: (step: KillPoint['step']) => void): Promise<string[]> {
  const urls: string[] = [];
  const at = (step: KillPoint['step'], answer: Promise<Received>): Promise<Received> => {
    onSent(step);
    return answer;
  };
  try {
    const order = await at('order', client.order([name]));
    const url = String(order.fields['location']?.[0]);
    urls.push(url);
    const [authorization] = order.json['authorizations'] as string[];
    const { json } = await at('authorization', client.post(authorization ?? ''));
    await at('challenge', client.post(challengeUrl(json), {}));
    while ((await client.post(url)).json['status'] === 'pending') await new Promise(setImmediate);
    const issued = await at('finalize', client.finalize(order, createCsr({ names: [name] })));
    const certificate = String(issued.json['certificate']);
    urls.push(certificate);
    await at('certificate', client.post(certificate));
  } catch {
    // The engine has been killed.
  }
  return urls;
}

const challengeUrl = (authorization: Record<string, unknown>): string => {
  const all = authorization['challenges'] as { type: string; url: string; status: string }[];
  return all.find(({ type }) => type === 'http-01')?.url ?? '';
};

/** Continues an order as a client does; returns how it ends, and the certificate by its URL. */
async function finish(client: RemoteClient, url: string, name: string): Promise<[string, [string, string] | null]> {
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const order = await client.post(url);
    const { status, error, certificate } = order.json as { status: string; error?: object; certificate?: string };
    if (status === 'invalid') return [error === undefined ? 'stuck' : status, null];
    if (status === 'valid' && certificate !== undefined) {
      const leaf = leafOf(await client.post(certificate));
      return leaf?.subjectAltName === `DNS:${name}` ? [status, [certificate, leaf.toString()]] : ['stuck', null];
    }
    if (status === 'pending') for (const each of await client.authorizations(order)) await respond(client, each);
    if (status === 'ready') await client.finalize(order, createCsr({ names: [name] }));
  }
  return ['stuck', null];
}

/** Null if there was no answer. */
const leafOf = ({ status, text }: Received): X509Certificate | null =>
  status === 200 ? new X509Certificate(text) : null;

async function respond(client: RemoteClient, { json }: Received): Promise<void> {
  if (json['status'] === 'pending') await client.post(challengeUrl(json), {});
}
