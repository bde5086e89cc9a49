import {
  compare,
  createOpenProject,
  end,
  type Figure,
  perSecond,
  processorSeconds,
  residentMb,
  ROUND_SECONDS,
  runWrk,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';

const WARM_UP_ROUNDS = 3;

/**
 * What recording costs: `GET /v1/pets?limit=20` with headers and bodies recorded, against nothing recorded. By the engines'
 * own processor time, so that what else the machine does takes no part in it.
 */
export async function recorder(): Promise<Figure[]> {
  const [on, off] = [await serve(true), await serve(false)];
  // At first nothing is compiled, and nothing is full.
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    on.run();
    off.run();
  }
  const { ratio, a, b } = compare(on.run, off.run, ({ perProcessorSecond }) => perProcessorSecond);
  const megabytes = [on, off].map(({ child }) => residentMb(child));
  await end(on.child);
  await end(off.child);
  return [
    {
      what: 'GET /v1/pets?limit=20 with the recorder on, against off',
      measured: `${ratio.toFixed(2)} ×`,
      wanted: '≥ 0.9 ×',
      met: ratio >= 0.9,
      detail: `${perSecond(a)} against ${perSecond(b)} of processor time; ${megabytes.map(Math.round).join(' against ')} MB`,
    },
  ];
}

async function serve(record: boolean) {
  const vivarium = await startVivarium(temporaryFolder());
  const { child } = vivarium;
  const { projectId, secret, host } = await createOpenProject(vivarium, 'Bench');
  await vivarium.call('pets.seed', { projectId, count: 1_000 });
  await vivarium.call('settings.update', { traffic: { record, bodies: true } });
  const { port } = vivarium.runtime.http;
  const load = {
    url: `http://127.0.0.1:${port}/v1/pets?limit=20`,
    headers: { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` },
  };
  return {
    child,
    run() {
      const before = processorSeconds(child);
      const result = runWrk(load);
      const after = processorSeconds(child);
      const perProcessorSecond =
        before === null || after === null
          ? result.requestsPerSecond
          : (result.requestsPerSecond * ROUND_SECONDS) / (after - before);
      return { ...result, perProcessorSecond };
    },
  };
}
