import { type ChildProcess, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSeconds, ROUND_SECONDS, temporaryFolder } from './harness.ts';

/** Questions in flight: enough that the server never waits, few enough that no socket buffer overflows. */
const OUTSTANDING = 64;

export interface DnsLoad {
  server: { child: ChildProcess; port: number };
  /** A file made by `writeQuestions`; repeated from the top until the time is over. */
  questions: string;
  /** Adds an OPT record, as resolvers and `dig` do. */
  edns?: boolean;
  seconds?: number;
}

export interface DnsLoadResult {
  /** Answered questions. */
  requests: number;
  /** Answers in one second of the server's processor time, so that other load on the core does not count. */
  answersPerSecond: number;
  /** Questions without an answer, and answers with an rcode other than NOERROR. */
  failures: number;
}

/** Writes questions for A in dnsperf's format. */
export function writeQuestions(names: readonly string[]): string {
  const file = join(temporaryFolder(), 'questions');
  writeFileSync(file, names.map((name) => `${name} A\n`).join(''));
  return file;
}

/** Answers until the compiler has finished with a server; how long that takes depends on the machine's other load. */
const WARM_ANSWERS = 250_000;

export function warmUp(load: DnsLoad): void {
  for (let answers = 0; answers < WARM_ANSWERS;) answers += runDnsperf({ ...load, seconds: 1 }).requests;
}

/** Runs dnsperf over UDP. */
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
