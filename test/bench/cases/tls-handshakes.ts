import { join } from 'node:path';
import { createClock } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { openAuthority } from '../../../main/ca/authority.ts';
import { createLeaf } from '../../../main/ca/leaf.ts';
import { DATABASE_FILE } from '../../../main/base/data-folder.ts';
import type { DomainRow } from '../../../main/store/domains.ts';
import { openStore } from '../../../main/store/store.ts';
import {
  cpuSeconds,
  end,
  type Figure,
  median,
  perSecond,
  rangeOf,
  residentMb,
  ROUND_SECONDS,
  ROUNDS,
  runToEnd,
  startVivarium,
  temporaryFolder,
  type Vivarium,
} from '../harness.ts';

const DAY_MS = 86_400_000;
const CLIENT = join(import.meta.dirname, '..', 'peers', 'handshakes.ts');

/** Full TLS 1.3 handshakes for hostnames drawn at random from 10,000 custom domains, compared with 10. */
export async function tlsHandshakes(): Promise<Figure[]> {
  const few = await vivariumWithDomains(10);
  const many = await vivariumWithDomains(10_000);
  // Every hostname once before: this measures serving leaves, not reading them for the first time.
  shakeHands(few, 10, 0);
  shakeHands(many, 10_000, 0);
  const rounds: { few: number; many: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ few: handshakesPerSecond(few, 10, round), many: handshakesPerSecond(many, 10_000, round) });
  }
  const [fewMb, manyMb] = [residentMb(few.child), residentMb(many.child)].map(Math.round);
  await end(few.child);
  await end(many.child);
  const ratios = rounds.map((round) => round.many / round.few);
  const ratio = median(ratios);
  return [
    {
      what: 'TLS 1.3 full handshakes with 10,000 domains against 10, by processor time',
      measured: `${ratio.toFixed(2)} ×`,
      wanted: '≥ 0.9 ×',
      met: ratio >= 0.9,
      detail: `${perSecond(median(rounds.map(({ many }) => many)))} in ${manyMb} MB, ${perSecond(median(rounds.map(({ few }) => few)))} in ${fewMb} MB; ${rangeOf(ratios)}`,
    },
  ];
}

/** How many handshakes there were. */
function shakeHands({ runtime }: Vivarium, domains: number, seconds: number, seed = 0): number {
  const args = [CLIENT, runtime.https.port, domains, seconds, seed + 1].map(String);
  return Number(/handshakes (\d+)/.exec(runToEnd(process.execPath, args))?.[1]);
}

/** By the server's processor time: a handshake takes the client longer than the server. */
function handshakesPerSecond(vivarium: Vivarium, domains: number, seed: number): number {
  const before = cpuSeconds(vivarium.child);
  const handshakes = shakeHands(vivarium, domains, ROUND_SECONDS, seed);
  return handshakes / (cpuSeconds(vivarium.child) - before);
}

async function vivariumWithDomains(count: number): Promise<Vivarium> {
  const dataDir = temporaryFolder();
  const clock = createClock();
  // Through the store instead of 10,000 calls: this measures handshakes, not the creation of domains.
  const authority = openAuthority({ directory: join(dataDir, 'ca'), clock, log: silentLog });
  const store = openStore({ file: join(dataDir, DATABASE_FILE), clock, log: silentLog });
  const nowMs = clock.now();
  store.projects.insert({
    id: 'prj_bench',
    name: 'Bench',
    slug: 'bench',
    plan: 'pro',
    limits: null,
    target: { kind: 'api' },
    primary: null,
    redirects: [],
    persona: 'animal-store',
    createdAtMs: nowMs,
  });
  const rows = Array.from({ length: count }, (_, index): DomainRow => {
    const hostname = `d${index}.bench.test`;
    return {
      id: `dom_${index}`,
      hostname,
      projectId: 'prj_bench',
      kind: 'subdomain',
      state: 'verified',
      stateBefore: null,
      attachedAtMs: nowMs,
      verifiedAtMs: nowMs,
      lastCheckedAtMs: nowMs,
      nextCheckAtMs: nowMs + DAY_MS,
      seriesAtMs: null,
      checks: [],
      certificateChecks: [],
      certificate: {
        state: 'issued',
        refusal: null,
        seriesAtMs: null,
        nextAttemptAtMs: nowMs + 60 * DAY_MS,
        renewAtMs: nowMs + 60 * DAY_MS,
        notAfterMs: nowMs + 90 * DAY_MS,
      },
    };
  });
  for (const row of rows) store.domains.insert(row);
  store.domains.update(
    rows.map((row) => ({ row, leaf: createLeaf({ issuer: authority.issuer(), hostnames: [row.hostname], clock }) })),
  );
  store.close();
  clock.stop();
  return startVivarium(dataDir, ['--empty']);
}
