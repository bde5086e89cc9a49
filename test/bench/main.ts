/**
 * `npm run bench [-- CASE …]`: every figure that the project promises, as a ratio to something measured in the same run
 * where possible. Needs wrk, dnsperf, h2load and Chromium (Debian: apt-get install wrk dnsperf nghttp2-client
 * chromium); uses mkcert, testssl.sh, BIND, NSD and Knot where installed. BENCH_ROUNDS (5) and BENCH_SECONDS (3) set
 * how often and how long each side of a comparison runs. BENCH_NAMES names the work of the longest turns.
 */
import { cpus, loadavg } from 'node:os';
import { acmeKills } from './cases/acme-kills.ts';
import { acmeOrders } from './cases/acme-orders.ts';
import { breaks } from './cases/breaks.ts';
import { commandStart } from './cases/command-start.ts';
import { datasetSize } from './cases/dataset-size.ts';
import { desktopStart } from './cases/desktop-start.ts';
import { dnsAgreement } from './cases/dns-agreement.ts';
import { dnssecAgreement } from './cases/dnssec-agreement.ts';
import { dnsRecordCount } from './cases/dns-record-count.ts';
import { dnsStall } from './cases/dns-stall.ts';
import { dnsThroughput } from './cases/dns-throughput.ts';
import { embeddedStarts } from './cases/embedded-starts.ts';
import { doh } from './cases/doh.ts';
import { engineTurns } from './cases/engine-turns.ts';
import { fuzz } from './cases/fuzz.ts';
import { engineFailures } from './cases/engine-failures.ts';
import { http2Requests } from './cases/http2-requests.ts';
import { insertThroughput } from './cases/insert-throughput.ts';
import { interfaceChanges } from './cases/interface-changes.ts';
import { interfaceOpening } from './cases/interface-opening.ts';
import { leaf } from './cases/leaf.ts';
import { listThroughput } from './cases/list-throughput.ts';
import { longWork } from './cases/long-work.ts';
import { manyDomains } from './cases/many-domains.ts';
import { petsPage } from './cases/pets-page.ts';
import { recorder } from './cases/recorder.ts';
import { routeCount } from './cases/route-count.ts';
import { snapshots } from './cases/snapshots.ts';
import { slowClients } from './cases/slow-clients.ts';
import { startAndMemory } from './cases/start-and-memory.ts';
import { tlsFindings } from './cases/tls-findings.ts';
import { tlsHandshakes } from './cases/tls-handshakes.ts';
import { turns } from './cases/turns.ts';
import { trafficPage } from './cases/traffic-page.ts';
import { upstreamRequests } from './cases/upstream-requests.ts';
import { upstreamStreams } from './cases/upstream-streams.ts';
import { cleanUp, type Figure, ROUND_SECONDS, ROUNDS } from './harness.ts';

const CASES: Record<string, () => Promise<Figure[]>> = {
  listThroughput,
  insertThroughput,
  datasetSize,
  routeCount,
  breaks,
  recorder,
  startAndMemory,
  commandStart,
  embeddedStarts,
  desktopStart,
  dnsThroughput,
  dnsRecordCount,
  dnsAgreement,
  dnssecAgreement,
  doh,
  acmeOrders,
  acmeKills,
  leaf,
  tlsHandshakes,
  tlsFindings,
  manyDomains,
  upstreamRequests,
  http2Requests,
  upstreamStreams,
  slowClients,
  fuzz,
  snapshots,
  engineTurns,
  turns,
  engineFailures,
  petsPage,
  trafficPage,
  longWork,
  dnsStall,
  interfaceOpening,
  interfaceChanges,
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
