import { describe, expect } from 'vitest';
import { refusal, zoneTest as it, type ZoneEngine } from '../../../support/dns/dns-zone-engine.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';

const update = (engine: Engine, id: string, changes: object) => engine.call('records.update', { id, ...changes });

/** A zone's records as lines, `www 3600 A 192.0.2.1`. */
const lines = async ({ records }: ZoneEngine): Promise<string[]> =>
  (await records()).map(({ name, ttl, type, value }) => `${name} ${ttl} ${type} ${value}`);

describe('changing a record', () => {
  it.for([
    [{ value: '192.0.2.9' }, 'www 3600 A 192.0.2.9'],
    [{ ttl: 60 }, 'www 60 A 192.0.2.1'],
    [{ name: 'shop' }, 'shop 3600 A 192.0.2.1'],
    [{ type: 'TXT' }, 'www 3600 TXT 192.0.2.1'],
    [{ name: '@', type: 'CAA', ttl: 1, value: '0 issue "ca.example"' }, '@ 1 CAA 0 issue "ca.example"'],
    [{}, 'www 3600 A 192.0.2.1'],
  ] as const)('with %j gives %s, under the same id', async ([changes, line], { engine, put }) => {
    const record = await put('www', 'A', '192.0.2.1');
    const changed = await update(engine, record.id, changes);
    expect([changed.id, await lines(engine)]).toEqual([record.id, [line]]);
  });

  it('gives a CNAME another target, and turns it into an address, which cannot coexist with it', async ({ engine }) => {
    const { put } = engine;
    const { id } = await put('www', 'CNAME', 'one.example');
    await update(engine, id, { value: 'two.example' });
    expect(await lines(engine)).toEqual(['www 3600 CNAME two.example']);
    await update(engine, id, { type: 'A', value: '192.0.2.1' });
    expect(await lines(engine)).toEqual(['www 3600 A 192.0.2.1']);
  });

  it('to the value of an existing record keeps the existing one', async ({ engine, put }) => {
    const first = await put('www', 'A', '192.0.2.1');
    const second = await put('www', 'A', '192.0.2.2');
    expect(await update(engine, second.id, { value: '192.0.2.1', ttl: 60 })).toMatchObject({ id: first.id, ttl: 60 });
    expect(await lines(engine)).toEqual(['www 60 A 192.0.2.1']);
  });

  it('keeps octets of a text that cannot be displayed', async ({ engine, call, load, records }) => {
    await load('x TXT "a\\255b"');
    const [record] = await records();
    await update(engine, record?.id ?? '', { name: 'y', ttl: 60 });
    expect((await call('zones.export', { name: 'acme.test' })).text).toContain('y 60 IN TXT "a\\255b"');
  });

  it('is refused at the field, and changes nothing', async ({ engine, put }) => {
    await put('www', 'A', '192.0.2.1');
    const { id } = await put('shop', 'CNAME', 'one.example');
    expect(await refusal(update(engine, id, { value: 'a b' }))).toMatchObject({
      code: 'invalid_request',
      issues: [{ path: 'value' }],
    });
    expect(await refusal(update(engine, id, { name: 'www' }))).toMatchObject({
      code: 'conflict',
      issues: [{ path: 'type', forcible: true }],
    });
    expect((await refusal(update(engine, 'rec_x', {}))).code).toBe('not_found');
    expect(await lines(engine)).toEqual(['shop 3600 CNAME one.example', 'www 3600 A 192.0.2.1']);
    await update(engine, id, { name: 'www', force: true });
    expect(await lines(engine)).toEqual(['www 3600 A 192.0.2.1', 'www 3600 CNAME one.example']);
  });
});

it.for([
  ['a CNAME at the apex', ['@', 'CNAME', 'target.example'], true],
  ['an ALIAS that the provider does not support', ['x', 'ALIAS', 'target.example'], true],
  ['a CNAME beside an address', ['www', 'CNAME', 'target.example'], true],
  ['a name of another zone', ['www.other.', 'A', '192.0.2.1'], undefined],
  ['a wildcard that is delegated', ['*.x', 'NS', 'ns.example'], undefined],
  ['an invalid value', ['x', 'A', 'nowhere'], undefined],
] as const)(
  'a refusal tells whether force helps: %s',
  async ([_what, [name = '', type = '', value = ''], forcible], { call, put }) => {
    await call('zones.remove', { name: 'acme.test' });
    await call('zones.create', { name: 'acme.test', supportsAlias: false });
    await put('www', 'A', '192.0.2.1');
    const { issues = [] } = await refusal(put(name, type, value));
    expect(issues.map((issue) => issue.forcible)).toEqual([forcible]);
    const forced = put(name, type, value, { force: true });
    if (forcible === true) expect(await forced).toMatchObject({ type });
    else expect((await refusal(forced)).code).toBe('invalid_request');
  },
);

describe('a zone file with lines that a careless provider accepts', () => {
  const TEXT = ['www A 192.0.2.1', 'www CNAME a.example.', '@ CNAME b.example.', 'x A nowhere'].join('\n');

  it('names the lines, and accepts them with force', async ({ engine, load }) => {
    const report = await load(TEXT);
    expect(report).toMatchObject({
      created: 1,
      forcible: 2,
      rejected: [{ line: 2, forcible: true }, { line: 3, forcible: true }, { line: 4 }],
    });
    expect(await load(TEXT, { force: true })).toMatchObject({ created: 2, forcible: 0, rejected: [{ line: 4 }] });
    expect(await lines(engine)).toHaveLength(3);
  });

  it('warns about accepted records that are probably mistakes', async ({ load }) => {
    const text = '@ A 192.0.2.1\n@ CAA 0 issue "not a domain%"';
    expect(await load(text)).toMatchObject({
      created: 2,
      warnings: [{ line: 2, message: expect.stringContaining('malformed') }],
      warningsTotal: 1,
    });
  });
});

describe('pending changes', () => {
  const HOUR_MS = 3_600_000;

  it('are reported by RRset: the current answer, and later ones with their times', async ({ engine, call, put }) => {
    const propagating = () => call('records.propagating', { zone: 'acme.test' });
    const old = await put('www', 'A', '192.0.2.1');
    const gone = await put('gone', 'TXT', 'here');
    await put('stays', 'A', '192.0.2.7');
    expect(await propagating()).toEqual([]);

    await call('settings.update', { propagation: 'PT1H' });
    const { now } = await call('clock.freeze');
    const after = (ms: number) => new Date(Date.parse(now) + ms).toISOString();
    await update(engine, old.id, { value: '192.0.2.2' });
    await call('records.remove', { id: gone.id });
    await put('new', 'MX', '10 mail.example');
    await call('clock.advance', { by: 'PT30M' });
    await update(engine, old.id, { ttl: 60 });

    expect(await propagating()).toEqual([
      {
        ...{ name: 'www', type: 'A', answered: [{ ttl: 3600, value: '192.0.2.1' }] },
        changes: [
          { at: after(HOUR_MS), answered: [{ ttl: 3600, value: '192.0.2.2' }] },
          { at: after(1.5 * HOUR_MS), answered: [{ ttl: 60, value: '192.0.2.2' }] },
        ],
      },
      {
        ...{ name: 'gone', type: 'TXT', answered: [{ ttl: 3600, value: 'here' }] },
        changes: [{ at: after(HOUR_MS), answered: [] }],
      },
      {
        ...{ name: 'new', type: 'MX', answered: [] },
        changes: [{ at: after(HOUR_MS), answered: [{ ttl: 3600, value: '10 mail.example' }] }],
      },
    ]);
    await call('clock.advance', { by: 'PT1H' });
    expect(await propagating()).toEqual([]);
  });
});

it('the platform’s own zone lists the current projects', async () => {
  const engine = await startEngine({ empty: true, ephemeral: true });
  const shown = async () => {
    const { name, records } = await engine.call('zones.platform');
    return [name, ...records.map(({ name: owner, type, ttl, value }) => `${owner} ${ttl} ${type} ${value}`)];
  };
  const empty = await shown();
  expect(empty).toEqual([
    'vivarium.localhost',
    expect.stringMatching(
      /^@ 3600 SOA ns\.vivarium\.localhost hostmaster\.vivarium\.localhost \d+ 7200 900 1209600 300$/,
    ),
    '@ 3600 NS ns.vivarium.localhost',
    ...['@', 'ns', 'cname', '*.break'].flatMap((owner) => [`${owner} 3600 A 127.0.0.1`, `${owner} 3600 AAAA ::1`]),
  ]);
  await engine.call('projects.create', { name: 'Shop' });
  expect((await shown()).slice(empty.length)).toEqual(
    ['shop', 'shop-staging'].flatMap((owner) => [`${owner} 3600 A 127.0.0.1`, `${owner} 3600 AAAA ::1`]),
  );
});
