import { Packet } from 'dns2';
import { describe, expect, test } from 'vitest';
import { createExchange, UDP_OCTETS_MAX, type Transport } from '../../../../main/dns/server/exchange.ts';
import { typeCode } from '../../../../main/dns/wire/record.ts';
import type { Zone } from '../../../../main/dns/zones/zone.ts';
import { headerOf, message, opt, RD, wireName } from '../../../support/dns/dns-client.ts';
import { sequence } from '../../../support/sequence.ts';
import { DNS_TABLES, zoneOf, zoneSetOf } from '../../../support/dns/dns-tables.ts';

const many = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');

const ZONES = [
  zoneOf(
    'acme.test',
    `
@    A 192.0.2.1
www  CNAME @
loop ALIAS loop
m    MX 10 mail
mail A 192.0.2.25
${many(100, (n) => `big A 10.0.0.${n}`)}
${many(10_000, (n) => `huge A 10.1.${n >> 8}.${n & 255}`)}
${many(28, (n) => `edge A 10.2.0.${n}`)}
mx   MX 10 mx.host
${many(100, (n) => `mx.host A 10.3.0.${n}`)}
cut  NS ns.cut
${many(100, (n) => `ns.cut A 10.4.0.${n}`)}
${many(20, (n) => `wide NS ns${n}.wide\nns${n}.wide A 10.5.0.${n}`)}
${many(20, (n) => `mails MX ${n} ns${n}.host\nns${n}.host A 10.6.0.${n}`)}
`,
  ),
];

function exchange(zones: Zone[] = ZONES) {
  const errors: unknown[] = [];
  const set = zoneSetOf(zones);
  const run = createExchange({ zones: () => set, log: { error: (_message, fields) => void errors.push(fields) } });
  return { run, errors };
}

const ask = (octets: Buffer, transport: Transport = 'udp'): Buffer => {
  const { run, errors } = exchange();
  const reply = run(octets, transport);
  expect(errors).toEqual([]);
  return reply ?? expect.fail('no reply');
};
/** The header of the reply to a message with these fields. */
const header = (fields: Parameters<typeof message>[0] = {}, transport: Transport = 'udp') =>
  headerOf(ask(message(fields), transport));

describe('the same query again', () => {
  // Every table's questions, as resolvers ask them and as old clients do, each twice.
  const queries = DNS_TABLES.flatMap(({ zones, facts }) =>
    facts.flatMap(({ question }) => {
      const [name = '', type = ''] = question.split(' ');
      const fields = { name, type: typeCode(type) ?? 0 };
      return [message(fields), message({ ...fields, rest: opt() })].map((query) => ({ zones, query }));
    }),
  );

  test('gets the same reply with its own id, and never that of another', () => {
    for (const zones of new Set(queries.map((each) => each.zones))) {
      const { run, errors } = exchange(zones);
      const own = queries.filter((each) => each.zones === zones);
      const first = own.map(({ query }) => run(query, 'udp'));
      const again = own.map(({ query }) => run(withId(query, 0xbeef), 'udp'));
      expect(again).toEqual(first.map((reply) => reply && withId(reply, 0xbeef)));
      expect(first).toEqual(own.map(({ query }) => exchange(zones).run(query, 'udp')));
      expect(errors).toEqual([]);
    }
  });

  test.each([
    ['case of the name', message({ name: 'WWW.acme.test' })],
    ['type', message({ type: 28 })],
    ['class', message({ class: 3 })],
    ['flags', message({ flags: 0 })],
    ['EDNS', message({ rest: opt() })],
  ])('gets another reply with a different %s', (_what, other) => {
    const { run } = exchange();
    const first = run(message(), 'udp');
    expect(run(other, 'udp')).not.toEqual(first);
    expect(run(other, 'udp')).toEqual(exchange().run(other, 'udp'));
    expect(run(message(), 'udp')).toEqual(first);
  });

  test('gets over TCP what was too long for UDP', () => {
    const { run } = exchange();
    const query = message({ name: 'big.acme.test' });
    for (const transport of ['udp', 'tcp', 'udp', 'tcp'] as const) {
      expect(headerOf(run(query, transport) ?? Buffer.alloc(12)).tc).toBe(transport === 'udp');
    }
  });

  test('gets the current answer after a change', () => {
    const set = zoneSetOf(ZONES);
    const run = createExchange({ zones: () => set, log: { error: () => undefined } });
    const rcodeOf = () => headerOf(run(message({ name: 'new.acme.test' }), 'udp') ?? Buffer.alloc(12)).rcode;
    const rcodes = [rcodeOf(), rcodeOf()];
    const data = { type: 'A', address: '192.0.2.9' } as const;
    set.get('acme.test')?.replace('new.acme.test', [{ name: 'new.acme.test', ttlSeconds: 60, data }]);
    rcodes.push(rcodeOf(), rcodeOf());
    set.remove('acme.test');
    rcodes.push(rcodeOf());
    set.put(zoneOf('acme.test', ''));
    rcodes.push(rcodeOf());
    expect(rcodes).toEqual(['NXDOMAIN', 'NXDOMAIN', 'NOERROR', 'NOERROR', 'REFUSED', 'NXDOMAIN']);
  });
});

function withId(octets: Buffer, id: number): Buffer {
  const copy = Buffer.from(octets);
  copy.writeUInt16BE(id);
  return copy;
}

describe('a message that is not a query', () => {
  test.each([
    ['empty', Buffer.alloc(0)],
    ['one octet', Buffer.from([1])],
    ['a header that is one octet short', message().subarray(0, 11)],
    ['a response', message({ flags: 0x8000 })],
    ['a response of another opcode', message({ flags: 0xa800 })],
    ['a response that is malformed', message({ flags: 0x8180, counts: [9, 9, 9, 9] })],
  ])('gets no reply if it is %s', (_what, octets) => {
    expect(exchange().run(octets, 'udp')).toBeNull();
    expect(exchange().run(octets, 'tcp')).toBeNull();
  });

  test.each([1, 2, 3, 4, 5, 6, 15])('gets NOTIMP for opcode %i', (opcode) => {
    const reply = ask(message({ id: 77, flags: (opcode << 11) | RD }));
    expect(headerOf(reply)).toMatchObject({ id: 77, qr: true, opcode, rcode: 'NOTIMP', counts: [0, 0, 0, 0] });
    expect(reply).toHaveLength(12);
  });

  test('gets NOTIMP if it is a dynamic update of our own zone, with any content', () => {
    expect(header({ flags: 5 << 11, counts: [1, 1, 3, 2], name: 'acme.test', type: 6 }).rcode).toBe('NOTIMP');
  });
});

const pointer = (offset: number) => Buffer.from([0xc0 | (offset >> 8), offset & 0xff]);
const record = (name: Buffer, type: number, data: Buffer, claimed = data.length) => {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(claimed, 8);
  return Buffer.concat([name, fixed, data]);
};

const ROOT = Buffer.from([0]);
/** An address of the root. */
const ADDRESS = record(ROOT, 1, Buffer.alloc(4));
const five = (part: Buffer): Parameters<typeof message>[0] => ({
  counts: [1, 0, 0, 5],
  rest: Buffer.concat(Array<Buffer>(5).fill(part)),
});
/** With an OPT that has these options. */
const withOptions = (...octets: number[]) => ({ rest: opt({ options: Buffer.from(octets) }) });

describe('a malformed query', () => {
  test.each<[string, Buffer]>([
    ['no question', message({ counts: [0, 0, 0, 0] })],
    ['a header alone', message().subarray(0, 12)],
    [
      'two questions',
      message({ counts: [2, 0, 0, 0], rest: Buffer.concat([wireName('a'), Buffer.from([0, 1, 0, 1])]) }),
    ],
    ['65,535 questions claimed', message({ counts: [65535, 0, 0, 0] })],
    ['an answer section', message({ counts: [1, 1, 0, 0], rest: ADDRESS })],
    ['an authority section', message({ counts: [1, 0, 1, 0], rest: ADDRESS })],
    ['a name that points at itself', message({ name: pointer(12) })],
    ['a name that points into the header', message({ name: pointer(0) })],
    ['a name that ends in a pointer', message({ name: Buffer.concat([Buffer.from([1, 0x61]), pointer(12)]) })],
    ['a label length with reserved bits', message({ name: Buffer.from([0x80, 0x61, 0]) })],
    ['a label beyond the end', message({ name: Buffer.from([63, 0x61]) })],
    ['a name of 256 octets', message({ name: wireName([...Array(4).fill('a'.repeat(63))].join('.')) })],
    ['an octet missing at the end', message().subarray(0, -1)],
    ['an octet too many', message({ rest: ROOT, counts: [1, 0, 0, 0] })],
    ['a record claimed and missing', message({ counts: [1, 0, 0, 1] })],
    ['a record that claims more than there is', message({ rest: record(ROOT, 1, Buffer.alloc(4), 5) })],
    ['an address among the additional records', message({ rest: ADDRESS })],
    ['a pointer to elsewhere than the question', message({ rest: record(pointer(33), 250, Buffer.alloc(4)) })],
    ['five additional records', message(five(opt()))],
    ['five signatures', message(five(record(ROOT, 24, Buffer.alloc(4))))],
    ['two OPT', message({ counts: [1, 0, 0, 2], rest: Buffer.concat([opt(), opt()]) })],
    ['an OPT with a name', message({ rest: opt({ name: wireName('a') }) })],
    ['an OPT with half an option', message(withOptions(0, 3, 0))],
    ['an OPT with an option that is too long', message(withOptions(0, 3, 0, 9, 1))],
    ['an OPT with a broken client subnet', message(withOptions(0, 8, 0, 1, 0))],
    ['a record whose owner points in a circle', message({ rest: record(pointer(31), 1, Buffer.alloc(4)) })],
    ['more than 4,096 octets', message(withOptions(0, 12, 0x10, 0, ...Array<number>(4096).fill(0)))],
    ['a question for OPT', message({ type: 41 })],
  ])('gets FORMERR with the id: %s', (_what, octets) => {
    for (const transport of ['udp', 'tcp'] as const) {
      expect(headerOf(ask(octets, transport))).toMatchObject({ id: 0x1234, qr: true, opcode: 0, rcode: 'FORMERR' });
    }
  });

  test('gets FORMERR if it is truncated anywhere, or no reply below twelve octets', () => {
    const whole = message({ rest: opt({ options: Buffer.from([0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]) }) });
    expect(headerOf(ask(whole)).rcode).toBe('NOERROR');
    for (let length = 0; length < whole.length; length++) {
      const reply = exchange().run(whole.subarray(0, length), 'udp');
      expect(reply === null ? null : headerOf(reply).rcode).toBe(length < 12 ? null : 'FORMERR');
    }
  });

  test('a transfer is REFUSED, even with the SOA that IXFR adds', () => {
    const soa = record(pointer(12), 6, Buffer.concat([pointer(16), pointer(16), Buffer.alloc(20)]));
    const asked = (type: number, rest: Buffer) => header({ type, counts: [1, 0, 1, 0], rest }, 'tcp').rcode;
    const chained = record(pointer(12), 6, Buffer.concat([pointer(43), pointer(16), Buffer.alloc(20)]));
    expect(header({ type: 252 }, 'tcp').rcode).toBe('REFUSED');
    expect([asked(251, soa), asked(1, soa), asked(251, chained)]).toEqual(['REFUSED', 'FORMERR', 'FORMERR']);
  });

  test('a signature that we cannot check is ignored', () => {
    const tsig = record(wireName('key.acme.test'), 250, Buffer.concat([wireName('hmac-sha256'), Buffer.alloc(40)]));
    const reply = ask(message({ counts: [1, 0, 0, 2], rest: Buffer.concat([opt(), tsig]) }));
    expect(headerOf(reply)).toMatchObject({ rcode: 'NOERROR', counts: [1, 2, 0, 1] });
  });
});

describe('cookies (RFC 7873)', () => {
  const CLIENT = Buffer.from('0123456789abcdef', 'hex');
  const option = (data: Buffer) => Buffer.concat([Buffer.from([0, 10, 0, data.length]), data]);
  /** The cookie at the end of a reply; null without one. */
  const cookieOf = (reply: Buffer): Buffer | null => {
    const at = reply.length - 28;
    return at > 0 && reply.readUInt32BE(at) === 0x000a_0018 ? reply.subarray(at + 4) : null;
  };

  test('a client cookie comes back with a server cookie, which depends on it', () => {
    const { run } = exchange();
    const asked = (client: Buffer) => message({ rest: opt({ options: option(client) }) });
    const of = (client: Buffer) => cookieOf(run(asked(client), 'udp') as Buffer);
    const first = of(CLIENT);
    expect(first?.subarray(0, 8)).toEqual(CLIENT);
    expect(of(CLIENT)).toEqual(first);
    expect(of(first as Buffer)).toEqual(first);
    expect(of(Buffer.concat([CLIENT, Buffer.alloc(8)]))).toEqual(first);
    expect(of(Buffer.from('fedcba9876543210', 'hex'))?.subarray(8)).not.toEqual(first?.subarray(8));
    expect(cookieOf(exchange().run(asked(CLIENT), 'udp') as Buffer)).not.toEqual(first);
  });

  test('a query with a cookie gets the same answer as without, and errors and truncation include the cookie', () => {
    const query = (name: string, version = 0) => message({ name, rest: opt({ version, options: option(CLIENT) }) });
    const plain = ask(message({ rest: opt() }));
    const reply = ask(query('www.acme.test'));
    expect(reply.subarray(0, plain.length - 2)).toEqual(plain.subarray(0, -2));
    expect(headerOf(ask(query('big.acme.test')))).toMatchObject({ tc: true, counts: [1, 0, 0, 1] });
    for (const asked of [query('big.acme.test'), query('www.other.test'), query('www.acme.test', 1)]) {
      expect(ask(asked).includes(CLIENT)).toBe(true);
    }
    for (let octets = 512; octets <= 1232; octets += 16) {
      const rest = opt({ udpOctets: octets, options: option(CLIENT) });
      expect(ask(message({ name: 'edge.acme.test', rest })).length).toBeLessThanOrEqual(octets);
    }
  });

  test('a query with only a cookie gets a cookie', () => {
    const header = message().subarray(0, 12);
    header.writeUInt16BE(0, 4);
    header.writeUInt16BE(1, 10);
    const reply = ask(Buffer.concat([header, opt({ options: option(CLIENT) })]));
    expect(headerOf(reply)).toMatchObject({ rcode: 'NOERROR', counts: [0, 0, 0, 1] });
    expect(cookieOf(reply)?.subarray(0, 8)).toEqual(CLIENT);
    expect(reply).toHaveLength(12 + 11 + 28);
    for (const rest of [opt(), opt({ options: option(CLIENT.subarray(1)) }), Buffer.concat([opt(), opt()])]) {
      expect(headerOf(ask(Buffer.concat([header, rest]))).rcode).toBe('FORMERR');
    }
  });

  test.each([0, 1, 7, 8, 9, 15, 16, 40, 41, 60])('a cookie of %i octets is ignored, or FORMERR', (octets) => {
    const { rcode } = header({ rest: opt({ options: option(Buffer.alloc(octets)) }) });
    expect(rcode).toBe([8, 16, 40].includes(octets) ? 'NOERROR' : 'FORMERR');
  });
});

describe('a reply', () => {
  test('repeats id, RD and the question octet by octet, in its mixed case', () => {
    const query = message({ id: 0xbeef, name: 'wWw.AcMe.TeSt' });
    const reply = ask(query);
    expect(reply.subarray(12, query.length)).toEqual(query.subarray(12));
    expect(headerOf(reply)).toMatchObject({ id: 0xbeef, aa: true, tc: false, rcode: 'NOERROR', counts: [1, 2, 0, 0] });
    expect(reply.readUInt16BE(2) & RD).toBe(RD);
    expect(Packet.parse(reply).answers.map(({ name }) => name)).toEqual(['wWw.AcMe.TeSt', 'acme.test']);
  });

  test('leaves RA, Z, AD and CD clear', () => {
    expect(ask(message({ flags: 0x01f0 })).readUInt16BE(2) & 0x00f0).toBe(0);
  });

  test('does not confuse a dot inside a label with a label separator', () => {
    const name = Buffer.concat([Buffer.from([8]), Buffer.from('www.acme'), wireName('test')]);
    expect(headerOf(ask(message({ name }))).rcode).toBe('REFUSED');
    const inside = Buffer.concat([Buffer.from([5]), Buffer.from('w.w\0w'), wireName('acme.test')]);
    const reply = ask(message({ name: inside }));
    expect(headerOf(reply)).toMatchObject({ rcode: 'NXDOMAIN', counts: [1, 0, 1, 0] });
    expect(reply.subarray(12, 12 + inside.length)).toEqual(inside);
  });

  test('has no OPT if the query had none', () => {
    expect(headerOf(ask(message())).counts).toEqual([1, 2, 0, 0]);
  });

  test('comes from the current zones', () => {
    let zones: Zone[] = [];
    const run = createExchange({ zones: () => zoneSetOf(zones), log: { error: () => undefined } });
    expect(headerOf(run(message(), 'udp') ?? Buffer.alloc(12)).rcode).toBe('REFUSED');
    zones = ZONES;
    expect(headerOf(run(message(), 'udp') ?? Buffer.alloc(12)).rcode).toBe('NOERROR');
  });

  test('is SERVFAIL after a failure of our own, which is logged a limited number of times', () => {
    let logged = 0;
    const run = createExchange({
      zones: () => {
        throw new Error('no zones');
      },
      log: { error: () => void logged++ },
    });
    for (let n = 0; n < 500; n++) expect(headerOf(run(message(), 'udp') ?? Buffer.alloc(12)).rcode).toBe('SERVFAIL');
    expect(logged).toBe(100);
  });
});

describe('EDNS', () => {
  const edns = (fields: Parameters<typeof opt>[0] = {}, name = 'www.acme.test') =>
    Packet.parse(ask(message({ name, rest: opt(fields) })));

  test('is answered with our own OPT: version 0, 1,232 octets, DO repeated (RFC 3225 §3)', () => {
    const own = { type: 41, name: '', class: UDP_OCTETS_MAX, version: 0, doFlag: false };
    expect(edns().additionals).toMatchObject([own]);
    expect(edns({ flags: 0x8000 }).additionals).toMatchObject([{ version: 0, doFlag: true }]);
  });

  test.each([1, 2, 255])('version %i is BADVERS, with nothing else', (version) => {
    const reply = edns({ version });
    expect(reply.header.rcode).toBe(16);
    expect(reply.additionals).toMatchObject([{ version: 0 }]);
    expect([reply.answers, reply.authorities]).toEqual([[], []]);
  });

  test('unknown options and flags are ignored (RFC 6891 §6.1.2)', () => {
    const reply = edns({ flags: 0x4001, options: Buffer.from([0xfd, 0xe9, 0, 2, 1, 2]) });
    expect(reply.header.rcode).toBe(0);
    expect(reply.answers).toHaveLength(2);
  });

  test('a refusal and a failed ALIAS contain their reason (RFC 8914)', () => {
    const refusal = { infoCode: 20, extraText: 'www.other.test is in no zone here' };
    expect(edns({}, 'www.other.test').additionals).toMatchObject([{ rdata: [refusal] }]);
    const loop = { infoCode: 0, extraText: 'ALIAS at loop.acme.test leads back to loop.acme.test' };
    expect(edns({}, 'loop.acme.test').additionals).toMatchObject([{ rdata: [loop] }]);
  });

  test.each([
    [0, 512],
    [511, 512],
    [512, 512],
    [1000, 1000],
    [1232, 1232],
    [4096, 1232],
    [65535, 1232],
  ])('a client that accepts %i octets gets at most %i', (udpOctets, limit) => {
    const sizes = many(100, (n) => `s${n} TXT "${'x'.repeat(n * 13)}"`);
    const { run } = exchange([zoneOf('acme.test', sizes)]);
    const whole: number[] = [];
    for (let n = 0; n < 100; n++) {
      const query = message({ name: `s${n}.acme.test`, type: 16, rest: opt({ udpOctets }) });
      const reply = run(query, 'udp') ?? Buffer.alloc(0);
      expect(reply.length).toBeLessThanOrEqual(limit);
      if (!headerOf(reply).tc) whole.push(reply.length);
      else expect(reply).toHaveLength(query.length);
    }
    // The limit is used: the next larger answer would not have fitted.
    expect(Math.max(...whole)).toBeGreaterThan(limit - 16);
  });

  test('without EDNS the limit is 512 octets', () => {
    expect(headerOf(ask(message({ name: 'edge.acme.test' })))).toMatchObject({ tc: false, counts: [1, 28, 0, 0] });
    expect(ask(message({ name: 'edge.acme.test' })).length).toBeLessThanOrEqual(512);
    expect(headerOf(ask(message({ name: 'big.acme.test' })))).toMatchObject({ tc: true, counts: [1, 0, 0, 0] });
  });
});

describe('an answer that is too large', () => {
  test('is truncated to question and OPT over UDP, and complete over TCP', () => {
    const query = message({ name: 'big.acme.test', rest: opt() });
    const cut = ask(query);
    expect(headerOf(cut)).toMatchObject({ tc: true, aa: true, rcode: 'NOERROR', counts: [1, 0, 0, 1] });
    expect(Packet.parse(cut).errors).toEqual([]);
    const whole = ask(query, 'tcp');
    expect(headerOf(whole)).toMatchObject({ tc: false, counts: [1, 100, 0, 1] });
    expect(Packet.parse(whole).answers.map(({ address }) => address)).toContain('10.0.0.99');
  });

  test('loses added addresses first, without TC (RFC 2181 §9)', () => {
    const reply = ask(message({ name: 'mx.acme.test', type: 15, rest: opt() }));
    expect(headerOf(reply)).toMatchObject({ tc: false, counts: [1, 1, 0, 1] });
    expect(headerOf(ask(message({ name: 'm.acme.test', type: 15 }))).counts).toEqual([1, 1, 0, 1]);
  });

  test('has every host of a referral, and the first sixteen of other answers', () => {
    const wide = header({ name: 'x.wide.acme.test', rest: opt() });
    expect(wide).toMatchObject({ tc: false, counts: [1, 0, 20, 20 + 1] });
    expect(header({ name: 'mails.acme.test', type: 15, rest: opt() }).counts).toEqual([1, 20, 0, 16 + 1]);
  });

  test('is truncated when a referral’s glue does not fit (RFC 9471 §3.1)', () => {
    expect(headerOf(ask(message({ name: 'x.cut.acme.test', rest: opt() })))).toMatchObject({ tc: true, aa: false });
    expect(headerOf(ask(message({ name: 'x.cut.acme.test' }), 'tcp')).counts).toEqual([1, 0, 1, 100]);
  });

  test('is SERVFAIL, with the reason, if not even TCP can carry it', () => {
    const reply = Packet.parse(ask(message({ name: 'huge.acme.test', rest: opt() }), 'tcp'));
    expect(reply.header.rcode).toBe(2);
    expect(reply.additionals).toMatchObject([{ rdata: [{ extraText: 'The answer has more than 65535 octets' }] }]);
    expect(headerOf(ask(message({ name: 'huge.acme.test' })))).toMatchObject({ tc: true, counts: [1, 0, 0, 0] });
  });
});

describe('the processing of hostile messages', () => {
  /** Names of 2,000 pointers each, as many as fit: these took dns2 alone 1.7 s. */
  function pointers(size: number, section: 'question' | 'additional'): Buffer {
    const chain = Buffer.alloc(4000);
    for (let at = 0; at < chain.length; at += 2) pointer(Math.max(12 + 15 + at - 2, 12)).copy(chain, at);
    const unit =
      section === 'question' ? Buffer.from([0xc3, 0xf0, 0, 1, 0, 1]) : record(pointer(1000), 2, pointer(1000));
    const count = Math.floor((size - 4100) / unit.length);
    const units = Buffer.concat(Array<Buffer>(Math.max(count, 0)).fill(unit));
    const counts: [number, number, number, number] = section === 'question' ? [count + 1, 0, 0, 0] : [1, 0, 0, count];
    return message({ counts, rest: Buffer.concat([chain, units]) }).subarray(0, size);
  }

  const names = (count: number) => Buffer.concat(Array<Buffer>(count).fill(Buffer.from([1, 0x61, 0, 0, 1, 0, 1])));
  const heavy: [string, Buffer][] = [
    ['65 KB of questions', message({ counts: [9000, 0, 0, 0], rest: names(9000) })],
    ['65 KB of pointer chains in questions', pointers(65_535, 'question')],
    ['65 KB of pointer chains in records', pointers(65_535, 'additional')],
    [
      '4 KB of pointer chains in four records',
      (() => {
        const chain = Buffer.alloc(3900);
        // The chain begins at octet 42, as the data of a record; each pointer leads to the one before it.
        for (let at = 0; at < chain.length; at += 2) pointer(at === 0 ? 12 : 42 + at - 2).copy(chain, at);
        const text = record(Buffer.from([0]), 65280, chain);
        const uses = Array<Buffer>(3).fill(
          record(pointer(3900), 6, Buffer.concat([pointer(3900), pointer(3900), Buffer.alloc(20)])),
        );
        return message({ counts: [1, 0, 0, 4], rest: Buffer.concat([text, ...uses]) });
      })(),
    ],
    ['a name of 127 labels', message({ name: wireName(Array(127).fill('a').join('.')) })],
    ['a name of 127 labels in our zone', message({ name: wireName(`${Array(121).fill('a').join('.')}.acme.test`) })],
    ['an RRset of 10,000 records', message({ name: 'huge.acme.test' })],
    ['4 KB of options', message({ rest: opt({ options: Buffer.alloc(3996) }) })],
  ];

  test.each(heavy)('takes at most 20 ms: %s', (_what, octets) => {
    const { run, errors } = exchange();
    const worst = { udp: Infinity, tcp: Infinity };
    for (const transport of ['udp', 'tcp'] as const) {
      // The best of three counts; the rest is other programs on this machine.
      for (let round = 0; round < 3; round++) {
        const before = process.cpuUsage();
        run(octets, transport);
        const { user, system } = process.cpuUsage(before);
        worst[transport] = Math.min(worst[transport], (user + system) / 1000);
      }
    }
    expect(Math.max(worst.udp, worst.tcp)).toBeLessThan(20);
    expect(errors).toEqual([]);
  });

  test('gives a well-formed reply or none to random and mutated messages, and no error of ours', () => {
    const { run, errors } = exchange();
    const next = sequence(42);
    const good = message({ rest: opt({ options: Buffer.from([0, 10, 0, 4, 1, 2, 3, 4]) }) });
    for (let n = 0; n < 6000; n++) {
      const octets = n % 2 === 0 ? Buffer.from(Array.from({ length: next(80) }, () => next(256))) : Buffer.from(good);
      if (n % 2 === 1) for (let change = next(4); change >= 0; change--) octets[next(octets.length)] = next(256);
      const reply = run(octets, 'udp');
      if (reply === null) continue;
      expect(reply.readUInt16BE(0)).toBe(octets.readUInt16BE(0));
      expect(Packet.parse(reply).errors).toEqual([]);
    }
    expect(errors).toEqual([]);
  });
});
