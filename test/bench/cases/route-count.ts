import { join } from 'node:path';
import { createClock } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { DATABASE_FILE } from '../../../main/base/data-folder.ts';
import { openStore } from '../../../main/store/store.ts';
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
} from '../harness.ts';

/** A request with 10,000 projects (20,000 hostnames) in the route table, compared with 10 projects. */
export async function routeCount(): Promise<Figure[]> {
  const few = await vivariumWithProjects(10);
  const many = await vivariumWithProjects(10_000);
  const result = compare(few, many, (load) => load.requestsPerSecond);
  await end(few.child);
  await end(many.child);
  return [
    {
      what: 'a request with the routes of 10,000 projects against 10',
      measured: `${result.ratio.toFixed(2)} ×`,
      wanted: '≤ 1.2 ×',
      met: result.ratio <= 1.2,
      detail: `${perSecond(result.b)} with 10,000, ${perSecond(result.a)} with 10; ${result.cost}`,
    },
  ];
}

async function vivariumWithProjects(count: number): Promise<Loaded<LoadResult>> {
  const dataDir = temporaryFolder();
  // Through the store instead of 10,000 calls: this measures requests, not the creation of projects.
  const store = openStore({ file: join(dataDir, DATABASE_FILE), clock: createClock(), log: silentLog });
  for (let index = 0; index < count - 1; index++) {
    store.projects.insert({
      id: `prj_bench${index}`,
      name: `Bench ${index}`,
      slug: `bench-${index}`,
      plan: 'free',
      limits: null,
      target: { kind: 'api' },
      primary: null,
      redirects: [],
      persona: 'animal-store',
      createdAtMs: index,
    });
  }
  store.close();
  const vivarium = await startVivarium(dataDir, ['--empty']);
  const { secret, host } = await createOpenProject(vivarium, 'Asked');
  const port = vivarium.runtime.http.port;
  const headers = { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` };
  return { child: vivarium.child, load: () => runWrk({ url: `http://127.0.0.1:${port}/v1/pets?limit=20`, headers }) };
}
