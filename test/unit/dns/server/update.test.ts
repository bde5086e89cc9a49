import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../../main/base/log.ts';
import { createExchange } from '../../../../main/dns/server/exchange.ts';
import { createUpdateExchange } from '../../../../main/dns/server/update-exchange.ts';
import type { UpdateResult, UpdateMessage } from '../../../../main/dns/server/update-exchange.ts';
import { planUpdate, type UpdatedZone } from '../../../../main/dns/server/update.ts';
import { message as query, wireName } from '../../../support/dns/dns-client.ts';
import { zoneOf, zoneSetOf } from '../../../support/dns/dns-tables.ts';

const NOW_MS = Date.UTC(2026, 10, 22);
const SECRET = Buffer.from('a secret of thirty-two octets, or');

const uint = (octets: number, value: number): Buffer => {
  const buffer = Buffer.alloc(octets);
  buffer.writeUIntBE(value, 0, octets);
  return buffer;
};

interface Written {
  name?: string;
  type?: number;
  class?: number;
  ttl?: number;
  data?: Buffer;
}

const A = 1;
const ADDRESS = Buffer.of(192, 0, 2, 1);

const record = ({ name = 'www.acme.test', type = A, class: own = 1, ttl = 0, data = Buffer.alloc(0) }: Written) =>
  Buffer.concat([wireName(name), uint(2, type), uint(2, own), uint(4, ttl), uint(2, data.length), data]);

/** An UPDATE of acme.test; `counts` are those of its sections. */
function update(records: readonly Buffer[], counts: readonly number[] = [1, 0, records.length, 0]): Buffer {
  const header = [0x1234, 5 << 11, ...counts].map((value) => uint(2, value));
  return Buffer.concat([...header, wireName('acme.test'), uint(2, 6), uint(2, 1), ...records]);
}

/** Signs as a client does (RFC 8945 §4.3), with the MAC cut to `macOctets`. */
function sign(message: Buffer, { key = 'acme.test', seconds = NOW_MS / 1000, macOctets = 32, after = '' } = {}) {
  const algorithm = wireName('hmac-sha256');
  const times = Buffer.concat([uint(6, seconds), uint(2, 300)]);
  const variables = Buffer.concat([wireName(key), uint(2, 255), uint(4, 0), algorithm, times, uint(4, 0)]);
  const mac = createHmac('sha256', SECRET).update(message).update(variables).digest().subarray(0, macOctets);
  const data = Buffer.concat([algorithm, times, uint(2, mac.length), mac, uint(2, 0x1234), uint(4, 0)]);
  const head = Buffer.from(message);
  const extra = Buffer.from(after, 'hex');
  head.writeUInt16BE(1 + (extra.length > 0 ? 1 : 0), 10);
  return Buffer.concat([head, record({ name: key, type: 250, class: 255, data }), extra]);
}

const updatable = {
  secretOf: (key: string) => (key === 'acme.test' ? SECRET : null),
  hasZone: (name: string) => name === 'acme.test',
  apply: (): UpdateResult => ({ rcode: 'NOERROR' }),
  realNow: () => NOW_MS,
};

function exchange(message: Buffer, apply: (update: UpdateMessage) => UpdateResult = updatable.apply) {
  const reply = createUpdateExchange({ ...updatable, apply })(message);
  const rcode = reply.readUInt16BE(2) & 0xf;
  const signed = reply.readUInt16BE(10) === 1;
  // A TSIG record ends with its original id, error and other data.
  const late = signed && reply.readUInt16BE(reply.length - 8) === 6;
  const error = !signed ? null : reply.readUInt16BE(reply.length - (late ? 10 : 4));
  return { rcode, error, serverSeconds: late ? reply.readUIntBE(reply.length - 6, 6) : null };
}

const ADD = update([record({ ttl: 60, data: ADDRESS })]);
const OPT = '00002904d000000000' + '0000';

describe('a signature (RFC 8945 §5.2)', () => {
  const nowSeconds = NOW_MS / 1000;

  test.each([
    ['none: REFUSED', ADD, { rcode: 5, error: null }],
    ['a valid one', sign(ADD), { rcode: 0, error: 0 }],
    ['a key’s name in upper case', sign(ADD, { key: 'ACME.test' }), { rcode: 9, error: 16 }],
    ['an unknown key: BADKEY', sign(ADD, { key: 'other.test' }), { rcode: 9, error: 17 }],
    ['300 s early', sign(ADD, { seconds: nowSeconds - 300 }), { rcode: 0, error: 0 }],
    ['301 s early: BADTIME with the server’s time', sign(ADD, { seconds: nowSeconds - 301 }), { rcode: 9, error: 18 }],
    ['301 s late: BADTIME', sign(ADD, { seconds: nowSeconds + 301 }), { rcode: 9, error: 18 }],
    ['half of a MAC: BADTRUNC', sign(ADD, { macOctets: 16 }), { rcode: 9, error: 22 }],
    ['less than half of a MAC: FORMERR', sign(ADD, { macOctets: 15 }), { rcode: 1, error: null }],
    ['not the last record: FORMERR', sign(ADD, { after: OPT }), { rcode: 1, error: null }],
    ['another octet in the message: BADSIG', flipped(sign(ADD)), { rcode: 9, error: 16 }],
  ])('%s', (_what, message, expected) => {
    const { serverSeconds, ...found } = exchange(message);
    expect(found).toEqual(expected);
    expect(serverSeconds).toBe(found.error === 18 ? nowSeconds : null);
  });

  test('of an answer over UDP counts towards its 512 octets', () => {
    const octets = Array.from({ length: 40 }, (_, n) => n);
    const zones = zoneSetOf([zoneOf('acme.test', octets.map((n) => `s${n} TXT "${'x'.repeat(n * 13)}"`).join('\n'))]);
    const run = createExchange({ zones: () => zones, log: silentLog, updatable });
    const lengths = octets.map((n) => run(sign(query({ name: `s${n}.acme.test`, type: 16 })), 'udp')?.length ?? 0);
    expect(Math.max(...lengths)).toSatisfy((most: number) => most > 448 && most <= 512);
  });

  test('is valid once: a repeated message gets the same reply and is not applied', () => {
    let applied = 0;
    const run = createUpdateExchange({
      ...updatable,
      apply: () => ({ rcode: applied++ === 0 ? 'NOERROR' : 'SERVFAIL' }),
    });
    const message = sign(ADD);
    expect(run(message)).toEqual(run(message));
    expect(applied).toBe(1);
  });
});

/** With another address in the record. */
function flipped(message: Buffer): Buffer {
  const copy = Buffer.from(message);
  const at = copy.indexOf(ADDRESS);
  copy[at] = 10;
  return copy;
}

describe('a message (RFC 2136 §2)', () => {
  test.each([
    ['no zone', update([], [0, 0, 0, 0])],
    ['two zones', update([], [2, 0, 0, 0])],
    ['a record that is cut off', ADD.subarray(0, -1)],
    ['octets after the end', Buffer.concat([ADD, Buffer.of(0)])],
    ['an address of three octets', update([record({ ttl: 60, data: ADDRESS.subarray(1) })])],
    ['the header alone', ADD.subarray(0, 12)],
  ])('with %s gets FORMERR', (_what, message) => {
    expect(exchange(message).rcode).toBe(1);
  });

  test('with more than 1,000 records is refused', () => {
    const records = Array.from({ length: 1001 }, () => record({ ttl: 60, data: ADDRESS }));
    expect(exchange(sign(update(records))).rcode).toBe(5);
    expect(exchange(sign(update(records.slice(1)))).rcode).toBe(0);
  });
});

const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, number) => `10.0.${number >> 8}.${number & 255}`);

describe('a plan', () => {
  const stored: Record<string, string[]> = {
    'acme.test SOA': ['ns.vivarium.localhost. hostmaster.acme.test. 0 7200 900 1209600 300'],
    'acme.test NS': ['ns.vivarium.localhost.'],
    'acme.test MX': ['10 mail.acme.test.'],
    'www.acme.test A': ['192.0.2.1', '192.0.2.2'],
    'alias.acme.test CNAME': ['www.acme.test.'],
    'many.acme.test A': addresses(1_000),
  };
  const deleted = (count: number): string[] => addresses(count).map((value) => `- ${value}`);
  const zone: UpdatedZone = {
    apex: 'acme.test',
    nameServer: 'ns.vivarium.localhost',
    supportsAlias: true,
    rrset: (name, type) => new Map((stored[`${name} ${type}`] ?? []).map((value) => [value, 3600])),
    typesAt: (name) =>
      Object.entries(stored).flatMap(([key, [value = '']]) =>
        key.startsWith(`${name} `) ? [{ type: key.slice(name.length + 1), value }] : [],
      ),
  };

  /** The changes of each RRset: records to have, and values to remove; or the rcode. */
  /** The changes of each RRset: records to have, and values to remove; or the rcode. */
  function planned(records: readonly Written[], prerequisites: readonly Written[] = []): unknown {
    const all = [...prerequisites, ...records];
    let plan: unknown = null;
    const message = sign(update(all.map(record), [1, prerequisites.length, records.length, 0]));
    exchange(message, (read) => {
      const found = planUpdate(read, zone);
      const changed = found.ok ? found.rrsets.filter(({ put, gone }) => put.size + gone.size > 0) : [];
      const lines = changed.map(({ name, type, put, gone }) => [
        `${name} ${type}`,
        [...[...put].map(([value, ttl]) => `${ttl} ${value}`), ...[...gone].map((value) => `- ${value}`)],
      ]);
      plan = found.ok ? Object.fromEntries(lines) : found.rcode;
      return { rcode: 'NOERROR' };
    });
    return plan;
  }

  /** A CNAME of `www`. */
  const alias = { type: 5, ttl: 60, data: wireName('x.test') };
  const address = { ttl: 60, data: ADDRESS };

  const NS = 2;
  const SOA = 6;
  const ANY = 255;
  const NONE = 254;

  const apex = { name: 'acme.test' };
  const gone = { 'www.acme.test A': ['- 192.0.2.1', '- 192.0.2.2'] };

  test.each<[string, Written[], unknown]>([
    ['adds', [{ ...address, name: 'new.acme.test' }], { 'new.acme.test A': ['60 192.0.2.1'] }],
    ['gives a record another TTL', [address], { 'www.acme.test A': ['60 192.0.2.1'] }],
    [
      'treats a TTL with its highest bit set as 0',
      [{ ...address, ttl: 2 ** 31, name: 'n.acme.test' }],
      { 'n.acme.test A': ['0 192.0.2.1'] },
    ],
    ['deletes a record', [{ class: NONE, data: ADDRESS }], { 'www.acme.test A': ['- 192.0.2.1'] }],
    [
      'deletes a record and adds it again',
      [
        { ...address, class: NONE, ttl: 0 },
        { ...address, ttl: 3600 },
      ],
      {},
    ],
    [
      'keeps an RRset that it deletes and adds again with one record',
      [{ class: ANY }, { ...address, ttl: 9 }],
      { 'www.acme.test A': ['9 192.0.2.1', '- 192.0.2.2'] },
    ],
    ['deletes an RRset', [{ class: ANY }], gone],
    ['ignores the deletion of what does not exist', [{ class: ANY, type: 16 }], {}],
    [
      'deletes all but SOA and NS of the apex',
      [{ ...apex, class: ANY, type: ANY }],
      { 'acme.test MX': ['- 10 mail.acme.test.'] },
    ],
    ['keeps the SOA', [{ ...apex, class: ANY, type: SOA }], {}],
    ['keeps the last NS', [{ ...apex, class: NONE, type: NS, data: wireName('ns.vivarium.localhost') }], {}],
    [
      'replaces a CNAME with another',
      [{ ...alias, name: 'alias.acme.test' }],
      { 'alias.acme.test CNAME': ['60 x.test.', '- www.acme.test.'] },
    ],
    [
      'adds a CNAME where the same update deletes the rest',
      [{ class: ANY, type: ANY }, alias],
      { ...gone, 'www.acme.test CNAME': ['60 x.test.'] },
    ],
    ['deletes an RRset of 1,000', [{ class: ANY, name: 'many.acme.test' }], { 'many.acme.test A': deleted(1_000) }],
    ['refuses to delete more in total', [{ class: ANY }, { class: ANY, name: 'many.acme.test' }], 'REFUSED'],
    ['refuses a CNAME beside an address', [alias], 'REFUSED'],
    ['refuses a name outside', [{ ...address, name: 'www.other.test' }], 'NOTZONE'],
    ['refuses a TTL in a deletion', [{ class: ANY, ttl: 1 }], 'FORMERR'],
    ['refuses data in the deletion of an RRset', [{ class: ANY, data: ADDRESS }], 'FORMERR'],
    ['refuses the addition of a meta-type', [{ ...address, type: 252 }], 'FORMERR'],
    ['refuses another class', [{ ...address, class: 3 }], 'FORMERR'],
  ])('%s', (_what, records, expected) => {
    expect(planned(records)).toEqual(expected);
  });

  test.each<[string, Written[], unknown]>([
    ['an RRset with the same records, in any order', [{ data: Buffer.of(192, 0, 2, 2) }, { data: ADDRESS }], {}],
    ['an RRset with fewer', [{ data: ADDRESS }], 'NXRRSET'],
    ['a TTL', [{ data: ADDRESS, ttl: 60 }], 'FORMERR'],
    ['data in a question for a name', [{ class: ANY, type: ANY, data: ADDRESS }], 'FORMERR'],
    ['the generated SOA', [{ class: ANY, type: SOA, name: 'acme.test' }], {}],
  ])('with a prerequisite: %s', (_what, prerequisites, expected) => {
    expect(planned([], prerequisites)).toEqual(expected);
  });
});
