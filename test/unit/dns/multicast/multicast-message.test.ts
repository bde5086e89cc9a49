import { expect, test } from 'vitest';
import {
  announcement,
  answerMulticast,
  losesName,
  probe,
  readMulticast,
  type Announced,
} from '../../../../main/dns/multicast/multicast-message.ts';
import { readResponse } from '../../../../main/dns/wire/message-reader.ts';
import { QUESTION_TYPES, TYPE_CODES } from '../../../../main/dns/wire/record.ts';

const OWN: Announced = { label: 'vivarium', address: '192.168.1.5', port: 8080 };
const OVER_IPV6: Announced = { ...OWN, address: 'fd00:77::5' };
const HOST = 'vivarium.local';
const { A, AAAA, PTR, SRV, TXT } = TYPE_CODES;

/** The owner and type of each record of an answer. */
const shownIn = (octets: Buffer | null) =>
  octets === null
    ? null
    : (['answer', 'additional'] as const).map((section) =>
        readResponse(octets)?.[section].map(({ name, data }) => `${name} ${data.type}`),
      );

test.each<[string, number, string[][] | null]>([
  [HOST, A, [[`${HOST} A`], [`${HOST} TYPE47`]]],
  [HOST, QUESTION_TYPES.ANY, [[`${HOST} A`], [`${HOST} TYPE47`]]],
  // An explicit denial: clients need not wait for it.
  [HOST, AAAA, [[`${HOST} TYPE47`], [`${HOST} A`]]],
  ['_http._tcp.local', PTR, [['_http._tcp.local PTR'], [`${HOST} A`, `${HOST} TYPE47`]]],
  ['vivarium._http._tcp.local', SRV, [['vivarium._http._tcp.local SRV'], [`${HOST} A`, `${HOST} TYPE47`]]],
  ['vivarium._http._tcp.local', TXT, [['vivarium._http._tcp.local TXT'], [`${HOST} A`, `${HOST} TYPE47`]]],
  ['_services._dns-sd._udp.local', PTR, [['_services._dns-sd._udp.local PTR'], [`${HOST} A`, `${HOST} TYPE47`]]],
  ['other.local', A, null],
  ['shop.acme.test', A, null],
])('a question for %s, type %i', (name, type, shown) => {
  const questions = [{ name, type, unicast: false }];
  expect(shownIn(answerMulticast({ id: 0, questions }, OWN, { legacy: false }))).toEqual(shown);
});

test.each<[string, number, string[][]]>([
  [HOST, AAAA, [[`${HOST} AAAA`], [`${HOST} TYPE47`]]],
  [HOST, A, [[`${HOST} TYPE47`], [`${HOST} AAAA`]]],
  ['vivarium._http._tcp.local', SRV, [['vivarium._http._tcp.local SRV'], [`${HOST} AAAA`, `${HOST} TYPE47`]]],
])('a question for %s, type %i, where the address is IPv6', (name, type, shown) => {
  const questions = [{ name, type, unicast: false }];
  expect(shownIn(answerMulticast({ id: 0, questions }, OVER_IPV6, { legacy: false }))).toEqual(shown);
});

test('the denial of other types names the type of the address', () => {
  const bitmapOf = (own: Announced, type: number): unknown => {
    const answer = answerMulticast({ id: 0, questions: [{ name: HOST, type, unicast: false }] }, own, {
      legacy: false,
    });
    const data = readResponse(answer ?? Buffer.alloc(0))?.answer[0]?.data as { octets: string } | undefined;
    return Buffer.from(data?.octets ?? '', 'latin1').toString('hex');
  };
  expect(bitmapOf(OVER_IPV6, A)).toMatch(/000400000008$/);
  expect(bitmapOf(OWN, AAAA)).toMatch(/000140$/);
});

test('a client without a cache gets its id and question back, and a short TTL', () => {
  const questions = [{ name: HOST, type: A, unicast: false }];
  const read = readResponse(answerMulticast({ id: 7, questions }, OWN, { legacy: true }) ?? Buffer.alloc(0));
  expect(read).toMatchObject({
    ...{ id: 7, question: { name: HOST, type: A, class: 1 } },
    answer: [{ name: HOST, ttlSeconds: 10, data: { address: OWN.address } }],
  });
});

test('a probe asks for the name and proposes the address; a goodbye ends its TTL', () => {
  const asked = readMulticast(probe(OWN));
  expect(asked).toEqual({
    id: 0,
    questions: [{ name: HOST, type: QUESTION_TYPES.ANY, unicast: false }],
    addresses: [],
  });
  const data = Buffer.of(192, 168, 1, 5);
  expect(readMulticast(announcement(OWN))?.addresses).toEqual([{ name: HOST, type: A, data }]);
  expect(readResponse(announcement(OWN, 0))?.answer.map(({ ttlSeconds }) => ttlSeconds)).toEqual([0, 0, 0, 0, 0]);
});

test.each<[string, Announced, string, boolean, boolean]>([
  ['itself', OWN, OWN.address, false, false],
  ['another, before it is announced', OWN, '192.168.1.4', false, true],
  ['another with a lower address', OWN, '192.168.1.4', true, false],
  ['another with a higher address', OWN, '192.168.1.40', true, true],
  ['an address of the other family', OWN, 'fd00:77::6', true, false],
  ['itself, over IPv6', OVER_IPV6, 'fd00:77:0::5', false, false],
  ['another over IPv6, before it is announced', OVER_IPV6, 'fd00:77::4', false, true],
  ['another with a lower address, over IPv6', OVER_IPV6, 'fd00:76:ffff::5', true, false],
  ['another with a higher address, over IPv6', OVER_IPV6, 'fd00:77::10', true, true],
])('the name with %s', (_what, own, address, isAnnounced, lost) => {
  const other = readMulticast(announcement({ ...own, address }));
  expect(other === null ? null : losesName(other, own, isAnnounced)).toBe(lost);
  const elsewhere = readMulticast(announcement({ ...own, label: 'vivarium-2', address }));
  expect(elsewhere === null ? null : losesName(elsewhere, own, isAnnounced)).toBe(false);
});

test('a malformed message is ignored', () => {
  const whole = announcement(OWN);
  for (let length = 0; length < whole.length; length++) expect(readMulticast(whole.subarray(0, length))).toBeNull();
});
