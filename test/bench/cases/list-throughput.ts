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
 * `GET /v1/pets?limit=20`, keep-alive, every stage on, compared with the minimum that Node can do.
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
  const againstBare = compare(
    { child: vivarium.child, load: () => runWrk({ url, headers }) },
    { child: bare.child, load: () => runWrk({ url: `http://127.0.0.1:${bare.ready}/v1/pets?limit=20`, headers }) },
    (result) => result.requestsPerSecond,
  );
  await end(bare.child);
  await end(vivarium.child);

  return [
    {
      what: `GET /v1/pets?limit=20 (20 pets), all stages, against bare node:http`,
      measured: `${againstBare.ratio.toFixed(2)} ×`,
      wanted: '≥ 0.5 × (aim 0.7)',
      met: againstBare.ratio >= 0.5,
      detail: `${perSecond(againstBare.a)} against ${perSecond(againstBare.b)}; ${againstBare.cost}`,
    },
  ];
}
