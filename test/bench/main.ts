/**
 * `npm run bench [-- CASE …]`: every figure that the project promises, as a ratio to something measured in the same run
 * where possible. Needs wrk, dnsperf, h2load and Chromium (Debian: apt-get install wrk dnsperf nghttp2-client
 * chromium); uses Caddy, nginx, HAProxy, BIND, NSD and Knot where installed. BENCH_ROUNDS (5) and BENCH_SECONDS (3) set
 * how often and how long each side of a comparison runs.
 */
import { cpus, loadavg } from 'node:os';
import { commandStart } from './cases/command-start.ts';
import { dnsAgreement } from './cases/dns-agreement.ts';
import { dnsThroughput } from './cases/dns-throughput.ts';
import { examine } from './cases/examine.ts';
import { fuzz } from './cases/fuzz.ts';
import { interfaceOpening } from './cases/interface-opening.ts';
import { recorder } from './cases/recorder.ts';
import { requests } from './cases/requests.ts';
import { slowClients } from './cases/slow-clients.ts';
import { startAndMemory } from './cases/start-and-memory.ts';
import { whatIf } from './cases/what-if.ts';
import { cleanUp, type Figure, ROUND_SECONDS, ROUNDS } from './harness.ts';

const CASES: Record<string, () => Promise<Figure[]>> = {
  requests,
  recorder,
  startAndMemory,
  commandStart,
  dnsThroughput,
  dnsAgreement,
  slowClients,
  fuzz,
  interfaceOpening,
  whatIf,
  examine,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => CASES[name] === undefined);
if (unknown.length > 0) {
  console.error(`There is no case ${unknown.join(', ')}; there are ${Object.keys(CASES).join(', ')}.`);
  process.exit(1);
}

console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}; ${ROUNDS} rounds of ${ROUND_SECONDS} s a side, medians.\n`,
);
const load = (): string => (loadavg()[0] ?? 0).toFixed(1);
const loadBefore = load();
let missed = 0;
try {
  for (const [name, run] of Object.entries(CASES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    for (const figure of await run()) {
      if (figure.met === false) missed++;
      const mark = figure.met === null ? '·' : figure.met ? '✓' : '✗';
      console.log(`${mark} ${figure.what}\n    ${figure.measured}  (wanted ${figure.wanted}; ${figure.detail})`);
    }
  }
} finally {
  await cleanUp();
}
console.log(`\nLoad of the machine, the bench's own among it: ${loadBefore} at the start, ${load()} at the end.`);
if (missed > 0) console.log(`\n${missed} below what is wanted.`);
process.exitCode = missed > 0 ? 1 : 0;
