import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { decide } from '../../../main/breaks/rule-index.ts';
import { BREAKS_MAX } from '../../../main/contract/breaks.ts';
import {
  compare,
  createOpenProject,
  end,
  type Figure,
  type Loaded,
  type LoadResult,
  perSecond,
  runWrk,
  startVivarium,
  temporaryFolder,
  type Vivarium,
} from '../harness.ts';

const CHOICE = { seed: 42, nth: 1, rate: 0.3 };
const DECISIONS = 10_000;
const LIVES = 4;

/** What a thousand rules for other paths of the same hostname cost, and whether choices repeat across `kill -9`. */
export async function breaks(): Promise<Figure[]> {
  const without = await loaded(0);
  const having = await loaded(BREAKS_MAX);
  const result = compare(having, without, (load) => load.requestsPerSecond);
  await end(without.child);
  await end(having.child);
  const repeated = await repeatedDecisions();
  return [
    {
      what: `GET /v1/pets?limit=20 while ${BREAKS_MAX} breaks of other paths run, against none, by processor time`,
      measured: `${result.byCpu.toFixed(2)} ×`,
      wanted: '≥ 0.95 ×',
      met: result.byCpu >= 0.95,
      detail: `${perSecond(result.a)} with them, ${perSecond(result.b)} without; ${result.cost}`,
    },
    {
      what: 'choices of a seed that repeat, over HTTP/1.1 and HTTP/2 in turns and three ends by kill -9',
      measured: `${repeated.toLocaleString('en')} of ${DECISIONS.toLocaleString('en')}`,
      wanted: 'all',
      met: repeated === DECISIONS,
      detail: `seed ${CHOICE.seed}, a share of ${CHOICE.rate}`,
    },
  ];
}

async function loaded(rules: number): Promise<Loaded<LoadResult>> {
  const vivarium = await startVivarium(temporaryFolder(), ['--empty']);
  const { secret, host } = await createOpenProject(vivarium, 'Asked');
  for (let rule = 0; rule < rules; rule++) {
    await vivarium.call('breaks.start', { entry: 'api.sunset', on: { hostname: host, path: `/v1/other/${rule}` } });
  }
  const { port } = vivarium.runtime.http;
  const headers = { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` };
  return { child: vivarium.child, load: () => runWrk({ url: `http://127.0.0.1:${port}/v1/pets?limit=20`, headers }) };
}

/** How many of 10,000 requests were broken exactly as the seed determines. */
async function repeatedDecisions(): Promise<number> {
  const dataDir = temporaryFolder();
  let right = 0;
  let sent = 0;
  let asked: { secret: string; host: string } | null = null;
  for (let life = 0; life < LIVES; life++) {
    const vivarium = await startVivarium(dataDir, ['--empty']);
    if (asked === null) {
      asked = await createOpenProject(vivarium, 'Asked');
      await vivarium.call('breaks.start', { entry: 'api.unavailable', for: '1d', ...CHOICE });
    }
    const client = openClient(vivarium, asked);
    for (let request = 0; request < DECISIONS / LIVES; request++) {
      sent += 1;
      const status = await (sent % 2 === 0 ? client.overHttp2() : client.overHttp1());
      if ((status === 503) === (decide(CHOICE, sent) !== null)) right += 1;
    }
    client.close();
    vivarium.child.kill('SIGKILL');
    await once(vivarium.child, 'exit');
  }
  return right;
}

function openClient({ runtime }: Vivarium, { secret, host }: { secret: string; host: string }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const authorization = `Bearer ${secret}`;
  const session: ClientHttp2Session = connect(`https://${host}:${runtime.https.port}`, {
    ca: readFileSync(runtime.caFile),
    lookup: (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  // It ends with its engine.
  session.on('error', () => undefined);
  const path = '/v1/pets?limit=1';
  return {
    overHttp1: () =>
      new Promise<number>((resolve, reject) => {
        const { port } = runtime.http;
        const sent = request({ host: '127.0.0.1', port, path, agent, headers: { host, authorization } }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode ?? 0));
        });
        sent.once('error', reject).end();
      }),
    overHttp2: () =>
      new Promise<number>((resolve, reject) => {
        const stream = session.request({ ':path': path, authorization });
        let status = 0;
        stream.once('response', (headers) => (status = Number(headers[':status'])));
        stream.once('error', reject).once('end', () => resolve(status));
        stream.resume().end();
      }),
    close() {
      agent.destroy();
      session.destroy();
    },
  };
}
