// @vitest-environment ./test/support/page-environment.ts
import { ORPCError } from '@orpc/client';
import { describe, expect, it } from 'vitest';
import type { RecordInfo, ZoneInfo } from '../../../../../../main/contract/zones.ts';
import { Connection } from '../../../../../../renderer/connection/connection.svelte.ts';
import type { DnsAnswer } from '../../../../../../renderer/shared/domains/dig.ts';
import { DnsQueries } from '../../../../../../renderer/pages/dns/query/dns-queries.svelte.ts';
import { DnsZones } from '../../../../../../renderer/pages/dns/dns-zones.svelte.ts';
import { ZoneImport } from '../../../../../../renderer/pages/dns/zone-import.svelte.ts';
import { settingsQuery } from '../../../../../../renderer/shared/session/settings-query.ts';
import { ZoneRecords } from '../../../../../../renderer/pages/dns/records/zone-records.svelte.ts';
import { createFakeClock, settle } from '../../../../../support/fake-clock.ts';
import { createFakeTransport } from '../../../../../support/page/page-link.ts';

const RECORD: RecordInfo = {
  ...{ id: 'rec_1', zone: 'acme.test', name: 'www', type: 'A', ttl: 3600, value: '192.0.2.1' },
  visibleAt: '2026-11-20T09:00:00.000Z',
};
const ZONE: ZoneInfo = { name: 'acme.test', supportsAlias: false, records: 2, createdAt: RECORD.visibleAt };

async function setUp(propagation = 'PT0S') {
  const time = createFakeClock();
  const transport = createFakeTransport();
  transport.stub('records.list', (input) => {
    const { name = RECORD.name } = input as { name?: string };
    return name === RECORD.name ? [RECORD] : [];
  });
  transport.stub('records.propagating', () => []);
  transport.stub('settings.get', () => ({ propagation, resolver: 'local' }));
  transport.stub('zones.list', () => [ZONE]);
  transport.stub('zones.platform', () => ({ name: 'vivarium.localhost', records: [] }));
  const connection = new Connection({ transport, time, pulse: async (client) => void (await client.clock.get()) });
  connection.start();
  await settle();
  const source = { client: connection.client, changes: connection, time };
  const options = { ...source, settings: settingsQuery(source) };
  const asked = (...procedures: string[]) =>
    transport.calls.filter(({ procedure }) => procedures.includes(procedure)).map(({ input }) => input);
  return { time, transport, connection, options, asked };
}

describe('records of a zone', () => {
  it('are read again when records of this zone, or of an unnamed one, change', async () => {
    const { time, transport, options } = await setUp();
    const records = new ZoneRecords({ ...options, zone: 'acme.test' });
    await settle();
    for (const [zone, reads] of [
      ['other.test', 1],
      ['acme.test', 2],
      [undefined, 3],
    ] as const) {
      await time.pass(100);
      transport.tell({ type: 'records.changed', ...(zone !== undefined && { zone }) });
      await settle();
      expect(transport.asked('records.list')).toBe(reads);
    }
    records.close();
  });

  it('are added, and removed by Undo', async () => {
    const { transport, options, asked } = await setUp();
    transport.stub('records.put', () => ({ ...RECORD, id: 'rec_2', name: 'new' }));
    transport.stub('records.remove', () => RECORD);
    const records = new ZoneRecords({ ...options, zone: 'acme.test' });
    await settle();
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
    const { transport, options, asked } = await setUp();
    transport.stub('records.put', () => ({ ...RECORD, ttl: 60 }));
    transport.stub('records.update', () => RECORD);
    const records = new ZoneRecords({ ...options, zone: 'acme.test' });
    await settle();
    const change = await records.newRecord().submit();
    expect(change?.text).toBe('www A 192.0.2.1 already existed; its TTL is 60.');
    await change?.undo();
    expect(asked('records.update')).toEqual([{ id: 'rec_1', ttl: 3600, force: true }]);
  });

  it('are changed only in the edited fields, with the warnings shown, and undone as a whole', async () => {
    const { transport, options, asked } = await setUp();
    transport.stub('records.update', () => ({ ...RECORD, ttl: 60, warnings: ['Is that so?'] }));
    const form = new ZoneRecords({ ...options, zone: 'acme.test' }).edit(RECORD);
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
    const { transport, options, asked } = await setUp();
    transport.stub('records.put', () => {
      throw new ORPCError('conflict', {
        message: 'type: It stands alone.',
        data: { issues: [{ path: 'type', message: 'It stands alone.', forcible: true }] },
      });
    });
    const form = new ZoneRecords({ ...options, zone: 'acme.test' }).newRecord();
    form.values.name = 'www';
    expect(await form.submit()).toBeUndefined();
    expect([form.values.name, form.fault('type'), form.forcible]).toEqual(['www', 'It stands alone.', true]);
    await form.submit({ force: true });
    expect(asked('records.put')).toMatchObject([{ force: false }, { force: true }]);
  });

  it('that are removed are restored unchanged', async () => {
    const { transport, options, asked } = await setUp();
    transport.stub('records.remove', () => RECORD);
    transport.stub('records.put', () => RECORD);
    const done = await new ZoneRecords({ ...options, zone: 'acme.test' }).remove(RECORD);
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
    const { transport, options, asked } = await setUp(propagation);
    transport.stub('zones.export', () => ({ text: '$ORIGIN acme.test.' }));
    for (const procedure of ['zones.remove', 'zones.create', 'zones.import']) transport.stub(procedure, () => ZONE);
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

  it('with more text than an import reads cannot be restored', async () => {
    const { options } = await setUp();
    const zones = new DnsZones(options);
    expect(zones.canReturn({ zone: ZONE, text: 'x'.repeat(16 * 1024 * 1024 + 1) })).toBe(false);
  });
});

describe('importing a zone file', () => {
  it('is reported with its own lines, and again with force as one report', async () => {
    const { transport, connection } = await setUp();
    const answer = { warnings: [], warningsTotal: 0 };
    transport.stub('zones.import', (input) => {
      const { force } = input as { force: boolean };
      const bad = { line: 3, message: 'No.' };
      const careless = { line: 2, message: 'Stands alone.', forcible: true };
      return force
        ? { ...answer, created: 1, existing: 3, rejected: [bad], rejectedTotal: 1, forcible: 0 }
        : { ...answer, created: 1, existing: 2, rejected: [careless, bad], rejectedTotal: 2, forcible: 1 };
    });
    const zoneImport = new ZoneImport(connection.client, 'acme.test');
    zoneImport.text = 'a A 192.0.2.1\r\na CNAME b\r\nc A nowhere';
    await zoneImport.start();
    expect(zoneImport.rejected).toEqual([
      { line: 2, text: 'a CNAME b', message: 'Stands alone.', forcible: true },
      { line: 3, text: 'c A nowhere', message: 'No.', forcible: false },
    ]);
    expect(await zoneImport.start({ force: true })).toMatchObject({ created: 2, existing: 2, forcible: 0 });
  });

  it('is not drawn if it is large', async () => {
    const { connection } = await setUp();
    const zoneImport = new ZoneImport(connection.client, 'acme.test');
    const text = 'h A 192.0.2.1\n'.repeat(20_000);
    zoneImport.take([{ name: 'big.zone', text }]);
    expect([zoneImport.text, zoneImport.content, zoneImport.largeFile]).toEqual([
      '',
      text,
      { name: 'big.zone', lines: 20_001 },
    ]);
    zoneImport.take([{ name: 'small.zone', text: 'a A 192.0.2.1' }]);
    expect([zoneImport.text, zoneImport.largeFile]).toEqual(['a A 192.0.2.1', undefined]);
  });

  it('includes the files that its $INCLUDE lines name', async () => {
    const { connection } = await setUp();
    const zoneImport = new ZoneImport(connection.client, 'acme.test');
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

  it('keeps its answer up to date while Vivarium’s own server is queried, and only then', async () => {
    const { transport, connection } = await setUp();
    let own = true;
    let rcode = 'NXDOMAIN';
    transport.stub('dns.query', () => answer(rcode));
    const queries = new DnsQueries({ client: connection.client, changes: connection, usesOwnServer: () => own });
    transport.tell({ type: 'records.changed' });
    await settle();
    expect(transport.asked('dns.query')).toBe(0);
    await queries.askFor({ name: 'www.acme.test', type: 'A' });
    expect(queries.answer?.rcode).toBe('NXDOMAIN');
    rcode = 'NOERROR';
    transport.tell({ type: 'records.changed' });
    await settle();
    expect(queries.answer?.rcode).toBe('NOERROR');
    own = false;
    transport.tell({ type: 'records.changed' });
    await settle();
    expect(transport.asked('dns.query')).toBe(2);
    queries.close();
  });

  it('keeps its answer when the repetition of an earlier one is answered later', async () => {
    const { transport, connection } = await setUp();
    const late = Promise.withResolvers<DnsAnswer>();
    const answers = [answer('NXDOMAIN'), late.promise, answer('NOERROR')];
    transport.stub('dns.query', () => answers.shift());
    const queries = new DnsQueries({ client: connection.client, changes: connection, usesOwnServer: () => true });
    await queries.askFor({ name: 'a.test', type: 'A' });
    transport.tell({ type: 'records.changed' });
    await settle();
    await queries.askFor({ name: 'b.test', type: 'A' });
    late.resolve(answer('SERVFAIL'));
    await settle();
    expect(queries.answer?.rcode).toBe('NOERROR');
    queries.close();
  });

  it('that is refused is reported at the field, and the last answer stays', async () => {
    const { transport, connection } = await setUp();
    transport.stub('dns.query', (input) => {
      if ((input as { name: string }).name === 'a.test') return answer('NOERROR');
      const issues = [{ path: 'name', message: 'has an empty label' }];
      throw new ORPCError('invalid_request', { message: 'name has an empty label', data: { issues } });
    });
    const queries = new DnsQueries({ client: connection.client, changes: connection, usesOwnServer: () => true });
    await queries.askFor({ name: 'a.test', type: 'A' });
    expect(await queries.askFor({ name: 'a..b', type: 'A' })).toBeUndefined();
    expect([queries.form.fault('name'), queries.answer?.rcode]).toEqual(['has an empty label', 'NOERROR']);
  });
});
