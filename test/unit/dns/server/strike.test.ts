import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../../main/base/log.ts';
import { CATALOGUE, pointOf } from '../../../../main/breaks/catalogue/index.ts';
import { createDoh, SILENT } from '../../../../main/dns/server/doh.ts';
import { createExchange } from '../../../../main/dns/server/exchange.ts';
import { readResponse, type Response } from '../../../../main/dns/wire/message-reader.ts';
import { platformZone } from '../../../../main/dns/zones/own-zones.ts';
import { createStrikes, type Over } from '../../../../main/dns/server/strike.ts';
import { typeCode } from '../../../../main/dns/wire/record.ts';
import { WRONG_ANSWERS } from '../../../../main/dns/server/wrong-answers.ts';
import { wireName } from '../../../../main/model/dns-name.ts';
import { NO_FAULTS, type FaultSource } from '../../../../main/model/fault.ts';
import { message, opt } from '../../../support/dns/dns-client.ts';
import { zoneOf, zoneSetOf } from '../../../support/dns/dns-tables.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

const ZONES = [platformZone(), zoneOf('acme.test', '@ A 127.0.0.1\nshop A 127.0.0.1\nshop AAAA ::1\n@ MX 10 shop')];

/** A server whose name `broken` is struck by one entry, and no other name. */
function serverWith(entry: string | null, broken = 'shop.acme.test', draw = 0) {
  const clock = createFakeClock();
  const set = zoneSetOf(ZONES);
  const exchange = createExchange({ zones: () => set, log: silentLog });
  const defaults = CATALOGUE.find(({ id }) => id === entry)?.parameters ?? [];
  const parameters = Object.fromEntries(defaults.map((each) => [each.name, each.default]));
  const givenBack: string[] = [];
  const faults: FaultSource = {
    ...NO_FAULTS,
    giveBack: ({ breakId }) => void givenBack.push(breakId),
    question: ({ name }) => (entry === null || name !== broken ? null : { breakId: 'brk_1', entry, parameters, draw }),
  };
  const strikes = createStrikes({ clock, zones: () => set, exchange, faults });
  const doh = createDoh({ exchange, strikes, forwardsProbe: () => false });
  const ask = (octets: Buffer, over: Over) => strikes.strike(octets, over);
  return { clock, exchange, strikes, doh, ask, givenBack };
}

const question = (name: string, type = 'A', rest = opt()): Buffer =>
  message({ name: wireName(name), type: typeCode(type) ?? 0, rest });

function read(reply: Buffer | null | undefined): Response {
  const response = readResponse(reply ?? Buffer.alloc(0));
  if (response === null) throw new Error('no response');
  return response;
}

/** `NXDOMAIN aa; 0 SOA; Broken on purpose: …`. */
function shown(response: Response): string {
  const records = [...response.answer, ...response.authority].map(({ ttlSeconds, data }) => {
    const value = 'address' in data ? ` ${data.address}` : 'target' in data ? ` ${data.target}` : '';
    return `${ttlSeconds} ${data.type}${value}`;
  });
  const flags = response.flags.filter((flag) => flag === 'aa' || flag === 'tc');
  return [[response.rcode, ...flags].join(' '), ...records, response.detail ?? ''].join('; ');
}

describe('a break of DNS answers', () => {
  test('has a fault for exactly the catalogue entries that strike questions', () => {
    const entries = CATALOGUE.filter((entry) => pointOf(entry) === 'question').map(({ id }) => id);
    expect(entries.toSorted()).toEqual(Object.keys(WRONG_ANSWERS).toSorted());
  });

  test.each([
    ['dns.nxdomain', '3 aa; 0 SOA'],
    ['dns.nodata', '0 aa; 0 SOA'],
    ['dns.negative-caching', '3 aa; 300 SOA'],
    ['dns.servfail', '2'],
    ['dns.refused', '5'],
    ['dns.lame-delegation', '0; 0 NS ns1.lame.invalid'],
    ['dns.cname-loop', '0 aa; 0 CNAME loop.shop.acme.test; 0 CNAME shop.acme.test'],
    ['dns.dangling-cname', '3 aa; 0 CNAME removed.cname.vivarium.localhost; 0 SOA'],
    ['dns.resolvers-disagree', '0 aa; 300 A 192.0.2.10'],
    ['dns.badvers', '16'],
    ['dns.zone-doubled', '3 aa; 0 SOA'],
  ])('%s is answered the same way over UDP, TCP and HTTPS, with its name', async (entry, expected) => {
    const { ask, doh } = serverWith(entry);
    const text = `${expected}; Broken on purpose: ${entry}`;
    const query = question('shop.acme.test');
    for (const over of ['udp', 'tcp', 'https'] as const) expect(shown(read(ask(query, over)?.reply))).toContain(text);
    const overHttps = await doh(query);
    expect(overHttps !== null && overHttps !== SILENT ? shown(read(overHttps.message)) : overHttps).toContain(text);
  });

  test.each<[string, string, string, string, string]>([
    ['dns.cname-at-apex', 'acme.test', 'acme.test', 'MX', '0 aa; 0 CNAME cname.vivarium.localhost; 0 SOA'],
    ['dns.cname-at-apex', 'acme.test', 'acme.test', 'A', '0 aa; 0 CNAME cname.vivarium.localhost; 3600 A 127.0.0.1'],
    ['dns.ipv6-black-hole', 'shop.acme.test', 'shop.acme.test', 'AAAA', '0 aa; 0 AAAA 2001:db8::dead; 0 AAAA ::1'],
    ['dns.ipv6-black-hole', 'acme.test', 'acme.test', 'AAAA', '0 aa; 0 AAAA 2001:db8::dead'],
    ['dns.resolvers-disagree', 'shop.acme.test', 'shop.acme.test', 'AAAA', '0 aa; 300 AAAA 2001:db8::10'],
    ['dns.zone-doubled', 'shop.acme.test', 'shop.acme.test.acme.test', 'A', '0 aa; 0 A 127.0.0.1'],
    ['dns.servfail', 'shop.acme.test', 'SHOP.acme.TEST', 'A', '2'],
  ])('%s of %s answers %s %s', (entry, broken, name, type, expected) => {
    const { ask } = serverWith(entry, broken);
    expect(shown(read(ask(question(name, type), 'udp')?.reply))).toContain(expected);
  });

  test('dns.chain-too-long has more names than resolvers follow', () => {
    const { ask } = serverWith('dns.chain-too-long');
    expect(read(ask(question('shop.acme.test'), 'tcp')?.reply).answer).toHaveLength(17);
  });

  test.each<[string, string, string, string]>([
    ['dns.cname-at-apex', 'shop.acme.test', 'shop.acme.test', 'A'],
    ['dns.ipv6-black-hole', 'shop.acme.test', 'shop.acme.test', 'A'],
    ['dns.resolvers-disagree', 'shop.acme.test', 'shop.acme.test', 'MX'],
    ['dns.servfail', 'shop.acme.test', 'acme.test', 'A'],
    ['dns.servfail', 'elsewhere.example', 'elsewhere.example', 'A'],
    ['dns.servfail', 'shop.acme.test', 'shop.acme.test.acme.test', 'A'],
  ])('%s of %s leaves %s %s unchanged', (entry, broken, name, type) => {
    expect(serverWith(entry, broken).ask(question(name, type), 'udp')).toBeNull();
  });

  test('dns.resolvers-disagree strikes half of the draws', () => {
    const { ask } = serverWith('dns.resolvers-disagree', 'shop.acme.test', 0.5);
    expect(ask(question('shop.acme.test'), 'udp')).toBeNull();
  });

  test.each([
    ['dns.formerr-edns', 'FORMERR without an OPT', { rcode: 1, edns: false }],
    ['dns.badvers', 'BADVERS with one', { rcode: 16, edns: true }],
  ])('%s answers EDNS with %s, and other queries as usual', (entry, _what, expected) => {
    const { ask } = serverWith(entry);
    expect(read(ask(question('shop.acme.test'), 'udp')?.reply)).toMatchObject(expected);
    expect(ask(question('shop.acme.test', 'A', Buffer.alloc(0)), 'udp')).toBeNull();
  });

  test.each<[string, Buffer, Over]>([
    ['dns.ipv6-black-hole', question('shop.acme.test', 'A'), 'udp'],
    ['dns.badvers', question('shop.acme.test', 'A', Buffer.alloc(0)), 'udp'],
    ['dns.tcp-only', question('shop.acme.test'), 'tcp'],
    ['dns.servfail', question('shop.acme.test.acme.test'), 'udp'],
  ])('gives back the strike of %s where it has no effect', (entry, octets, over) => {
    const { ask, givenBack } = serverWith(entry);
    expect([ask(octets, over), givenBack]).toEqual([null, ['brk_1']]);
  });

  test('truncates over UDP; dns.truncated closes TCP, dns.tcp-only answers over TCP, and HTTPS is unaffected', () => {
    for (const entry of ['dns.truncated', 'dns.tcp-only']) {
      const { ask } = serverWith(entry);
      expect(shown(read(ask(question('shop.acme.test'), 'udp')?.reply))).toMatch(/^0 aa tc; /);
      expect(ask(question('shop.acme.test'), 'tcp')?.closes ?? false).toBe(entry === 'dns.truncated');
      expect(ask(question('shop.acme.test'), 'https')).toBeNull();
    }
  });

  test('dns.silence sends nothing; over HTTPS it ends after 10 s', async () => {
    const { ask, doh, clock } = serverWith('dns.silence');
    expect(ask(question('shop.acme.test'), 'udp')).toEqual({ reply: null, delayMs: 0, closes: false });
    const answer = doh(question('shop.acme.test'));
    await clock.pass(9_999);
    expect(await Promise.race([answer, 'waiting'])).toBe('waiting');
    await clock.pass(1);
    expect(await answer).toBe(SILENT);
  });

  test('dns.slow sends the right answer after its delay; more than 1,000 waiting queries get none, and none after the stop', async () => {
    const { ask, exchange, strikes, clock } = serverWith('dns.slow');
    const query = question('shop.acme.test');
    expect(ask(query, 'udp')).toEqual({ reply: exchange(query, 'udp'), delayMs: 3_000, closes: false });
    let sent = 0;
    const waits = Array.from({ length: 1_001 }, () => strikes.later(3_000, () => sent++));
    expect(waits.filter(Boolean)).toHaveLength(1_000);
    await clock.pass(3_000);
    expect(sent).toBe(1_000);
    strikes.later(3_000, () => sent++);
    strikes.stop();
    await clock.pass(3_000);
    expect(sent).toBe(1_000);
  });

  test('is neither cached for the next client nor taken from the cache', () => {
    const { ask, exchange } = serverWith('dns.nxdomain');
    const query = question('shop.acme.test');
    const right = exchange(query, 'udp');
    expect(shown(read(ask(query, 'udp')?.reply))).toMatch(/^3 /);
    expect(exchange(query, 'udp')).toEqual(right);
    expect(shown(read(ask(query, 'udp')?.reply))).toMatch(/^3 /);
  });
});
