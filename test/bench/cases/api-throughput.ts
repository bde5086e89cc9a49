import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  compare,
  createOpenProject,
  end,
  type Figure,
  perSecond,
  portOf,
  ROUNDS,
  runWrk,
  sample,
  startNode,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';

const PEERS = join(import.meta.dirname, '..', 'peers');

/** Projects with a key in a fresh Vivarium; rounds use them in turn. */
async function startApi(count = 1) {
  const vivarium = await startVivarium(temporaryFolder());
  const { port } = vivarium.runtime.http;
  const projects: Awaited<ReturnType<typeof createOpenProject>>[] = [];
  for (let number = 0; number < count; number++) projects.push(await createOpenProject(vivarium, `Bench ${number}`));
  let round = 0;
  const headers = (): Record<string, string> => {
    const { host = '', secret = '' } = projects[round++ % count] ?? {};
    return { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` };
  };
  return { vivarium, projectId: projects[0]?.projectId, port, headers };
}

/** One request of the API, every stage on, against the same of a peer with the least that Node can do. */
async function compareWith(
  peer: readonly string[],
  { vivarium, port, headers }: Awaited<ReturnType<typeof startApi>>,
  { path, script }: { path: string; script?: string },
  figure: Pick<Figure, 'what' | 'wanted'>,
): Promise<Figure[]> {
  const bare = await startNode(peer, portOf);
  const load = (at: number) => () =>
    runWrk({ url: `http://127.0.0.1:${at}${path}`, headers: headers(), ...(script !== undefined && { script }) });
  const { ratio, a, b, cost } = compare(
    { child: vivarium.child, load: load(port) },
    { child: bare.child, load: load(bare.ready) },
    (result) => result.requestsPerSecond,
  );
  await end(bare.child);
  await end(vivarium.child);
  const detail = `${perSecond(a)} against ${perSecond(b)}; ${cost}`;
  return [{ ...figure, measured: `${ratio.toFixed(2)} ×`, met: ratio >= 0.5, detail }];
}

export const listThroughput = (): Promise<Figure[]> => readThroughput('/v1/pets?limit=20', '20 pets');

export const petThroughput = (): Promise<Figure[]> => readThroughput('/v1/pets/7', 'one pet');

/** `GET path`, keep-alive, against the same bytes from memory. */
async function readThroughput(path: string, what: string): Promise<Figure[]> {
  const api = await startApi();
  await api.vivarium.call('pets.seed', { projectId: api.projectId, count: 1_000 });
  const { status, body, headers } = await sample(`http://127.0.0.1:${api.port}${path}`, api.headers());
  if (status !== 200) throw new Error(`${path} answered ${status}: ${body}`);
  const sampleFile = join(temporaryFolder(), 'sample.json');
  writeFileSync(sampleFile, JSON.stringify({ headers, body }));
  return compareWith(
    [join(PEERS, 'bare-http.ts'), sampleFile],
    api,
    { path },
    { what: `GET ${path} (${what}), all stages, against bare node:http`, wanted: '≥ 0.5 × (aim 0.7)' },
  );
}

/** `POST /v1/pets` on disk, at the same journal mode and durability. */
export async function insertThroughput(): Promise<Figure[]> {
  const script = join(temporaryFolder(), 'post.lua');
  writeFileSync(
    script,
    `wrk.method = "POST"\nwrk.body = '{"name":"Rex the Beagle","categoryId":1}'\nwrk.headers["Content-Type"] = "application/json"\n`,
  );
  return compareWith(
    [join(PEERS, 'bare-insert.ts'), join(temporaryFolder(), 'bare.db')],
    // A dataset has a bound, so each round has a project of its own.
    await startApi(ROUNDS),
    { path: '/v1/pets', script },
    {
      what: 'POST /v1/pets, durable (WAL, synchronous FULL), against bare better-sqlite3 inserts over node:http',
      wanted: '≥ 0.5 ×',
    },
  );
}
