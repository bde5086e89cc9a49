// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import type { RecordInfo, ZoneInfo } from '../../../../../../main/contract/zones.ts';
import type { DnsAnswer } from '../../../../../../renderer/pages/dns/query/dig.ts';
import { DnsQueries } from '../../../../../../renderer/pages/dns/query/dns-queries.svelte.ts';
import { DnsZones } from '../../../../../../renderer/pages/dns/dns-zones.svelte.ts';
import { ZoneImport } from '../../../../../../renderer/pages/dns/zone-import.svelte.ts';
import { settingsQuery } from '../../../../../../renderer/shared/session/settings-query.ts';
import { ZoneRecords } from '../../../../../../renderer/pages/dns/records/zone-records.svelte.ts';
import { type Answers, refuses } from '../../../../../support/fake-client.ts';
import { settle } from '../../../../../support/fake-clock.ts';
import { pageParts } from '../../../../../support/page/page-parts.ts';

const RECORD: RecordInfo = {
  ...{ id: 'rec_1', zone: 'acme.test', name: 'www', type: 'A', ttl: 3600, value: '192.0.2.1' },
  visibleAt: '2026-11-20T09:00:00.000Z',
};
const ZONE: ZoneInfo = { name: 'acme.test', supportsAlias: false, records: 2, createdAt: RECORD.visibleAt };

function setUp(answers: Answers = {}, propagation = 'PT0S') {
  const parts = pageParts({
    'records.list': ({ name = RECORD.name }: { name?: string }) => (name === RECORD.name ? [RECORD] : []),
    'records.propagating': () => [],
    'runs.list': () => [],
    'settings.get': () => ({ propagation, resolver: 'local' }),
    'zones.list': () => [ZONE],
    'zones.platform': () => ({ name: 'vivarium.localhost', records: [] }),
    ...answers,
  });
  const options = { ...parts.source, settings: settingsQuery(parts.source) };
  return { ...parts, options };
}

async function openZone(answers: Answers = {}) {
  const parts = setUp(answers);
  const records = new ZoneRecords({ ...parts.options, zone: 'acme.test' });
  await settle();
  return { ...parts, records };
}

describe('records of a zone', () => {
  it('are read again when records of this zone, or of an unnamed one, change', async () => {
    const { records, tell, asked } = await openZone();
    for (const [zone, reads] of [
      ['other.test', 1],
      ['acme.test', 2],
      [undefined, 3],
    ] as const) {
      await tell('records.changed', { ...(zone !== undefined && { zone }) });
      expect(asked('records.list')).toHaveLength(reads);
    }
    records.close();
  });

  it('that a run holds are none to edit', async () => {
    const { records } = await openZone({ 'runs.list': () => [{ records: [RECORD.id] }, {}] });
    expect(records.contents.value?.rows).toEqual([expect.objectContaining({ name: 'www', held: true })]);
    expect(records.contents.value?.rows[0]?.record).toBeUndefined();
    records.close();
  });

  it('are added, and removed by Undo', async () => {
    const { records, asked } = await openZone({
      'records.put': () => ({ ...RECORD, id: 'rec_2', name: 'new' }),
      'records.remove': () => RECORD,
    });
    const form = records.newRecord();
    form.values = { name: 'new', type: 'A', ttl: '60', value: '192.0.2.1' };
    const change = await form.submit();
    expect(change?.text).toBe('Added new A 192.0.2.1.');
    await change?.undo();
    expect(asked('records.put', 'records.remove')).toEqual([
      { zone: 'acme.test', name: 'new', type: 'A', ttl: 60, value: '192.0.2.1', force: false },
      { id: 'rec_2' },
    ]);
  });

  it('that already exist only get a TTL, which Undo restores', async () => {
    const { records, asked } = await openZone({
      'records.put': () => ({ ...RECORD, ttl: 60 }),
      'records.update': () => RECORD,
    });
    const change = await records.newRecord().submit();
    expect(change?.text).toBe('www A 192.0.2.1 already existed; its TTL is 60.');
    await change?.undo();
    expect(asked('records.update')).toEqual([{ id: 'rec_1', ttl: 3600, force: true }]);
  });

  it('are changed only in the edited fields, with the warnings shown, and undone as a whole', async () => {
    const changed = { ...RECORD, ttl: 60, warnings: ['Is that so?'] };
    const { records, asked } = await openZone({ 'records.update': () => changed });
    const form = records.edit(RECORD);
    form.values.ttl = '60';
    const change = await form.submit();
    expect(change?.text).toBe('Changed www A 192.0.2.1 to www A 192.0.2.1. Is that so?');
    await change?.undo();
    expect(asked('records.update')).toEqual([
      { id: 'rec_1', ttl: 60, force: false },
      { id: 'rec_1', name: 'www', type: 'A', ttl: 3600, value: '192.0.2.1', force: true },
    ]);
  });

  it('that are refused keep what was typed, and offer force if it helps', async () => {
    const issue = { path: 'type', message: 'It stands alone.', forcible: true as const };
    const refused = refuses('conflict', 'type: It stands alone.', issue);
    const { records, asked } = await openZone({ 'records.put': refused });
    const form = records.newRecord();
    form.values.name = 'www';
    expect(await form.submit()).toBeUndefined();
    expect([form.values.name, form.fault('type'), form.forcible]).toEqual(['www', 'It stands alone.', true]);
    await form.submit({ force: true });
    expect(asked('records.put')).toMatchObject([{ force: false }, { force: true }]);
  });

  it('that are removed are restored unchanged', async () => {
    const { records, asked } = await openZone({ 'records.remove': () => RECORD, 'records.put': () => RECORD });
    const done = await records.remove(RECORD);
    await done.undo();
    expect(asked('records.put')).toEqual([
      { zone: 'acme.test', name: 'www', type: 'A', ttl: 3600, value: '192.0.2.1', force: true },
    ]);
  });
});

describe('zones', () => {
  it.each([
    ['PT0S', 'Removed acme.test with 2 records.', 'acme.test is back with 2 records.'],
    [
      'PT1H',
      'Removed acme.test with 2 records. Undo restores them, visible after 1 h of propagation.',
      'acme.test is back with 2 records, visible in 1 h.',
    ],
  ])('that are removed are restored from their own zone file, propagation %s', async (propagation, text, undone) => {
    const { answers, options, asked } = setUp({ 'zones.export': () => ({ text: '$ORIGIN acme.test.' }) }, propagation);
    for (const procedure of ['zones.remove', 'zones.create', 'zones.import']) answers[procedure] = () => ZONE;
    const zones = new DnsZones(options);
    await settle();
    const copy = await zones.copy(ZONE);
    expect(zones.canReturn(copy)).toBe(true);
    const done = await zones.remove(copy);
    expect([done.text, done.undone]).toEqual([text, undone]);
    await done.undo();
    expect(asked('zones.create', 'zones.import')).toEqual([
      { name: 'acme.test', supportsAlias: false },
      { name: 'acme.test', text: '$ORIGIN acme.test.', force: true },
    ]);
  });

  it('with more text than an import reads cannot be restored', () => {
    const zones = new DnsZones(setUp().options);
    expect(zones.canReturn({ zone: ZONE, text: 'x'.repeat(16 * 1024 * 1024 + 1) })).toBe(false);
  });
});

describe('importing a zone file', () => {
  it('is reported with its own lines, and again with force as one report', async () => {
    const answer = { warnings: [], warningsTotal: 0, created: 1 };
    const bad = { line: 3, message: 'No.' };
    const careless = { line: 2, message: 'Stands alone.', forcible: true };
    const { client } = pageParts({
      'zones.import': ({ force }: { force: boolean }) =>
        force
          ? { ...answer, existing: 3, rejected: [bad], rejectedTotal: 1, forcible: 0 }
          : { ...answer, existing: 2, rejected: [careless, bad], rejectedTotal: 2, forcible: 1 },
    });
    const zoneImport = new ZoneImport(client, 'acme.test');
    zoneImport.text = 'a A 192.0.2.1\r\na CNAME b\r\nc A nowhere';
    await zoneImport.start();
    expect(zoneImport.rejected).toEqual([
      { line: 2, text: 'a CNAME b', message: 'Stands alone.', forcible: true },
      { line: 3, text: 'c A nowhere', message: 'No.', forcible: false },
    ]);
    expect(await zoneImport.start({ force: true })).toMatchObject({ created: 2, existing: 2, forcible: 0 });
  });

  it('is not drawn if it is large', () => {
    const zoneImport = new ZoneImport(pageParts().client, 'acme.test');
    const text = 'h A 192.0.2.1\n'.repeat(20_000);
    zoneImport.take([{ name: 'big.zone', text }]);
    const largeFile = { name: 'big.zone', lines: 20_001 };
    expect([zoneImport.text, zoneImport.content, zoneImport.largeFile]).toEqual(['', text, largeFile]);
    zoneImport.take([{ name: 'small.zone', text: 'a A 192.0.2.1' }]);
    expect([zoneImport.text, zoneImport.largeFile]).toEqual(['a A 192.0.2.1', undefined]);
  });

  it('includes the files that its $INCLUDE lines name', () => {
    const zoneImport = new ZoneImport(pageParts().client, 'acme.test');
    const file = (name: string, text = '') => ({ name, text });
    zoneImport.take([file('a.zone'), file('main.zone', '$INCLUDE zones/a.zone sub\n$include b.zone')]);
    expect([zoneImport.text.length, zoneImport.included]).toEqual([41, ['a.zone']]);
    zoneImport.take([file('b.zone')]);
    expect([zoneImport.text.length, zoneImport.included]).toEqual([41, ['a.zone', 'b.zone']]);
    zoneImport.take([file('other.zone', 'a A 192.0.2.1')]);
    expect([zoneImport.text, zoneImport.included]).toEqual(['a A 192.0.2.1', []]);
  });
});

describe('a DNS query', () => {
  const answer = (rcode: string) => ({ rcode }) as DnsAnswer;
  const A = { name: 'www.acme.test', type: 'A' } as const;
  const setUpQueries = (query: Answers[string], usesOwnServer = () => true) => {
    const parts = pageParts({ 'dns.query': query });
    return { ...parts, queries: new DnsQueries({ ...parts.source, usesOwnServer }) };
  };

  it('keeps its answer up to date while Vivarium’s own server is queried, and only then', async () => {
    let own = true;
    let rcode = 'NXDOMAIN';
    const { queries, tell, calls } = setUpQueries(
      () => answer(rcode),
      () => own,
    );
    await tell('records.changed');
    expect(calls).toEqual([]);
    await queries.askFor(A);
    expect(queries.answer?.rcode).toBe('NXDOMAIN');
    for (const [found, isGone] of [
      ['NOERROR', false],
      ['REFUSED', true],
      ['REFUSED', true],
    ] as const) {
      rcode = found;
      await tell('records.changed');
      expect([queries.answer?.rcode, queries.isGone]).toEqual([found, isGone]);
    }
    await queries.ask();
    expect(queries.isGone).toBe(false);
    own = false;
    await tell('records.changed');
    expect(calls).toHaveLength(5);
    queries.close();
  });

  it('keeps its answer when the repetition of an earlier one is answered later', async () => {
    const late = Promise.withResolvers<DnsAnswer>();
    const found = [answer('NXDOMAIN'), late.promise, answer('NOERROR')];
    const { queries, tell } = setUpQueries(() => found.shift());
    await queries.askFor(A);
    await tell('records.changed');
    await queries.askFor({ ...A, name: 'b.test' });
    late.resolve(answer('SERVFAIL'));
    await settle();
    expect(queries.answer?.rcode).toBe('NOERROR');
    queries.close();
  });

  it('that is refused is reported at the field, and the last answer stays', async () => {
    const refused = refuses('invalid_request', 'name has an empty label', {
      path: 'name',
      message: 'has an empty label',
    });
    const { queries } = setUpQueries(({ name }: { name: string }) => (name === A.name ? answer('NOERROR') : refused()));
    await queries.askFor(A);
    expect(await queries.askFor({ ...A, name: 'a..b' })).toBeUndefined();
    expect([queries.form.fault('name'), queries.answer?.rcode]).toEqual(['has an empty label', 'NOERROR']);
  });
});
