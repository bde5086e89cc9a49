import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { join } from 'node:path';
import { message, opt, TcpClient, UdpClient } from '../../support/dns-client.ts';
import { compare, end, type Figure, portOf, ROUND_SECONDS, startNode, startVivarium } from '../harness.ts';
import { temporaryFolder, type Vivarium } from '../harness.ts';
import { makeZone, type Random, seeded, TYPES, ZONES } from './dns-agreement.ts';
import { makeLeaf } from './http2-requests.ts';

const DNS_MESSAGE = 'application/dns-message';
const NAME = 'www.doh.test';

/** The flag of a truncated UDP reply. */
const TRUNCATED = 0x02;

/** DNS over HTTPS: the same octets as over UDP, and its speed. */
export async function doh(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  try {
    return [await agreement(vivarium), ...(await throughput(vivarium))];
  } finally {
    await end(vivarium.child);
  }
}

/** Random questions about random zones, half of them with EDNS, sent over both. */
async function agreement(vivarium: Vivarium): Promise<Figure> {
  const random = seeded(20_261_123);
  const folder = temporaryFolder();
  const { https, dns } = vivarium.runtime;
  const [udp, tcp] = [new UdpClient(dns.port), await TcpClient.open(dns.port)];
  const session = connect(`https://localhost:${https.port}`, { rejectUnauthorized: false });
  await once(session, 'connect');
  const different: string[] = [];
  let asked = 0;
  for (let index = 0; index < ZONES; index++) {
    for (const name of await makeZone(vivarium, folder, `zone${index}.test`, random)) {
      for (const [type, code] of Object.entries(TYPES)) {
        const query = anyQuery(name, code, random);
        const [over, reply] = await Promise.all([askDoh(session, query), udp.ask(query)]);
        const wanted = ((reply[2] ?? 0) & TRUNCATED) === 0 ? reply : await tcp.ask(query);
        asked++;
        if (!over.equals(wanted)) different.push(`${name} ${type}`);
      }
    }
  }
  for (const client of [session, udp, tcp]) client.close();
  return {
    what: 'random questions that DNS over HTTPS answers otherwise than UDP, or TCP where UDP truncates',
    measured: `${different.length} of ${asked}`,
    wanted: '0, of 6,720 or more',
    met: different.length === 0 && asked >= 6_720,
    detail: different.slice(0, 10).join(', ') || 'every octet, by POST over HTTP/2',
  };
}

const anyQuery = (name: string, type: number, random: Random): Buffer =>
  message({ id: random(0x1_0000), name, type, ...(random(2) === 0 && { rest: opt() }) });

async function askDoh(session: ClientHttp2Session, query: Buffer): Promise<Buffer> {
  const request = session.request({ ':method': 'POST', ':path': '/dns-query', 'content-type': DNS_MESSAGE });
  request.end(query);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function throughput(vivarium: Vivarium): Promise<Figure[]> {
  if (spawnSync('h2load', ['--version']).status !== 0) return [];
  await vivarium.call('zones.create', { name: 'doh.test' });
  await vivarium.call('records.put', { zone: 'doh.test', name: 'www', type: 'A', value: '192.0.2.1' });
  const folder = temporaryFolder();
  const query = join(folder, 'query');
  writeFileSync(query, message({ id: 0, name: NAME }));
  const { key, certificate } = makeLeaf('localhost', folder);
  const echo = await startNode(['test/bench/peers/http2-echo.ts', key, certificate], portOf);
  const load = (port: number) => () => {
    // One connection is kept alive, as in a browser.
    const args = ['-t1', '-c1', '-m32', '-D', String(ROUND_SECONDS), '-d', query, '-H', `content-type: ${DNS_MESSAGE}`];
    const done = spawnSync('h2load', [...args, `https://localhost:${port}/dns-query`], { encoding: 'utf8' });
    const number = (pattern: RegExp): number => Number(pattern.exec(done.stdout)?.[1] ?? Number.NaN);
    return { requests: number(/status codes: (\d+) 2xx/), failures: number(/ (\d+) failed/) };
  };
  const [ours, theirs] = [
    { child: vivarium.child, load: load(vivarium.runtime.https.port) },
    { child: echo.child, load: load(echo.ready) },
  ];
  for (const side of [ours, theirs]) side.load();
  const { byCpu, cost } = compare(ours, theirs, ({ requests }) => requests);
  await end(echo.child);
  return [
    {
      what: 'questions over HTTPS, HTTP/2 keep-alive, against an echo by node:http2, by processor time',
      measured: `${byCpu.toFixed(2)} ×`,
      wanted: '≥ 0.6 ×',
      met: byCpu >= 0.6,
      detail: cost,
    },
  ];
}
