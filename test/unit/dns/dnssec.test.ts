import { describe, expect, test } from 'vitest';
import { canonicalData, CanonicalOrder, labelCount, typeBitmap } from '../../../main/dns/wire/canonical.ts';
import type { ResponseRecord } from '../../../main/dns/wire/message-reader.ts';
import { formatRecord } from '../../../main/dns/wire/record-text.ts';
import { typeCode } from '../../../main/dns/wire/record.ts';
import { dsText, keyTag, keysAt, nextSigningMs, ROLL_MS, validityAt } from '../../../main/dns/zones/zone-signer.ts';
import { dnsName } from '../../../main/model/dns-name.ts';
import { DNS_TABLES, zoneOf } from '../../support/dns/dns-tables.ts';
import { signedZones, signingWith } from '../../support/dns/dns-signed.ts';
import { FAKE_NOW_MS as NOW } from '../../support/fake-clock.ts';

const DAY_MS = 86_400_000;
const shown = (records: readonly ResponseRecord[]) => records.map((record) => formatRecord(record));
const ofDnssec = ({ data: { type } }: ResponseRecord) => type === 'TYPE46' || type === 'TYPE47';
const code = (type: string) => typeCode(type) ?? 0;

describe('the examples of the RFCs', () => {
  test('canonical order (RFC 4034 §6.1)', () => {
    const names = ['', 'a.', 'yljkjljk.a.', 'z.a.', 'zabc.a.', 'z.', '\\001.z.', '*.z.', '\\200.z.'];
    const sorted = names.map((name) => `${name}example`);
    const order = new CanonicalOrder([...sorted].reverse().map((name) => [name, name]));
    expect(sorted.map((_name, index) => order.at(index))).toEqual(sorted);
    order.remove('z.a.example');
    order.add('b.example', 'b.example');
    const floors = ['aa.b.example', 'zz.a.example', 'y.a.example'].map((name) => order.at(order.floor(name)));
    expect(floors).toEqual(['b.example', 'zabc.a.example', 'a.example']);
    expect(['a.example', 'z.example'].map((name) => order.at(order.endOf(name)))).toEqual(['b.example', undefined]);
  });

  test('a bitmap of types (RFC 4034 §4.3)', () => {
    const octets = Buffer.from(typeBitmap([46, 1, 1234, 15, 47]), 'latin1').toString('hex');
    expect(octets).toBe(`0006400100000003041b${'00'.repeat(26)}20`);
  });

  test('a key’s tag and DS (RFC 6605 §6.1)', () => {
    const key = 'GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==';
    const dnskey = `\x01\x01\x03\x0d${Buffer.from(key, 'base64').toString('latin1')}`;
    const tag = keyTag(dnskey);
    const ds = '55648 13 2 b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17';
    expect(dsText('example.net', { tag, dnskey }).toLowerCase()).toBe(ds);
  });

  test('labels (RFC 4034 §3.1.3)', () => {
    expect(['', '*', 'a.example', '*.example', 'a.*.example'].map(labelCount)).toEqual([0, 0, 2, 1, 3]);
  });

  test('names in data of types without a text form here are in lower case (RFC 4034 §6.2)', () => {
    expect(canonicalData({ type: 'TYPE14', octets: '\x01A\x00\x01B\x00' })).toBe('\x01a\x00\x01b\x00');
    expect(canonicalData({ type: 'TYPE18', octets: '\x00A\x01B\x00' })).toBe('\x00A\x01b\x00');
    expect(canonicalData({ type: 'TYPE65280', octets: 'AB' })).toBe('AB');
  });
});

describe.each(DNS_TABLES)('signed: $title', ({ zones, facts }) => {
  const { ask, verdict } = signedZones(zones, NOW);
  // A signed zone has these types everywhere.
  const common = facts.filter(({ question }) => !/ (RRSIG|NSEC)$/.test(question));
  test.each(common)('$question is valid, and unchanged without DNSSEC', ({ question }) => {
    const [name = '', type = ''] = question.split(' ');
    const owner = dnsName(name);
    const signed = ask(owner, code(type));
    expect(verdict(owner, code(type), signed)).toBeNull();
    const plain = ask(owner, code(type), false);
    expect([plain.rcode, plain.flags]).toEqual([signed.rcode, signed.flags]);
    for (const section of ['answer', 'authority', 'additional'] as const) {
      const others = signed[section].filter((record) => !ofDnssec(record) && record.data.type !== 'DS');
      expect(shown(plain[section]).sort()).toEqual(shown(others).sort());
    }
  });
});

const ZONE = zoneOf(
  'acme.test',
  `
   www 600 CNAME host
   host 600 A 192.0.2.1
   *.wild 600 TXT "any"
   b.ent 600 A 192.0.2.2
   sub 600 NS ns.sub
   ns.sub 600 A 192.0.2.3
   secure 600 NS ns.sub
   secure 600 DS 1 13 2 00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF
   alias 600 ALIAS host
   renamed 600 DNAME wild`,
);

/** `name TYPE`, and the types of the answer and the authority section, signatures as what they cover. */
const PROOFS: [question: string, answer: string, authority: string][] = [
  ['www A', 'CNAME +CNAME A +A', ''],
  ['x.wild TXT', 'TXT +TXT', 'NSEC:*.wild +NSEC'],
  ['x.wild A', '', 'SOA +SOA NSEC:*.wild +NSEC'],
  ['x.y.wild A', '', 'SOA +SOA NSEC:*.wild +NSEC'],
  ['nowhere A', '', 'SOA +SOA NSEC:host +NSEC NSEC: +NSEC'],
  ['host TXT', '', 'SOA +SOA NSEC:host +NSEC'],
  ['ent A', '', 'SOA +SOA NSEC: +NSEC'.replace('NSEC:', 'NSEC:alias')],
  ['a.sub A', '', 'NS NSEC:sub +NSEC'],
  ['sub DS', '', 'SOA +SOA NSEC:sub +NSEC'],
  ['a.secure A', '', 'NS DS +DS'],
  ['secure DS', 'DS +DS', ''],
  ['alias AAAA', '', 'SOA +SOA NSEC:alias +NSEC'],
  ['alias A', 'A +A', ''],
  ['a.renamed TXT', 'DNAME +DNAME CNAME TXT +TXT', 'NSEC:*.wild +NSEC'],
  [' DNSKEY', 'DNSKEY +DNSKEY', ''],
  ['host DNSKEY', '', 'SOA +SOA NSEC:host +NSEC'],
  ['host NSEC', 'NSEC:host +NSEC', ''],
  ['host RRSIG', '+A +NSEC', ''],
  ['host ANY', 'HINFO +HINFO', ''],
];

describe('proofs', () => {
  const { ask, verdict } = signedZones([ZONE], NOW);
  const absolute = (name: string) => (name === '' ? 'acme.test' : `${name}.acme.test`);
  const summary = (records: readonly ResponseRecord[]) =>
    records.map(({ name, data }) => {
      if (data.type === 'TYPE47') return `NSEC:${name.replace(/\.?acme\.test$/, '')}`;
      if (data.type === 'TYPE48') return 'DNSKEY';
      if (data.type !== 'TYPE46' || !('octets' in data)) return data.type;
      const covered = data.octets.charCodeAt(0) * 256 + data.octets.charCodeAt(1);
      return `+${{ 47: 'NSEC', 48: 'DNSKEY', 43: 'DS', 39: 'DNAME', 13: 'HINFO', 16: 'TXT', 1: 'A', 5: 'CNAME', 6: 'SOA' }[covered]}`;
    });

  test.each(PROOFS)('%s: %s | %s', (question, answer, authority) => {
    const [name = '', type = ''] = question.split(' ');
    const response = ask(absolute(name), code(type));
    expect([summary(response.answer).join(' '), summary(response.authority).join(' ')]).toEqual([answer, authority]);
    expect(verdict(absolute(name), code(type), response)).toBeNull();
  });

  /** Records that a resolver does not need: SOA in a proof, what follows from a DNAME, and what it queries again. */
  const SPARE = /^(.* SOA|.* \+SOA|a\.renamed TXT .*|www A A)$/;

  test.each(PROOFS.filter(([question]) => !/NSEC|RRSIG/.test(question)))(
    '%s is bogus without any of its records',
    (question, answer) => {
      const [name = '', type = ''] = question.split(' ');
      const whole = ask(absolute(name), code(type));
      const section = answer === '' ? 'authority' : 'answer';
      for (const left of whole[section]) {
        const part = { ...whole, [section]: whole[section].filter((record) => record !== left) };
        const what = `${question} ${summary([left]).join('')}`;
        if (!SPARE.test(what)) expect([what, verdict(absolute(name), code(type), part)]).not.toEqual([what, null]);
      }
    },
  );

  test('an answer for another name or type proves nothing', () => {
    const told = (asked: string, type: number) => verdict('host.acme.test', 1, ask(`${asked}.acme.test`, type));
    const claim = (what: string) => `The answer says that host.acme.test ${what}, without a proof (NSEC).`;
    expect(told('nowhere', 1)).toBe(claim('does not exist'));
    expect(told('host', 16)).toBe(claim('has no A'));
  });

  test('a signature of another name is none (RFC 4035 §5.3.1)', () => {
    const whole = ask('host.acme.test', 1);
    const answer = whole.answer.map((one) => (ofDnssec(one) ? { ...one, name: 'www.acme.test' } : one));
    expect(verdict('host.acme.test', 1, { ...whole, answer })).toMatch(/^A of host\.acme\.test has no signature/);
  });

  test('an NSEC that has DS does not show that a delegation has none (RFC 4035 §5.2)', () => {
    const whole = ask('a.secure.acme.test', 1);
    const others = whole.authority.filter(({ data }) => data.type === 'NS');
    const proof = ask('sf.acme.test', 1).authority.filter(({ name }) => name === 'secure.acme.test');
    const authority = [...others, ...proof];
    expect(verdict('a.secure.acme.test', 1, { ...whole, authority })).toMatch(/without proof of a DS/);
  });

  test('an NSEC at a DNAME or a cut proves nothing about the names below it (RFC 6840 §4.1)', () => {
    for (const [at, type] of Object.entries({ renamed: 'TXT', sub: 'DS' })) {
      // The proof that the name has no such type: it covers all names up to the next one, those below included.
      const { authority } = ask(absolute(at), code(type));
      expect(summary(authority)).toContain(`NSEC:${at}`);
      const denied = { ...ask('nowhere.acme.test', 1), authority };
      const says = `The answer says that x.${absolute(at)} does not exist, without a proof (NSEC).`;
      expect(verdict(`x.${absolute(at)}`, 1, denied)).toBe(says);
    }
  });

  test('a reply that is too large for UDP is truncated, and TCP returns it', () => {
    const zone = zoneOf('big.test', Array.from({ length: 72 }, (_each, index) => `@ A 192.0.2.${index}`).join('\n'));
    const big = signedZones([zone], NOW);
    expect(big.ask('big.test', 1, false, 'udp').truncated).toBe(false);
    expect(big.ask('big.test', 1, true, 'udp').truncated).toBe(true);
    expect(big.verdict('big.test', 1, big.ask('big.test', 1))).toBeNull();
  });

  test('an unsigned zone gives the same octets, whatever the other zones do', () => {
    const other = zoneOf('plain.test', 'www A 192.0.2.9');
    const beside = signedZones([ZONE, other], NOW, { unsigned: 'plain.test' });
    const alone = signedZones([other], NOW, { unsigned: 'plain.test' });
    for (const question of ['www 1', 'www 16', 'no 1']) {
      const [name = '', type] = question.split(' ');
      expect(beside.ask(`${name}.plain.test`, Number(type))).toEqual(alone.ask(`${name}.plain.test`, Number(type)));
    }
  });

  test('added and removed names change the chain', () => {
    const { set, ask: ask2, verdict: verdict2 } = signedZones([ZONE], NOW);
    const index = set.get('acme.test');
    ask2('nowhere.acme.test', 1);
    for (const name of ['nova.acme.test', 'deep.er.acme.test']) {
      index?.replace(name, [{ name, ttlSeconds: 60, data: { type: 'A', address: '192.0.2.4' } }]);
    }
    for (const name of ['nova', 'nowhere', 'er', 'deep.er', 'e', 'f']) {
      expect(verdict2(absolute(name), 1, ask2(absolute(name), 1))).toBeNull();
    }
    index?.replace('deep.er.acme.test', []);
    expect(ask2('er.acme.test', 1).rcode).toBe(3);
    expect(verdict2('er.acme.test', 1, ask2('er.acme.test', 1))).toBeNull();
  });
});

test.each([
  ['expired', /^The signature of DNSKEY of acme\.test expired at 2026-/],
  ['missing', /^DNSKEY of acme\.test has no signature \(RRSIG\), but the zone acme\.test is signed\.$/],
  ['wrong-key', /^The zone acme\.test is signed with key \d+, which is not its trust anchor \(\d+\)\.$/],
] as const)('a zone broken by %s says what is wrong', (broken, reason) => {
  const { ask, verdict } = signedZones([ZONE], NOW, { broken });
  for (const name of ['www.acme.test', 'no.acme.test', 'host.acme.test']) {
    expect(verdict(name, 1, ask(name, 1))).toMatch(reason);
  }
});

describe('the app’s clock', () => {
  test('signatures are valid for at least a week, and renewed before', () => {
    const signing = signingWith();
    for (let day = 0; day < 30; day++) {
      const nowMs = NOW + day * DAY_MS;
      const { fromMs, untilMs } = validityAt(signing, nowMs);
      expect(fromMs).toBeLessThan(nowMs);
      expect(untilMs - nowMs).toBeGreaterThanOrEqual(7 * DAY_MS);
      expect(nextSigningMs(signing, nowMs)).toBeGreaterThan(nowMs);
      expect(nextSigningMs(signing, nowMs)).toBeLessThan(untilMs);
    }
  });

  test('an answer is bogus once the clock has passed its signatures', () => {
    const { ask, verdict } = signedZones([ZONE], NOW);
    const response = ask('host.acme.test', 1);
    expect(verdict('host.acme.test', 1, response, NOW + 15 * DAY_MS)).toMatch(/ expired at 2026-/);
    expect(verdict('host.acme.test', 1, response, NOW - 15 * DAY_MS)).toMatch(/ is not valid before 2026-/);
  });

  test('a retiring key is removed at the end of its rollover', () => {
    const [old] = signingWith().keys;
    const signing = { ...signingWith() };
    const keys = [...(old === undefined ? [] : [{ ...old, retiresAtMs: NOW + ROLL_MS }]), ...signing.keys];
    const rolling = { ...signing, keys };
    expect([NOW, NOW + ROLL_MS].map((at) => keysAt(rolling, at).length)).toEqual([2, 1]);
    expect(nextSigningMs(rolling, NOW)).toBeLessThanOrEqual(NOW + ROLL_MS);
  });
});
