import { expect } from 'vitest';
import { emptyTest as it } from '../../../support/engine-test.ts';
import { NAMED_TYPES } from '../../../../main/contract/record-types.ts';
import { writeZoneFile } from '../../../../main/dns/zones/zone-file.ts';
import type { Zone } from '../../../../main/dns/zones/zone.ts';
import { expectDelvAgrees, expectDigAgrees, expectNodeAgrees } from '../../../support/dns/dns-agreement.ts';
import { DNS_TABLES, linesOf, PLATFORM_TABLE, type DnsFact, type DnsTable } from '../../../support/dns/dns-tables.ts';
import { type Engine } from '../../../support/engine.ts';

/** Types that a user's zone may contain; the tables use others for arbitrary types. */
const KEPT: ReadonlySet<string> = new Set(NAMED_TYPES);

/** Tables about the root zone do not apply to users' zones. */
const isUserTable = (table: DnsTable): boolean => table !== PLATFORM_TABLE && !table.title.startsWith('RFC 1034');

const PLATFORM = 'vivarium.localhost';

it.for(DNS_TABLES.filter(isUserTable))(
  'the tables, with their zones imported as a user’s $title: dig, kdig, delv and Node’s resolver agree',
  { timeout: 60_000 },
  async ({ zones, facts }, { engine }) => {
    const own = zones.filter(({ apex }) => apex !== PLATFORM);
    for (const zone of own) await importZone(engine, zone);
    const serials = new Map<string, number>();
    for (const { apex } of own) serials.set(apex, await serialOf(engine, apex));
    await expectClientsAgree(engine, facts.filter(isAboutKept), serials);
  },
);

it('the platform’s zone, with a project: dig, kdig, delv and Node’s resolver agree', async ({ engine, call }) => {
  await call('projects.create', { name: 'Demo' });
  await expectClientsAgree(engine, PLATFORM_TABLE.facts, new Map([[PLATFORM, await serialOf(engine, PLATFORM)]]));
});

async function expectClientsAgree({ app }: Engine, facts: readonly DnsFact[], serials: ReadonlyMap<string, number>) {
  const asked = facts.map((fact) => ({
    ...fact,
    answer: withOwnSerial(fact.answer, serials),
    authority: withOwnSerial(fact.authority, serials),
  }));
  const { port } = app.runtime.dns;
  await expectDigAgrees('dig', { port, address: '127.0.0.1' }, asked);
  await expectDigAgrees('kdig', { port, address: '::1' }, asked, ['+tcp']);
  await expectDelvAgrees({ port }, asked);
  await expectNodeAgrees({ port }, asked);
}

/** Through a zone file, as a user would bring an existing zone. */
async function importZone(engine: Engine, { apex, supportsAlias, records }: Zone): Promise<void> {
  await engine.call('zones.create', { name: apex, supportsAlias });
  const kept = records.map((record) =>
    KEPT.has(record.data.type) ? record : { ...record, data: { type: 'TXT' as const, strings: ['another type'] } },
  );
  const text = writeZoneFile({ apex, supportsAlias, records: kept });
  expect(await engine.call('zones.import', { name: apex, text, force: true })).toMatchObject({ rejectedTotal: 0 });
}

async function serialOf(engine: Engine, apex: string): Promise<number> {
  const { answer } = await engine.call('dns.query', { name: apex, type: 'SOA' });
  return Number(answer[0]?.value.split(' ')[2]);
}

/** Whether a fact's records are all of types that a user's zone may contain. */
const isAboutKept = ({ answer }: DnsFact): boolean =>
  linesOf(answer).every((line) => KEPT.has(line.split(' ')[3] ?? '') || line.includes('RFC8482'));

/** The server numbers the serial of a user's zone, whatever its file says. */
function withOwnSerial(section: string | undefined, serials: ReadonlyMap<string, number>): string | undefined {
  return section?.replace(
    /^(\s*)(\S+)(\. \d+ IN SOA \S+ \S+) \d+/m,
    (_line, margin: string, apex: string, before: string) => `${margin}${apex}${before} ${serials.get(apex)}`,
  );
}
