import { join } from 'node:path';
import { createClock } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { DATABASE_FILE } from '../../../main/base/data-folder.ts';
import { openStore, type Store } from '../../../main/store/store.ts';
import { type DnsLoad, runDnsperf, warmUp, writeQuestions } from '../dnsperf.ts';
import { compare, end, type Figure, perSecond, startVivarium, temporaryFolder } from '../harness.ts';

/** How many names are queried; the number is the same on both sides, so that the load generator does the same work. */
const QUESTIONS = 10_000;

/** Answers per second with 100,000 records in 1,000 zones, compared with 10 records. */
export async function dnsRecordCount(): Promise<Figure[]> {
  const few = await vivariumWithRecords({ zones: 1, recordsEach: 10 });
  const many = await vivariumWithRecords({ zones: 1_000, recordsEach: 100 });
  for (const load of [few, many]) warmUp(load);
  const result = compare(
    { child: many.server.child, load: () => runDnsperf(many) },
    { child: few.server.child, load: () => runDnsperf(few) },
    ({ answersPerSecond }) => answersPerSecond,
  );
  for (const { server } of [few, many]) await end(server.child);
  return [
    {
      what: 'DNS answers with 100,000 records in 1,000 zones against 10 records',
      measured: `${result.ratio.toFixed(2)} ×`,
      wanted: '≥ 0.9 ×',
      met: result.ratio >= 0.9,
      detail: `${perSecond(result.a)} against ${perSecond(result.b)}; ${result.cost}`,
    },
  ];
}

async function vivariumWithRecords({ zones, recordsEach }: { zones: number; recordsEach: number }): Promise<DnsLoad> {
  const dataDir = temporaryFolder();
  const owners = storeRecords(dataDir, zones, recordsEach);
  const { child, runtime } = await startVivarium(dataDir, ['--empty']);
  // A step coprime to the count visits all owners, but never two neighbours one after the other.
  const questions = writeQuestions(
    Array.from({ length: QUESTIONS }, (_, index) => owners[(index * 7_919) % owners.length] ?? ''),
  );
  return { server: { child, port: runtime.dns.port }, questions };
}

/** Half of the records are CNAMEs, each to an A of the next zone; returns the names of the CNAMEs. */
export function storeRecords(dataDir: string, zones: number, recordsEach: number): string[] {
  // Through the store instead of 100,000 calls: this measures answers, not the creation of records.
  const store = openStore({ file: join(dataDir, DATABASE_FILE), clock: createClock(), log: silentLog });
  const owners: string[] = [];
  const zoneName = (index: number) => `zone${index % zones}.test`;
  for (let zone = 0; zone < zones; zone++) {
    store.zones.insert({ name: zoneName(zone), supportsAlias: true, createdAtMs: 0 });
    const begun = Array.from({ length: recordsEach / 2 }, (_, index) => {
      const owner = `www${index}.${zoneName(zone)}`;
      owners.push(owner);
      return [
        versionOf(zoneName(zone), owner, 'CNAME', `host${index}.${zoneName(zone + 1)}.`),
        versionOf(zoneName(zone), `host${index}.${zoneName(zone)}`, 'A', `127.0.${zone >> 8}.${zone & 255}`),
      ];
    }).flat();
    store.records.apply({ begun, moved: [], ended: [], visibleIn: null });
  }
  store.close();
  return owners;
}

type StoredRecord = Parameters<Store['records']['apply']>[0]['begun'][number];

let records = 0;

const versionOf = (zone: string, name: string, type: string, value: string): StoredRecord => ({
  ...{ id: `rec_bench${++records}`, zone, name, type, ttlSeconds: 3600, value },
  ...{ visibleAtMs: 0, visibleFromMs: null, visibleUntilMs: null },
});
