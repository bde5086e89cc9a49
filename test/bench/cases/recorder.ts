import {
  createOpenProject,
  end,
  type Figure,
  median,
  perSecond,
  processorSeconds,
  ROUND_SECONDS,
  ROUNDS,
  runWrk,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';

const WARM_UP_ROUNDS = 3;

/**
 * What recording costs: `GET /v1/pets?limit=20` with headers and bodies recorded, against nothing recorded, by the engine's
 * own processor time. One engine takes turns, because two that do the same differ by as much as is to be found out: the
 * compiler decides anew in each.
 */
export async function recorder(): Promise<Figure[]> {
  const vivarium = await startVivarium(temporaryFolder());
  const { child } = vivarium;
  const { projectId, secret, host } = await createOpenProject(vivarium, 'Bench');
  await vivarium.call('pets.seed', { projectId, count: 1_000 });
  const { port } = vivarium.runtime.http;
  const load = {
    url: `http://127.0.0.1:${port}/v1/pets?limit=20`,
    headers: { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` },
  };
  const run = async (record: boolean): Promise<number> => {
    await vivarium.call('settings.update', { traffic: { record, bodies: true } });
    const before = processorSeconds(child);
    const result = runWrk(load);
    const after = processorSeconds(child);
    if (result.failures > 0) throw new Error(`${result.failures} requests failed; the figure would mean nothing.`);
    return before === null || after === null
      ? result.requestsPerSecond
      : (result.requestsPerSecond * ROUND_SECONDS) / (after - before);
  };
  // At first nothing is compiled, and nothing is full.
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    await run(true);
    await run(false);
  }
  const rounds: { on: number; off: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push({ on: await run(true), off: await run(false) });
  await end(child);
  const ratio = median(rounds.map(({ on, off }) => on / off));
  return [
    {
      what: 'GET /v1/pets?limit=20 with the recorder on, against off',
      measured: `${ratio.toFixed(2)} ×`,
      wanted: '≥ 0.9 ×',
      met: ratio >= 0.9,
      detail: `${perSecond(median(rounds.map(({ on }) => on)))} against ${perSecond(median(rounds.map(({ off }) => off)))} of processor time`,
    },
  ];
}
