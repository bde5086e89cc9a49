import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onLoadCore, ROUND_SECONDS, temporaryFolder } from './harness.ts';

/** Questions on the way at once: enough that the server never waits, few enough that no socket buffer overflows. */
const OUTSTANDING = 64;

export interface DnsLoad {
  port: number;
  /** A file that `writeQuestions` made; asked again from the top until the time is over. */
  questions: string;
  /** With an OPT record, as resolvers and `dig` ask. */
  edns?: boolean;
  seconds?: number;
}

export interface DnsLoadResult {
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

/** Runs dnsperf on the load core, over UDP. */
export function runDnsperf({ port, questions, edns = false, seconds = ROUND_SECONDS }: DnsLoad): DnsLoadResult {
  const [command, args] = onLoadCore('dnsperf', [
    ...['-s', '127.0.0.1', '-p', String(port), '-d', questions, '-l', String(seconds)],
    ...['-c', '1', '-T', '1', '-q', String(OUTSTANDING), ...(edns ? ['-e'] : [])],
  ]);
  const done = spawnSync(command, args, { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`dnsperf failed (apt-get install dnsperf): ${done.stderr} ${done.stdout}`);
  const number = (pattern: RegExp) => Number(pattern.exec(done.stdout)?.[1] ?? 0);
  return {
    answersPerSecond: number(/Queries per second:\s+([\d.]+)/),
    failures: number(/Queries lost:\s+(\d+)/) + number(/Queries completed:\s+(\d+)/) - number(/NOERROR (\d+)/),
  };
}
