import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  compare,
  createOpenProject,
  end,
  type Figure,
  runWrk,
  startVivarium,
  temporaryFolder,
  type Vivarium,
} from '../harness.ts';

const SMALL = 1_000;
const LARGE = 1_000_000;

/** Requests pages at changing positions, so that neither side can answer from a cached page. */
const pagesScript = (count: number, status: string | null) => `
math.randomseed(7)
request = function()
  return wrk.format("GET", "/v1/pets?limit=20${status === null ? '' : `&status=${status}`}&after=" .. math.random(0, ${count - 100}))
end
`;

/** The latency of a page with a million pets compared with a thousand, with and without `status`. */
export async function datasetSize(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder());
  const small = await createOpenProject(vivarium, 'Small');
  const large = await createOpenProject(vivarium, 'Large');
  await vivarium.call('pets.seed', { projectId: small.projectId, count: SMALL });
  await vivarium.call('pets.seed', { projectId: large.projectId, count: LARGE });

  const figures = [null, 'pending'].map((status): Figure => {
    const result = compare(
      { child: vivarium.child, load: () => pages(vivarium, large, LARGE, status) },
      { child: vivarium.child, load: () => pages(vivarium, small, SMALL, status) },
      (load) => load.p50Ms,
    );
    return {
      what: `latency of a page ${status === null ? 'without' : 'with'} status: 1,000,000 pets against 1,000`,
      measured: `${result.ratio.toFixed(2)} ×`,
      wanted: '≤ 1.5 ×',
      met: result.ratio <= 1.5,
      detail: `p50 ${result.a.toFixed(2)} ms against ${result.b.toFixed(2)} ms at 32 connections; ${result.cost}`,
    };
  });
  await end(vivarium.child);
  return figures;
}

function pages(vivarium: Vivarium, project: { host: string; secret: string }, count: number, status: string | null) {
  const port = vivarium.runtime.http.port;
  const script = join(temporaryFolder(), 'pages.lua');
  writeFileSync(script, pagesScript(count, status));
  return runWrk({
    url: `http://127.0.0.1:${port}/`,
    headers: { Host: `${project.host}:${port}`, Authorization: `Bearer ${project.secret}` },
    script,
  });
}
