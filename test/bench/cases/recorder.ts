import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  cpuSeconds,
  createOpenProject,
  end,
  type Figure,
  type Load,
  median,
  perSecond,
  ROUNDS,
  rangeOf,
  runWrk,
  startVivarium,
  temporaryFolder,
  type Vivarium,
} from '../harness.ts';

/** How often the engine is restarted: the compiler optimises differently each time. */
const LIVES = 5;

/** Short rounds: the machine's other load changes from one second to the next. */
const SECONDS = 1;

/** At first nothing is full or compiled, and what is compiled suits only one of the two sides. */
const WARM_UP_ROUNDS = 6;

/** Pages requested in turn where every answer differs from the ones before. */
const PAGES = 40;

/** Requests for each second of processor time, with the recorder on and off. */
interface Round {
  on: number;
  off: number;
}

/**
 * What recording costs: `GET /v1/pets?limit=20` with headers and bodies recorded, against nothing recorded, by the
 * engine's own processor time. The two take turns within each run of one engine, because two equal engines differ by as
 * much as the effect. The recorder stores equal pages once, so different pages are measured too.
 */
export async function recorder(): Promise<Figure[]> {
  const script = join(temporaryFolder(), 'pages.lua');
  writeFileSync(
    script,
    `local n = 0\nrequest = function()\n  n = n + 1\n  return wrk.format(nil, "/v1/pets?limit=" .. (1 + n % ${PAGES}))\nend\n`,
  );
  const same: Round[] = [];
  let differing: Round[] = [];
  for (let life = 0; life < LIVES; life++) {
    const vivarium = await startVivarium(temporaryFolder());
    const load = await loadOf(vivarium);
    same.push(...(await takeTurns(vivarium, load)));
    if (life === 0) differing = await takeTurns(vivarium, { ...load, script });
    await end(vivarium.child);
  }
  const ratio = ratioOf(same);
  return [
    {
      what: 'GET /v1/pets?limit=20 with the recorder on, against off',
      measured: `${ratio.toFixed(2)} ×`,
      wanted: '≥ 0.9 ×',
      met: ratio >= 0.9,
      detail:
        `requests for each second of processor time: ${perSecond(median(same.map(({ on }) => on)))} against ` +
        `${perSecond(median(same.map(({ off }) => off)))}, ${rangeOf(same.map(({ on, off }) => on / off))}; where ${PAGES} pages are asked for in turn ${ratioOf(differing).toFixed(2)} ×`,
    },
  ];
}

const ratioOf = (rounds: readonly Round[]): number => median(rounds.map(({ on, off }) => on / off));

async function loadOf(vivarium: Vivarium): Promise<Load> {
  const { projectId, secret, host } = await createOpenProject(vivarium, 'Bench');
  await vivarium.call('pets.seed', { projectId, count: 1_000 });
  const { port } = vivarium.runtime.http;
  return {
    url: `http://127.0.0.1:${port}/v1/pets?limit=20`,
    headers: { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` },
    seconds: SECONDS,
  };
}

async function takeTurns(vivarium: Vivarium, load: Load): Promise<Round[]> {
  const run = async (record: boolean): Promise<number> => {
    await vivarium.call('settings.update', { traffic: { record, bodies: true } });
    return requestsPerCpuSecond(vivarium.child, load);
  };
  const rounds: Round[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    // Neither side always comes second.
    if (round % 2 === 0) rounds.push({ on: await run(true), off: await run(false) });
    else rounds.push({ off: await run(false), on: await run(true) });
  }
  return rounds.slice(WARM_UP_ROUNDS);
}

function requestsPerCpuSecond(child: ChildProcess, load: Load): number {
  const before = cpuSeconds(child);
  const { requests, failures } = runWrk(load);
  if (failures > 0) throw new Error(`${failures} requests failed; the figure would mean nothing.`);
  return requests / (cpuSeconds(child) - before);
}
