import {
  cpuSeconds,
  createOpenProject,
  end,
  type Figure,
  median,
  residentMb,
  ROUNDS,
  runWrk,
  startNode,
  startVivarium,
  temporaryFolder,
} from '../harness.ts';

const REQUESTS = 1_000_000;

/** V8 returns the memory used at the start to the system after 100 s without a garbage collection. */
const IDLE_MS = 120_000;

/**
 * The time from the start to serving on an existing data folder, and the memory when idle and after a million requests.
 */
export async function startAndMemory(): Promise<Figure[]> {
  const dataDir = temporaryFolder();
  await end((await startVivarium(dataDir)).child);

  const starts: number[] = [];
  const worked: number[] = [];
  const baselines: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const started = await startVivarium(dataDir);
    starts.push(started.startMs);
    worked.push(cpuSeconds(started.child) * 1_000);
    await end(started.child);
    const nothing = await startNode(['-e', 'process.stdout.write("ready\\n"); setInterval(() => {}, 1000)'], (output) =>
      output.includes('ready') ? true : null,
    );
    baselines.push(nothing.startMs);
    await end(nothing.child);
  }

  const vivarium = await startVivarium(dataDir);
  const { secret, host, projectId } = await createOpenProject(vivarium, 'Memory');
  await vivarium.call('pets.seed', { projectId, count: 1_000 });
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const idleMb = residentMb(vivarium.child);
  const port = vivarium.runtime.http.port;
  const headers = { Host: `${host}:${port}`, Authorization: `Bearer ${secret}` };
  let requests = 0;
  while (requests < REQUESTS) {
    const seconds = 10;
    requests +=
      runWrk({ url: `http://127.0.0.1:${port}/v1/pets?limit=20`, headers, seconds }).requestsPerSecond * seconds;
  }
  const busyMb = residentMb(vivarium.child);
  await end(vivarium.child);

  const startMs = median(starts);
  const workedMs = median(worked);
  return [
    {
      what: 'processor time of a start until it serves, data folder existing, as a whole process',
      measured: `${Math.round(workedMs)} ms`,
      wanted: '≤ 300 ms',
      met: workedMs <= 300,
      detail: `${Math.round(startMs)} ms by the clock`,
    },
    {
      what: 'start to serving, data folder existing, as a whole process',
      measured: `${Math.round(startMs)} ms`,
      wanted: '≤ 600 ms',
      met: startMs <= 600,
      detail: `an empty Node process in the same run: ${Math.round(median(baselines))} ms`,
    },
    {
      what: 'resident memory, idle for two minutes',
      measured: `${Math.round(idleMb)} MB`,
      wanted: '≤ 85 MB',
      met: Math.round(idleMb) <= 85,
      detail: '1,000 pets',
    },
    {
      what: 'resident memory after 1,000,000 requests',
      measured: `${Math.round(busyMb)} MB`,
      wanted: '≤ 200 MB',
      met: busyMb <= 200,
      detail: `${Math.round(requests).toLocaleString('en')} requests`,
    },
  ];
}
