import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  compare,
  createOpenProject,
  end,
  type Figure,
  perSecond,
  portOf,
  runWrk,
  sample,
  startNode,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';

const PEERS = join(import.meta.dirname, '..', 'peers');

/**
 * `GET /v1/pets?limit=20`, keep-alive, every stage on, compared with the minimum that Node can do and with json-server.
 */
export async function listThroughput(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder());
  const { projectId, secret, host } = await createOpenProject(vivarium, 'Bench');
  await vivarium.call('pets.seed', { projectId, count: 1_000 });
  const url = `http://127.0.0.1:${vivarium.runtime.http.port}/v1/pets?limit=20`;
  const headers = { Host: `${host}:${vivarium.runtime.http.port}`, Authorization: `Bearer ${secret}` };
  const { status, body, headers: answered } = await sample(url, headers);
  if (status !== 200) throw new Error(`The list answered ${status}: ${body}`);

  const sampleFile = join(temporaryFolder(), 'sample.json');
  writeFileSync(sampleFile, JSON.stringify({ headers: answered, body }));
  const bare = await startNode([join(PEERS, 'bare-http.ts'), sampleFile], portOf);
  const own = { child: vivarium.child, load: () => runWrk({ url, headers }) };
  const againstBare = compare(
    own,
    { child: bare.child, load: () => runWrk({ url: `http://127.0.0.1:${bare.ready}/v1/pets?limit=20`, headers }) },
    (result) => result.requestsPerSecond,
  );
  await end(bare.child);

  const pets = JSON.parse(body) as object[];
  const rows = Array.from({ length: 1_000 }, (_, index) => ({ ...pets[index % pets.length], id: index + 1 }));
  const dbFile = join(temporaryFolder(), 'db.json');
  writeFileSync(dbFile, JSON.stringify({ pets: rows }));
  const jsonServer = await startNode([join(PEERS, 'json-server.ts'), dbFile], portOf);
  const againstJsonServer = compare(
    own,
    {
      child: jsonServer.child,
      load: () => runWrk({ url: `http://127.0.0.1:${jsonServer.ready}/pets?_limit=20` }),
    },
    (result) => result.requestsPerSecond,
  );
  await end(jsonServer.child);
  await end(vivarium.child);

  return [
    {
      what: `GET /v1/pets?limit=20 (${pets.length} pets), all stages, against bare node:http`,
      measured: `${againstBare.ratio.toFixed(2)} ×`,
      wanted: '≥ 0.5 × (aim 0.7)',
      met: againstBare.ratio >= 0.5,
      detail: `${perSecond(againstBare.a)} against ${perSecond(againstBare.b)}; ${againstBare.cost}`,
    },
    {
      what: 'the same against json-server',
      measured: `${againstJsonServer.ratio.toFixed(1)} ×`,
      wanted: '≥ 5 ×',
      met: againstJsonServer.ratio >= 5,
      detail: `${perSecond(againstJsonServer.a)} against ${perSecond(againstJsonServer.b)}; ${againstJsonServer.cost}`,
    },
  ];
}
