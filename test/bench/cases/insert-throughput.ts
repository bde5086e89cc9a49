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
  startNode,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';

/** `POST /v1/pets` on disk, compared with bare better-sqlite3 inserts at the same journal mode and durability. */
export async function insertThroughput(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder());
  const { secret, host } = await createOpenProject(vivarium, 'Bench');
  const script = join(temporaryFolder(), 'post.lua');
  writeFileSync(
    script,
    `wrk.method = "POST"\nwrk.body = '{"name":"Rex the Beagle","categoryId":1}'\nwrk.headers["Content-Type"] = "application/json"\n`,
  );
  const bare = await startNode(
    [join(import.meta.dirname, '..', 'peers', 'bare-insert.ts'), join(temporaryFolder(), 'bare.db')],
    portOf,
  );
  const port = vivarium.runtime.http.port;
  const headers = { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` };
  const result = compare(
    {
      child: vivarium.child,
      load: () => runWrk({ url: `http://127.0.0.1:${port}/v1/pets`, headers, script }),
    },
    {
      child: bare.child,
      load: () => runWrk({ url: `http://127.0.0.1:${bare.ready}/v1/pets`, headers, script }),
    },
    (load) => load.requestsPerSecond,
  );
  await end(bare.child);
  await end(vivarium.child);
  return [
    {
      what: 'POST /v1/pets, durable (WAL, synchronous FULL), against bare better-sqlite3 inserts over node:http',
      measured: `${result.ratio.toFixed(2)} ×`,
      wanted: '≥ 0.5 ×',
      met: result.ratio >= 0.5,
      detail: `${perSecond(result.a)} against ${perSecond(result.b)}; ${result.cost}`,
    },
  ];
}
