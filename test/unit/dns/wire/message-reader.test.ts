import { describe, expect, it } from 'vitest';
import { createExchange } from '../../../../main/dns/server/exchange.ts';
import { readResponse } from '../../../../main/dns/wire/message-reader.ts';
import { formatZoneValue } from '../../../../main/dns/wire/record-text.ts';
import { typeCode } from '../../../../main/dns/wire/record.ts';
import { silentLog } from '../../../../main/base/log.ts';
import { message } from '../../../support/dns/dns-client.ts';
import { record, replyTo } from '../../../support/dns/dns-fake-server.ts';
import { zoneOf, zoneSetOf } from '../../../support/dns/dns-tables.ts';

const POINTER = Buffer.from([0xc0, 12]);

describe('a response of our own server', () => {
  const LINES = [
    'x A 192.0.2.1',
    'x AAAA 2001:db8::1',
    'x MX 10 mail.a.test.',
    'x TXT "a;\\"b" "\\255"',
    'x CAA 128 issue "ca.example; account=1"',
    'x SRV 1 2 443 host.a.test.',
    'x HINFO "CPU" "OS"',
    'x PTR host.a.test.',
    'y CNAME x.a.test.',
  ];
  const set = zoneSetOf([zoneOf('a.test', LINES.join('\n'))]);
  const exchange = createExchange({ zones: () => set, log: silentLog });

  it.each(LINES)('reads %s back', (line) => {
    const [owner = '', type = '', ...words] = line.split(' ');
    const reply = exchange(message({ name: `${owner}.a.test`, type: typeCode(type) ?? 0 }), 'tcp');
    const response = readResponse(reply ?? Buffer.alloc(0));
    expect(
      response?.answer.map(({ name, data }) => [name, data.type, 'octets' in data ? '' : formatZoneValue(data)]),
    ).toEqual([[`${owner}.a.test`, type, words.join(' ')]]);
  });

  it('has the SOA of a negative answer', () => {
    const reply = exchange(message({ name: 'none.a.test' }), 'tcp') ?? Buffer.alloc(0);
    expect(readResponse(reply)).toMatchObject({
      rcode: 3,
      authority: [{ name: 'a.test', data: { type: 'SOA', minimumSeconds: 300 } }],
    });
  });
});

describe('a message that is not a response', () => {
  const query = message({ name: 'www.acme.test' });
  const self = Buffer.from([0xc0, 12 + 15 + 4]);
  const answering = (...answer: Buffer[]) => replyTo(query, { answer });
  const A = Buffer.alloc(4);
  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['a header cut off', replyTo(query).subarray(0, 11)],
    ['a query', query],
    ['a question cut off', replyTo(query).subarray(0, 20)],
    ['a record that is missing', answering(Buffer.alloc(0))],
    ['a pointer to itself', answering(record(1, A, self))],
    ['a pointer ahead', answering(record(1, A, Buffer.from([0xc0, 200])))],
    ['a pointer into the header', answering(record(1, A, Buffer.from([0xc0, 4])))],
    ['a label of an unknown kind', answering(record(1, A, Buffer.from([0x80, 0])))],
    ['an address of five octets', answering(record(1, Buffer.alloc(5)))],
    ['an address of three octets', answering(record(1, Buffer.alloc(3)))],
    ['a CAA without a tag', answering(record(257, Buffer.from([0, 0, 65])))],
    ['a CAA whose tag is longer than it', answering(record(257, Buffer.from([0, 9, 65])), record(1, A))],
    ['a CNAME with something after it', answering(record(5, Buffer.concat([POINTER, POINTER])))],
  ])('reads as null: %s', (_case, octets) => {
    expect(readResponse(octets)).toBeNull();
  });

  it('keeps data of unknown types as octets', () => {
    const response = readResponse(answering(record(65_280, Buffer.from([1, 2]))));
    expect(response?.answer[0]?.data).toEqual({ type: 'TYPE65280', octets: '\x01\x02' });
  });

  it.each([
    ['HTTPS', 65, Buffer.from([0, 1])],
    ['SVCB whose key is cut off', 64, Buffer.from([0, 1, 0, 0])],
    ['SRV that continues in the next record', 33, Buffer.from([0, 1, 0, 2, 1, 187])],
  ])('keeps malformed data of %s as octets, and reads the records around it', (_case, type, data) => {
    const address = record(1, Buffer.from([192, 0, 2, 1]));
    const response = readResponse(answering(address, record(type, data), address));
    const around = { type: 'A', address: '192.0.2.1' };
    const kept = { type: `TYPE${type}`, octets: data.toString('latin1') };
    expect(response?.answer.map((each) => each.data)).toEqual([around, kept, around]);
  });

  it.each([
    ['refused', 'longer than any name needs', 4_000, null],
    ['read', 'as long as is allowed', 126, 4_001],
  ])('is %s when thousands of names chain pointers, %s', (_case, _length, links, records) => {
    const chain = Buffer.alloc(links * 2);
    const start = 12 + 19 + 12;
    for (let at = 0; at < chain.length; at += 2) chain.writeUInt16BE(0xc000 | (at === 0 ? 12 : start + at - 2), at);
    const name = Buffer.alloc(2);
    name.writeUInt16BE(0xc000 | (start + chain.length - 2));
    const many = Array.from({ length: 4_000 }, () => record(1, Buffer.alloc(4), name));
    const octets = answering(record(65_280, chain), ...many);
    expect(readResponse(octets)?.answer.length ?? null).toBe(records);
  });
});
