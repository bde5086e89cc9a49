import { describe, expect } from 'vitest';
import { asked } from '../../../support/dns/dns-dig.ts';
import { replyTo, startFakeDns } from '../../../support/dns/dns-fake-server.ts';
import { refusal, zoneTest as it } from '../../../support/dns/dns-zone-engine.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const HOUR_MS = 3_600_000;

const dig = ({ app }: Pick<Engine, 'app'>, name: string, type: string) => asked(app.runtime.dns.port, name, type);

describe('zones', () => {
  it.for(['_acme-challenge.acme.test', '_msdcs.corp.test', '0/25.2.0.192.in-addr.arpa'])(
    'may be named %s',
    async (name, { engine, call }) => {
      expect(await call('zones.create', { name: `${name.toUpperCase()}.` })).toMatchObject({ name });
      await call('records.put', { zone: name, name: '@', type: 'TXT', value: 'x' });
      expect(await dig(engine, name, 'TXT')).toBe('NOERROR | TXT "x"');
      expect(await call('zones.remove', { name })).toMatchObject({ name, records: 1 });
    },
  );

  it.for([242, 243, 253])(
    'with names of %i characters are answered with well-formed packets',
    async (length, { engine, call }) => {
      const labels = `${`${'a'.repeat(61)}.`.repeat(3)}`;
      const name = `${labels}${'b'.repeat(length - labels.length - 5)}.test`;
      expect(name).toHaveLength(length);
      await call('zones.create', { name });
      const primary = 'SOA ns.vivarium.localhost. hostmaster.';
      expect(await dig(engine, name, 'SOA')).toContain(
        `NOERROR | ${primary}${length > 242 ? 'vivarium.localhost' : name}`,
      );
      expect(await dig(engine, name, 'NS')).toBe('NOERROR | NS ns.vivarium.localhost.');
      expect(await dig(engine, name, 'TXT')).toBe('NOERROR');
      expect(await call('dns.query', { name, type: 'A' })).toMatchObject({ rcode: 'NOERROR', answer: [] });
    },
  );

  it('can be created, listed with their records, queried, and removed', async ({ engine, call, put, records }) => {
    await call('zones.remove', { name: 'acme.test' });
    expect(await dig(engine, 'acme.test', 'SOA')).toBe('REFUSED');
    const zone = await call('zones.create', { name: 'ACME.test.' });
    expect(zone).toMatchObject({ name: 'acme.test', supportsAlias: true, records: 0 });
    expect(await dig(engine, 'www.acme.test', 'A')).toBe('NXDOMAIN');
    await put('www', 'A', '192.0.2.1');
    expect(await call('zones.list')).toMatchObject([{ name: 'acme.test', records: 1 }]);
    expect(await dig(engine, 'www.acme.test', 'A')).toBe('NOERROR | A 192.0.2.1');
    expect(await call('zones.remove', { name: 'acme.test' })).toMatchObject({ name: 'acme.test', records: 1 });
    expect(await dig(engine, 'www.acme.test', 'A')).toBe('REFUSED');
    await call('zones.create', { name: 'acme.test' });
    expect(await records()).toEqual([]);
  });

  it.for([
    ['vivarium.localhost', 'conflict', /platform’s own zone/],
    ['shop.vivarium.localhost', 'conflict', /platform’s own zone/],
    ['acme.test', 'conflict', /already exists/],
    ['Acme.Test.', 'conflict', /already exists/],
    ['a..test', 'invalid_request', /empty label/],
    ['-a.test', 'invalid_request', /hyphen/],
    ['a#b.test', 'invalid_request', /may have only letters/],
    ['10.0.0.0/8', 'invalid_request', /may have only letters/],
    ['*.acme.test', 'invalid_request', /may have only letters/],
    ['a b.test', 'invalid_request', /letters, digits and hyphens/],
    [`${'a'.repeat(64)}.test`, 'invalid_request', /63/],
    ['192.0.2.1', 'invalid_request', /IP address/],
    ['.', 'invalid_request', /empty/],
  ] as const)('named %s are refused: %s', async ([name, code, message], { call }) => {
    const error = await refusal(call('zones.create', { name }));
    expect([error.code, error.issues?.map(({ path }) => path)]).toEqual([code, ['name']]);
    expect(error.message).toMatch(message);
  });

  it.each(['test', 'bücher.test', 'localhost', '2.0.192.in-addr.arpa'])('may be named %s', async (name) => {
    const engine = await startEngine({ ephemeral: true });
    const zone = await engine.call('zones.create', { name });
    expect(await dig(engine, zone.name, 'NS')).toBe('NOERROR | NS ns.vivarium.localhost.');
    expect(await dig(engine, 'demo.vivarium.localhost', 'A')).toBe('NOERROR | A 127.0.0.1');
  });

  it('survive a restart with their records and pending changes', async () => {
    const dataDir = temporaryFolder();
    const first = await startEngine({ empty: true, dataDir });
    await first.call('zones.create', { name: 'acme.test', supportsAlias: false });
    await first.call('records.put', { zone: 'acme.test', name: 'www', type: 'A', value: '192.0.2.1' });
    await first.call('settings.update', { propagation: 'PT10H' });
    await first.call('records.put', { zone: 'acme.test', name: 'new', type: 'TXT', value: 'später' });
    await first.stop();
    const second = await startEngine({ dataDir });
    expect(await second.call('zones.list')).toMatchObject([{ name: 'acme.test', supportsAlias: false, records: 2 }]);
    expect(await dig(second, 'www.acme.test', 'A')).toBe('NOERROR | A 192.0.2.1');
    expect(await dig(second, 'new.acme.test', 'TXT')).toBe('NXDOMAIN');
    await second.call('clock.advance', { by: 'PT10H' });
    expect(await dig(second, 'new.acme.test', 'TXT')).toBe('NOERROR | TXT "sp\\195\\164ter"');
  });
});

describe('records', () => {
  it.for([
    ['www', 'A', '192.0.2.1', 'www', '192.0.2.1', 'A 192.0.2.1'],
    ['@', 'AAAA', '2001:DB8:0::1', '@', '2001:db8::1', 'AAAA 2001:db8::1'],
    [
      'Shop.Acme.Test.',
      'CNAME',
      'CNAME.vivarium.localhost',
      'shop',
      'cname.vivarium.localhost',
      'CNAME cname.vivarium.localhost.',
    ],
    ['bücher', 'A', '192.0.2.1', 'xn--bcher-kva', '192.0.2.1', 'A 192.0.2.1'],
    ['_dmarc', 'TXT', 'v=DMARC1; p="none"', '_dmarc', 'v=DMARC1; p="none"', 'TXT "v=DMARC1; p=\\"none\\""'],
    ['@', 'MX', '10 mail.example', '@', '10 mail.example', 'MX 10 mail.example.'],
    ['@', 'CAA', '0 issue "ca.example"', '@', '0 issue "ca.example"', 'CAA 0 issue "ca.example"'],
    ['sub', 'NS', 'ns.example.', 'sub', 'ns.example', null],
    ['@', 'ALIAS', 'cname.vivarium.localhost', '@', 'cname.vivarium.localhost', null],
  ] as const)(
    '%s %s %s is stored as %s and %s, and dig shows it',
    async ([name, type, value, stored, storedValue, shown], { engine, put, records }) => {
      const record = await put(name, type, value);
      expect(record).toMatchObject({ zone: 'acme.test', name: stored, type, ttl: 3600, value: storedValue });
      expect(record.warnings).toBeUndefined();
      expect(await records()).toEqual([record]);
      expect(await records({ name })).toEqual([record]);
      expect(await records({ name: 'other' })).toEqual([]);
      const qname = stored === '@' ? 'acme.test' : `${stored}.acme.test`;
      if (shown !== null) expect(await dig(engine, qname, type)).toBe(`NOERROR | ${shown}`);
    },
  );

  it.for([
    ['www', 'A', '192.0.2.256', 'value', /not an IPv4 address/],
    ['a..b', 'A', '192.0.2.1', 'name', /empty/],
    ['www.other.test.', 'A', '192.0.2.1', 'name', /is not in the zone/],
    ['@', 'CNAME', 'target.example', 'type', /use ALIAS/],
    ['*.sub', 'NS', 'ns.example', 'type', /wildcard/i],
  ] as const)('%s %s %s is refused at %s', async ([name, type, value, path, message], { put }) => {
    const error = await refusal(put(name, type, value));
    expect([error.code, error.issues?.map((issue) => issue.path)]).toEqual(['invalid_request', [path]]);
    expect(error.message).toMatch(message);
  });

  it('with several faults are refused with all of them', async ({ put }) => {
    const { issues } = await refusal(put('a..b', 'A', 'x'));
    expect(issues?.map(({ path }) => path)).toEqual(['name', 'value']);
  });

  it.for([
    ['an A', 'a CNAME', ['www', 'A', '192.0.2.1'], ['www', 'CNAME', 'target.example']],
    ['a CNAME', 'an A', ['www', 'CNAME', 'target.example'], ['www', 'A', '192.0.2.1']],
    ['a CNAME', 'another CNAME', ['www', 'CNAME', 'target.example'], ['www', 'CNAME', 'other.example']],
    ['an A', 'an ALIAS', ['www', 'A', '192.0.2.1'], ['www', 'ALIAS', 'cname.vivarium.localhost']],
  ] as const)(
    'conflict: beside %s, %s is stored only with force',
    async ([_there, _new, [name = '', type = '', value = ''], second], { put, records }) => {
      await put(name, type, value);
      const [name2 = '', type2 = '', value2 = ''] = second;
      const error = await refusal(put(name2, type2, value2));
      expect([error.code, error.issues?.map(({ path }) => path)]).toEqual(['conflict', ['type']]);
      expect(await put(name2, type2, value2, { force: true })).toMatchObject({ type: type2 });
      expect(await records()).toHaveLength(2);
    },
  );

  it('with force may be a CNAME at the apex, or an ALIAS that the provider does not support', async ({ engine }) => {
    const { call, put } = engine;
    await call('zones.remove', { name: 'acme.test' });
    await call('zones.create', { name: 'acme.test', supportsAlias: false });
    expect((await refusal(put('@', 'ALIAS', 'cname.vivarium.localhost'))).message).toMatch(/provider has no ALIAS/);
    await put('@', 'ALIAS', 'cname.vivarium.localhost', { force: true });
    expect(await dig(engine, 'acme.test', 'A')).toBe('NOERROR');
    await put('@', 'CNAME', 'cname.vivarium.localhost', { force: true });
    expect(await dig(engine, 'acme.test', 'A')).toContain('CNAME cname.vivarium.localhost.');
    expect((await refusal(put('x.other.', 'A', '192.0.2.1', { force: true }))).issues?.[0]?.path).toBe('name');
  });

  it('that are put again only change their TTL', async ({ put, records }) => {
    const first = await put('www', 'A', '192.0.2.1');
    const again = await put('WWW', 'A', '192.0.2.1', { ttl: 60 });
    expect(again).toMatchObject({ id: first.id, ttl: 60 });
    expect(await records()).toEqual([again]);
  });

  it('with a malformed issue value are stored with a warning, as providers do', async ({ put, records }) => {
    const record = await put('@', 'CAA', '0 issue "not a domain%"');
    expect(record.warnings).toEqual([expect.stringContaining('malformed')]);
    expect(await records()).toEqual([record]);
  });

  it('with a name that repeats the zone get a warning', async ({ put }) => {
    const record = await put('www.acme.test', 'A', '192.0.2.1');
    expect([record.name, record.warnings]).toEqual(['www.acme.test', [expect.stringContaining('Write "www"')]]);
    expect((await put('shop.acme.test.acme.test.', 'A', '192.0.2.1')).warnings).toBeUndefined();
  });

  it.for([
    [
      'below a delegation',
      ['eu', 'NS', 'ns1.elsewhere.test'],
      ['shop.eu', 'A', '192.0.2.1'],
      '"eu.acme.test." is delegated',
    ],
    ['beside a delegation', ['eu', 'NS', 'ns1.elsewhere.test'], ['eu', 'TXT', 'x'], '"eu.acme.test." is delegated'],
    [
      'in a deeper zone of ours',
      ['x', 'A', '192.0.2.1'],
      ['www.deeper', 'A', '192.0.2.1'],
      'The zone "deeper.acme.test."',
    ],
  ] as const)(
    '%s get a warning, because they are hidden',
    async ([_where, [n, t, v], [name, type, value], says], { call, put }) => {
      await call('zones.create', { name: 'deeper.acme.test' });
      expect((await put(n, t, v)).warnings).toBeUndefined();
      expect((await put(name, type, value)).warnings).toEqual([expect.stringContaining(says)]);
    },
  );

  it('of a delegation’s own name servers, and its NS, get no warning', async ({ put }) => {
    await put('eu', 'NS', 'ns1.eu.acme.test');
    await put('eu', 'NS', 'ns2.eu.acme.test');
    expect((await put('ns2.eu', 'A', '192.0.2.53')).warnings).toBeUndefined();
    expect((await put('ns2.eu', 'AAAA', '2001:db8::53')).warnings).toBeUndefined();
    expect((await put('eu', 'NS', 'ns3.elsewhere.test')).warnings).toBeUndefined();
  });

  it('are listed with the zone’s own name first', async ({ put, records }) => {
    for (const name of ['www', '_x', '@', '*']) await put(name, 'TXT', 'x');
    const listed = await records();
    expect(listed.map(({ name }) => name)).toEqual(['@', '*', '_x', 'www']);
  });

  it('of an unknown zone or id are not found; the platform’s zone cannot be changed', async ({ call }) => {
    const record = { name: 'x', type: 'A', value: '192.0.2.1' };
    expect((await refusal(call('records.put', { zone: 'other.test', ...record }))).code).toBe('not_found');
    expect((await refusal(call('records.put', { zone: 'vivarium.localhost', ...record }))).code).toBe('conflict');
    expect((await refusal(call('records.remove', { id: 'rec_x' }))).code).toBe('not_found');
  });
});

describe('propagation', () => {
  it('keeps the old answers, positive and negative, until it has passed', async ({ engine, call, put, records }) => {
    const old = await put('www', 'A', '192.0.2.1');
    await call('settings.update', { propagation: 'PT1H' });
    const { now } = await call('clock.freeze');
    const later = new Date(Date.parse(now) + HOUR_MS).toISOString();

    expect((await put('new', 'A', '192.0.2.9')).visibleAt).toBe(later);
    expect((await put('www', 'A', '192.0.2.2')).visibleAt).toBe(later);
    expect((await call('records.remove', { id: old.id })).visibleAt).toBe(later);
    expect(await records()).toMatchObject([{ value: '192.0.2.9' }, { value: '192.0.2.2' }]);

    for (const by of ['PT0S', 'PT59M59.999S']) {
      await call('clock.advance', { by });
      expect(await dig(engine, 'new.acme.test', 'A')).toBe('NXDOMAIN');
      expect(await dig(engine, 'www.acme.test', 'A')).toBe('NOERROR | A 192.0.2.1');
    }
    await call('clock.advance', { by: 'PT0.001S' });
    expect(await dig(engine, 'new.acme.test', 'A')).toBe('NOERROR | A 192.0.2.9');
    expect(await dig(engine, 'www.acme.test', 'A')).toBe('NOERROR | A 192.0.2.2');
  });

  it('moves a pending change forward to a later one of its RRset that is visible sooner', async ({ engine }) => {
    const { call, put, records } = engine;
    const { now } = await call('clock.freeze');
    for (const [propagation, value] of Object.entries({ PT48H: '192.0.2.1', PT1H: '192.0.2.2' })) {
      await call('settings.update', { propagation });
      await put('www', 'A', value);
    }
    const visibleAt = new Date(Date.parse(now) + HOUR_MS).toISOString();
    const lines = (await records()).map((record) => `${record.value} ${record.visibleAt}`);
    expect(lines).toEqual([`192.0.2.1 ${visibleAt}`, `192.0.2.2 ${visibleAt}`]);
  });

  it('keeps a removed record, and reports when it will disappear', async ({ engine, call, put }) => {
    const record = await put('www', 'A', '192.0.2.1');
    await call('settings.update', { propagation: 'PT48H' });
    await call('records.remove', { id: record.id });
    await call('clock.advance', { by: 'PT47H' });
    expect(await dig(engine, 'www.acme.test', 'A')).toBe('NOERROR | A 192.0.2.1');
    await call('clock.advance', { by: 'PT1H' });
    expect(await dig(engine, 'www.acme.test', 'A')).toBe('NXDOMAIN');
  });

  it('keeps visible records visible and pending changes pending when the clock goes back', async ({ engine }) => {
    const { call, put, records } = engine;
    await call('clock.freeze');
    await call('clock.advance', { by: 'PT48H' });
    await put('instant', 'A', '192.0.2.1');
    await call('settings.update', { propagation: 'PT2H' });
    await put('seen', 'A', '192.0.2.2');
    await call('clock.advance', { by: 'PT2H' });
    await put('waiting', 'A', '192.0.2.3');
    await call('clock.advance', { by: 'PT1H' });
    const { now } = await call('clock.reset');
    await call('clock.freeze');

    const names = ['instant', 'seen', 'waiting'];
    const statuses = () =>
      Promise.all(names.map(async (name) => (await dig(engine, `${name}.acme.test`, 'A')).split(' ')[0]));
    expect(await statuses()).toEqual(['NOERROR', 'NOERROR', 'NXDOMAIN']);
    const list = await records();
    expect(list.map(({ visibleAt }) => Date.parse(visibleAt) - Date.parse(now) <= 0)).toEqual([true, true, false]);
    await call('clock.advance', { by: 'PT1H' });
    expect(await statuses()).toEqual(['NOERROR', 'NOERROR', 'NOERROR']);
  });
});

describe('zone files', () => {
  it('of 10,000 records with three bad lines: the three are reported, the rest is accepted', async ({ engine }) => {
    const { call, load } = engine;
    const lines = Array.from({ length: 10_000 }, (_, index) => `h${index} 300 IN A 192.0.2.${index % 256}`);
    lines[17] = 'h17 300 IN A 192.0.2.999';
    lines[4_000] = 'h0 IN CNAME target.example.';
    lines[9_999] = 'mail IN MINFO host host';
    const result = await load(lines.join('\n'));
    expect(result).toEqual({
      created: 9_997,
      existing: 0,
      rejectedTotal: 3,
      rejected: [
        { line: 18, message: expect.stringContaining('not an IPv4 address') },
        { line: 4_001, message: expect.stringContaining('must be the only record'), forcible: true },
        { line: 10_000, message: expect.stringContaining('"MINFO" is not a TTL, a class or a supported type') },
      ],
      forcible: 1,
      warnings: [],
      warningsTotal: 0,
    });
    expect(await dig(engine, 'h9998.acme.test', 'A')).toBe('NOERROR | A 192.0.2.14');
    expect(await call('zones.list')).toMatchObject([{ records: 9_997 }]);
  });

  it('import as one change, whatever the number of its parts', async ({ call, load, records }) => {
    await call('settings.update', { propagation: 'PT1H' });
    const text = Array.from({ length: 2000 }, (_, n) => `big A 10.0.${n >> 8}.${n & 255}`).join('\n');
    await load(text);
    const listed = await records();
    expect([listed.length, new Set(listed.map(({ visibleAt }) => visibleAt)).size]).toEqual([2000, 1]);
    // Identifiers of a part are adjacent in the store's index.
    expect(new Set(listed.map(({ id }) => id.slice(0, -3))).size).toBeLessThan(50);
  });

  it('import in parts: other calls take turns, and an aborted import reports its progress', async ({ engine }) => {
    const { call, load } = engine;
    const text = Array.from({ length: 30_000 }, (_, index) => `h${index} A 192.0.2.${index % 256}`).join('\n');
    const importing = refusal(load(text));
    while ((await dig(engine, 'h0.acme.test', 'A')) !== 'NOERROR | A 192.0.2.0');
    await call('zones.remove', { name: 'acme.test' });
    const error = await importing;
    expect(error).toMatchObject({ code: 'not_found' });
    expect(error.message).toMatch(/^[1-9][0-9]* records were imported; then: There is no zone "acme\.test"/);
  });

  it('are exported as they were imported', async ({ call, load }) => {
    const text = '@ 60 MX 10 mail\n@ CAA 0 issue "ca.example"\nmail A 192.0.2.1\nx TXT "a" "b\\255;"\n';
    expect(await load(text)).toMatchObject({ created: 4, rejectedTotal: 0 });
    const { text: exported } = await call('zones.export', { name: 'acme.test' });
    expect(exported).toContain('$ORIGIN acme.test.\n@ 3600 IN SOA ns.vivarium.localhost.');
    expect(exported).toContain('x 60 IN TXT "a" "b\\255;"');
    // The same again adds nothing; in another zone everything is new except SOA and NS, which it has itself.
    expect(await load(exported)).toMatchObject({ created: 0, existing: 4, rejectedTotal: 0 });
    await call('zones.remove', { name: 'acme.test' });
    await call('zones.create', { name: 'acme.test' });
    expect(await load(exported)).toMatchObject({ created: 4, rejectedTotal: 0 });
    const { text: second } = await call('zones.export', { name: 'acme.test' });
    const withoutSoa = (zoneFile: string) => zoneFile.replace(/^.* SOA .*$/m, '');
    expect(withoutSoa(second)).toBe(withoutSoa(exported));
  });

  it('set SOA and name servers, with the negative TTL', async ({ engine, call, load, records }) => {
    const text = `
      @ 600 SOA ns1.provider.example. dns.provider.example. 2026112201 3600 600 604800 30
      @ 900 NS ns1.provider.example.
      @ 900 NS ns2.provider.example.
      www A 192.0.2.1`.replace(/^ +/gm, '');
    const soa = /^NOERROR \| SOA ns1\.provider\.example\. dns\.provider\.example\. (\d+) 3600 600 604800 30$/;
    const again = () => load(text);
    expect(await again()).toMatchObject({ created: 4, existing: 0, rejectedTotal: 0, warningsTotal: 0 });
    expect(await dig(engine, 'acme.test', 'SOA')).toMatch(soa);
    const servers = 'NOERROR | NS ns1.provider.example. | NS ns2.provider.example.';
    expect(await dig(engine, 'acme.test', 'NS')).toBe(servers);
    expect(await call('dns.query', { name: 'acme.test', type: 'NS' })).toMatchObject({
      answer: [{ ttl: 900 }, { ttl: 900 }],
    });
    expect(await call('dns.query', { name: 'no.acme.test' })).toMatchObject({
      rcode: 'NXDOMAIN',
      authority: [{ type: 'SOA', ttl: 30 }],
    });

    // The same again adds nothing; another SOA replaces the first, and the serial only rises.
    expect(await again()).toMatchObject({ created: 0, existing: 4 });
    const { text: exported } = await call('zones.export', { name: 'acme.test' });
    expect(await load(exported)).toMatchObject({ created: 0 });
    const before = soa.exec(await dig(engine, 'acme.test', 'SOA'))?.[1];
    await load('@ 60 SOA ns1 dns 1 3600 600 604800 5');
    const after = /SOA ns1\.acme\.test\. dns\.acme\.test\. (\d+) 3600 600 604800 5$/.exec(
      await dig(engine, 'acme.test', 'SOA'),
    )?.[1];
    expect(Number(after)).toBeGreaterThan(Number(before));

    // Without them the zone has the SOA and NS that every zone gets.
    const own = await records({ name: '@' });
    expect(own.map(({ type }) => type).sort()).toEqual(['NS', 'NS', 'SOA']);
    for (const { id } of own) await call('records.remove', { id });
    expect(await dig(engine, 'acme.test', 'NS')).toBe('NOERROR | NS ns.vivarium.localhost.');
    expect(await dig(engine, 'acme.test', 'SOA')).toContain('SOA ns.vivarium.localhost. hostmaster.acme.test.');
  });

  it('with more than 100 bad lines list 100 and count the rest', async ({ load }) => {
    const result = await load('x A nowhere\n'.repeat(150));
    expect(result).toMatchObject({ created: 0, rejected: { length: 100 }, rejectedTotal: 150 });
  });
});

describe('dns.query', () => {
  it('queries the local server over UDP, and over TCP if the answer is long', async ({ engine, call, put }) => {
    const { port } = engine.app.runtime.dns;
    await put('www', 'CNAME', 'cname.vivarium.localhost');
    expect(await call('dns.query', { name: 'WWW.acme.test.' })).toMatchObject({
      rcode: 'NOERROR',
      flags: ['qr', 'aa', 'rd'],
      question: { name: 'www.acme.test', type: 'A' },
      answer: [
        {
          ...{ name: 'www.acme.test', type: 'CNAME', ttl: 3600 },
          ...{ value: 'cname.vivarium.localhost', rdata: 'cname.vivarium.localhost.' },
        },
        { name: 'cname.vivarium.localhost', type: 'A', ttl: 3600, value: '127.0.0.1', rdata: '127.0.0.1' },
      ],
      authority: [],
      additional: [],
      source: `127.0.0.1:${port} over UDP`,
      server: { address: '127.0.0.1', port, transport: 'udp' },
      ednsOctets: 1232,
    });
    expect(await call('dns.query', { name: 'none.acme.test', type: 'caa' })).toMatchObject({
      rcode: 'NXDOMAIN',
      authority: [{ name: 'acme.test', type: 'SOA', ttl: 300 }],
    });
    expect(await call('dns.query', { name: 'example.com' })).toMatchObject({
      rcode: 'REFUSED',
      flags: ['qr', 'rd'],
      detail: expect.stringMatching(/zone/),
    });
    for (let index = 0; index < 10; index++) await put('big', 'TXT', `${index}`.repeat(200));
    const big = await call('dns.query', { name: 'big.acme.test', type: 'TXT' });
    expect([big.answer.length, big.source]).toEqual([10, `127.0.0.1:${port} over TCP`]);
  });

  it('queries the resolver that the setting names, and reports the outcome', async ({ call }) => {
    const failing = await startFakeDns((query) => replyTo(query, { flags: 2 }));
    await call('settings.update', { resolver: `127.0.0.1:${failing.port}` });
    const source = `127.0.0.1:${failing.port} over UDP`;
    expect(await call('dns.query', { name: 'a.test' })).toMatchObject({
      rcode: 'SERVFAIL',
      answer: [],
      authority: [],
      source,
    });

    const silent = await startFakeDns(() => null);
    await call('settings.update', { resolver: `127.0.0.1:${silent.port}` });
    const timeout = await refusal(call('dns.query', { name: 'a.test' }));
    expect([timeout.code, silent.seen.length]).toEqual(['gateway_timeout', 3]);
    expect(timeout.message).toContain(`127.0.0.1:${silent.port} did not answer in time`);

    const stopped = await startEngine({ empty: true, ephemeral: true });
    const { port } = stopped.app.runtime.dns;
    await stopped.stop();
    await call('settings.update', { resolver: `[::1]:${port}` });
    const unreachable = await refusal(call('dns.query', { name: 'a.test' }));
    expect([unreachable.code, unreachable.message]).toEqual([
      'bad_gateway',
      expect.stringContaining(`[::1]:${port} can’t be reached`),
    ]);
  });

  it.for([
    [{ name: 'a..b' }, 'name'],
    [{ name: 'a.test', type: 'NONSENSE' }, 'type'],
    [{ name: 'a.test', type: 'A B' }, 'type'],
  ])('refuses %j', async ([input, path], { call }) => {
    const error = await refusal(call('dns.query', input));
    expect(error.issues?.map((issue) => issue.path)).toEqual([path]);
  });
});

it('exports a complete zone, although it is read in parts and changes meanwhile', async ({ engine }) => {
  const { zones, records } = engine.app.services;
  const context = { signal: undefined };
  await zones.create({ name: 'big.test', supportsAlias: true }, context);
  const values = Array.from({ length: 1_200 }, (_, number) => `v${number}`);
  const text = values.map((value, number) => `h${number % 400} 300 IN TXT "${value}"`).join('\n');
  await zones.import({ name: 'big.test', text, files: {}, force: false }, context);
  const exporting = zones.export({ name: 'big.test' }, context);
  await records.put({ zone: 'big.test', name: 'a', type: 'A', ttl: 3_600, value: '192.0.2.1', force: false }, context);
  const lines = (await exporting).text.split('\n');
  expect(lines.slice(0, 4).map((line) => line.split(' ').slice(0, 4).join(' '))).toEqual([
    '$ORIGIN big.test.',
    '@ 3600 IN SOA',
    '@ 3600 IN NS',
    'a 3600 IN A',
  ]);
  const found = lines.flatMap((line) => /"(v\d+)"/.exec(line)?.[1] ?? []);
  expect(found.toSorted()).toEqual(values.toSorted());
});

it('the records of a large zone are listed in parts, with other calls in between', async ({ engine }) => {
  const { zones, records } = engine.app.services;
  const context = { signal: undefined };
  await zones.create({ name: 'big.test', supportsAlias: true }, context);
  const names = Array.from({ length: 1_200 }, (_, number) => `h${number}`);
  const text = ['@ TXT "apex"', ...names.map((name) => `${name} A 192.0.2.1`)].join('\n');
  await zones.import({ name: 'big.test', text, files: {}, force: false }, context);
  const first = (await records.list({ zone: 'big.test', name: 'h0' }, context))[0];
  const listing = records.list({ zone: 'big.test' }, context);
  // A record that moves behind the others while they are listed appears once.
  await records.update({ id: first?.id ?? '', name: 'z', force: false }, context);
  const listed = await listing;
  expect([listed.length, listed[0]?.name, listed.filter(({ id }) => id === first?.id)]).toMatchObject([
    names.length + 1,
    '@',
    [{ name: 'z' }],
  ]);
  const removed = refusal(Promise.resolve(records.list({ zone: 'big.test' }, context)));
  await zones.remove({ name: 'big.test' }, context);
  expect(await removed).toMatchObject({ code: 'not_found' });
});
