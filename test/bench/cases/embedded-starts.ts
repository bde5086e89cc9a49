import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Figure, median, ROOT, ROUNDS, temporaryFolder } from '../harness.ts';

/** Vivariums in one process, and concurrent processes. */
const MANY = 20;
/** The longest that a test waits. */
const ANSWER_MS_MAX = 500;

interface Outcome {
  answerMs: number[];
  ports: number[];
  /** Sockets and timers still open after the last Vivarium is closed. */
  handles: number;
}

/** Starts Vivariums one after the other, sends a request to each, and optionally closes them together. */
const program = (count: number, closes: boolean) => `
  let begun = performance.now();
  const { startVivarium } = await import(${JSON.stringify(join(ROOT, 'out', 'main', 'index.js'))});
  const all = [];
  const answerMs = [];
  for (let index = 0; index < ${count}; index++) {
    const vivarium = await startVivarium();
    await (await vivarium.fetch(vivarium.url('vivarium.localhost'))).text();
    answerMs.push(performance.now() - begun);
    all.push(vivarium);
    begun = performance.now();
  }
  const ports = all.flatMap(({ ports }) => Object.values(ports));
  if (${closes}) await Promise.all(all.map((vivarium) => vivarium.close()));
  const handles = process.getActiveResourcesInfo().filter((name) => /TCP|UDP|Timeout/.test(name)).length;
  console.log(JSON.stringify({ answerMs, ports, handles }));
`;

/** `startVivarium` of the package: the time to the first answer, with many in one process and in many processes. */
export async function embeddedStarts(): Promise<Figure[]> {
  const alone: Outcome[] = [];
  for (let round = 0; round < ROUNDS; round++) alone.push(await run(program(1, true)));
  const first = median(alone.map(({ answerMs: [ms = Number.NaN] }) => ms));
  const temporary = temporaryFolder();
  const together = await run(program(MANY, true), temporary);
  // Not closed: each ends with its process.
  const processes = await Promise.all(Array.from({ length: MANY }, () => run(program(1, false), temporary)));
  const clashes = clashesOf(together.ports);
  const left = readdirSync(temporary).length + together.handles;
  return [
    {
      what: 'startVivarium in a new process, from its import to the first answer over HTTPS',
      measured: `${Math.round(first)} ms`,
      wanted: `≤ ${ANSWER_MS_MAX} ms`,
      met: first <= ANSWER_MS_MAX,
      detail: `another one in the same process ${Math.round(median(together.answerMs.slice(1)))} ms`,
    },
    {
      what: `${MANY} Vivariums in one process, and ${MANY} processes at once that close none: clashes and what is left`,
      measured: String(clashes + left),
      wanted: '0',
      met: clashes + left === 0 && processes.length === MANY,
      detail: `${clashes} ports twice, ${together.handles} handles, ${left - together.handles} files`,
    },
  ];
}

const clashesOf = (ports: readonly number[]): number => ports.length - new Set(ports).size;

/** Runs a program that ends by itself. @throws Error if it fails */
async function run(text: string, temporary = temporaryFolder()): Promise<Outcome> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: temporary },
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`a program with a Vivarium ended with ${child.exitCode}`);
  return JSON.parse(said) as Outcome;
}
