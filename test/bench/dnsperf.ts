import { type ChildProcess, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds, ROUND_SECONDS, temporaryFolder } from './harness.ts';

/** Questions on the way at once: enough that the server never waits, few enough that no socket buffer overflows. */
const OUTSTANDING = 64;

export interface DnsLoad {
  server: { child: ChildProcess; port: number };
  /** A file that `writeQuestions` made; asked again from the top until the time is over. */
  questions: string;
  /** With an OPT record, as resolvers and `dig` ask. */
  edns?: boolean;
  seconds?: number;
}

export interface DnsLoadResult {
  /** Questions that were answered. */
  requests: number;
  /** Answers in one second of the server's processor time, so a core that others use too counts for what it gave. */
  answersPerSecond: number;
  /** Questions without an answer, and answers with another code than NOERROR. */
  failures: number;
}

/** Writes questions for A as dnsperf reads them. */
export function writeQuestions(names: readonly string[]): string {
  const file = join(temporaryFolder(), 'questions');
  writeFileSync(file, names.map((name) => `${name} A\n`).join(''));
  return file;
}

/** Answers until the compiler has done with a server; how long that takes depends on what else the machine does. */
const WARM_ANSWERS = 250_000;

export function warmUp(load: DnsLoad): void {
  for (let answers = 0; answers < WARM_ANSWERS;) answers += runDnsperf({ ...load, seconds: 1 }).requests;
}

/** Runs dnsperf, over UDP. */
export function runDnsperf({ server, questions, edns = false, seconds = ROUND_SECONDS }: DnsLoad): DnsLoadResult {
  const args = [
    ...['-s', '127.0.0.1', '-p', String(server.port), '-d', questions, '-l', String(seconds)],
    ...['-c', '1', '-T', '1', '-q', String(OUTSTANDING), ...(edns ? ['-e'] : [])],
  ];
  const before = cpuSeconds(server.child);
  const done = spawnSync('dnsperf', args, { encoding: 'utf8' });
  const after = cpuSeconds(server.child);
  if (done.status !== 0) throw new Error(`dnsperf failed (apt-get install dnsperf): ${done.stderr} ${done.stdout}`);
  const number = (pattern: RegExp) => Number(pattern.exec(done.stdout)?.[1] ?? 0);
  const answers = number(/Queries completed:\s+(\d+)/);
  return {
    requests: answers,
    answersPerSecond: answers / (after - before),
    failures: number(/Queries lost:\s+(\d+)/) + answers - number(/NOERROR (\d+)/),
  };
}
