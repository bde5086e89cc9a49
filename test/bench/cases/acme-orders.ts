import type { ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTurns } from '../../../main/base/turns.ts';
import type { Received } from '../../support/acme-client.ts';
import { serveChallenges } from '../../support/acme-kills.ts';
import { createRemoteClient, type RemoteClient } from '../../support/acme-remote.ts';
import { createCsr, p256 } from '../../support/certificate-request.ts';
import {
  cpuSeconds,
  end,
  type Figure,
  longestMs,
  portOf,
  startNode,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';
import { makeLeaf } from './http2-requests.ts';

const ORDERS = Number(process.env.ACME_ORDERS ?? 1_000);
const CROWD = Number(process.env.ACME_CROWD ?? ORDERS * 10);
const PARALLEL = 32;
/** The length of the first; each later one is longer by the same amount. */
const POLL_MS = 1_000;

/** Orders of a client whose web server answers http-01, then ten times as many at once. */
export async function acmeOrders(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder(), ['--empty'], { probe: 'test/bench/peers/stall-probe.ts' });
  const client = createRemoteClient(vivarium.runtime);
  const web = await serveChallenges((await client.keyAuthorization('')).slice(1));
  try {
    await vivarium.call('settings.update', { acmeHttpPort: web.port });
    await vivarium.call('zones.create', { name: 'acme.test' });
    await vivarium.call('records.put', { zone: 'acme.test', name: '*', type: 'A', value: '127.0.0.1' });
    await client.register();
    await obtainAll(client, requestsOf('warm', PARALLEL), PARALLEL);
    await longestMs(vivarium.child);
    const one = await measured(vivarium.child, () => obtainAll(client, requestsOf('one', ORDERS), PARALLEL));
    const stallMs = await longestMs(vivarium.child);
    const bareSeconds = await bareCpuSeconds();
    const crowd = await measured(vivarium.child, () => obtainAll(client, requestsOf('all', CROWD), CROWD));
    const isServing = (await obtainAll(client, requestsOf('after', 1), 1)).length === 1;
    const distinct = new Set([...one.result, ...crowd.result]).size;
    const count = (number: number) => number.toLocaleString('en');
    return [
      {
        what: `${count(ORDERS)} orders by http-01, ${PARALLEL} at a time`,
        measured: `${one.seconds.toFixed(1)} s`,
        wanted: `≤ ${(10 * ORDERS) / 1_000} s`,
        met: one.seconds <= (10 * ORDERS) / 1_000 && one.result.length === ORDERS,
        detail:
          `${count(one.result.length)} certificates; ${((one.cpu / ORDERS) * 1e3).toFixed(2)} ms of processor time an order; ` +
          `longest turn ${stallMs.toFixed(0)} ms`,
      },
      {
        what: 'processor time of an order, against five requests to a bare server that checks and signs',
        measured: `${(one.cpu / ORDERS / bareSeconds).toFixed(1)} ×`,
        wanted: 'no target',
        met: null,
        detail: `${(bareSeconds * 1e3).toFixed(2)} ms on the bare server`,
      },
      {
        what: `${count(CROWD)} orders at once: refused; certificates; serial numbers twice`,
        measured: `${count(CROWD - crowd.result.length)}; ${count(crowd.result.length)}; ${count(one.result.length + crowd.result.length - distinct)}`,
        wanted: 'none twice',
        met: isServing && distinct === one.result.length + crowd.result.length,
        detail: `${crowd.seconds.toFixed(0)} s`,
      },
    ];
  } finally {
    client.close();
    await end(vivarium.child);
    web.close();
  }
}

interface Requested {
  name: string;
  csr: Buffer;
}

/** Made before the measurement: keys and CSRs are the clients' work. */
function requestsOf(what: string, count: number): Requested[] {
  const keys = p256();
  return Array.from({ length: count }, (_, index) => {
    const name = `${what}${index}.acme.test`;
    return { name, csr: createCsr({ names: [name], keys }) };
  });
}

/** The serial numbers of the issued certificates. */
async function obtainAll(client: RemoteClient, requests: readonly Requested[], parallel: number): Promise<string[]> {
  const turns = createTurns(parallel);
  const serials = await Promise.all(requests.map((request) => turns.take(() => obtain(client, request))));
  return serials.filter((serial) => serial !== null);
}

/** Null for an order that was refused; the refusal has to be an ACME problem. */
async function obtain(client: RemoteClient, { name, csr }: Requested): Promise<string | null> {
  const order = await client.order([name]);
  if (isRefused(order)) return null;
  for (const challenge of await client.respond(order)) if (isRefused(challenge)) return null;
  const url = String(order.fields['location']?.[0]);
  for (let polls = 1; (await client.post(url)).json['status'] === 'pending'; polls++) {
    await new Promise((resolve) => setTimeout(resolve, polls * POLL_MS));
  }
  const issued = await client.finalize(order, csr);
  if (isRefused(issued)) return null;
  return new X509Certificate((await client.post(String(issued.json['certificate']))).text).serialNumber;
}

function isRefused({ status, text }: Received): boolean {
  if (status === 429) return true;
  if (status >= 400) throw new Error(`${status} ${text}`);
  return false;
}

async function measured<Result>(child: ChildProcess, work: () => Promise<Result>) {
  const [before, startedMs] = [cpuSeconds(child), performance.now()];
  const result = await work();
  return { result, cpu: cpuSeconds(child) - before, seconds: (performance.now() - startedMs) / 1_000 };
}

/**
 * Processor seconds of five signed requests, one of which makes the server sign: the share of an order on a bare
 * server.
 */
async function bareCpuSeconds(): Promise<number> {
  const folder = temporaryFolder();
  const { key, certificate } = makeLeaf('localhost', folder);
  const clientKey = join(folder, 'client.pem');
  const keys = p256();
  writeFileSync(clientKey, keys.publicKey.export({ type: 'spki', format: 'pem' }));
  const bare = await startNode(['test/bench/peers/bare-orders.ts', key, certificate, clientKey], portOf);
  const client = createRemoteClient({ https: { port: bare.ready }, caFile: certificate });
  client.keys = keys;
  const order = async (): Promise<void> => {
    for (const path of ['/order', '/authorization', '/challenge', '/sign', '/certificate']) await client.post(path, {});
  };
  const turns = createTurns(PARALLEL);
  const run = (count: number) => Promise.all(Array.from({ length: count }, () => turns.take(order)));
  await run(PARALLEL);
  const { cpu } = await measured(bare.child, () => run(ORDERS));
  client.close();
  await end(bare.child);
  return cpu / ORDERS;
}
