import { Packet } from 'dns2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatRecord } from '../../../main/dns/wire/record-text.ts';
import { typeCode, type RecordData } from '../../../main/dns/wire/record.ts';
import { readData } from '../../../main/dns/wire/wire-reader.ts';
import { message, opt, TcpClient, UdpClient } from '../../support/dns/dns-client.ts';
import { expectDelvAgrees, expectDigAgrees, expectNodeAgrees } from '../../support/dns/dns-agreement.ts';
import { dig, run } from '../../support/dns/dns-dig.ts';
import { startDns, type RunningDns } from '../../support/dns/dns-server.ts';
import { DNS_TABLES, linesOf, zoneOf } from '../../support/dns/dns-tables.ts';

describe.each(DNS_TABLES)('$title', ({ zones, facts }) => {
  let dns: RunningDns;
  beforeAll(async () => {
    dns = await startDns(zones);
  });
  afterAll(() => dns.server.stop());

  test.each([
    ['dig', 'UDP, IPv4', '127.0.0.1', []],
    ['dig', 'TCP, IPv6', '::1', ['+tcp']],
    ['kdig', 'UDP, IPv6', '::1', []],
    ['kdig', 'TCP, IPv4', '127.0.0.1', ['+tcp']],
  ] as const)('%s agrees over %s', (tool, _how, address, options) =>
    expectDigAgrees(tool, { port: dns.port, address }, facts, options),
  );

  test('delv agrees', () => expectDelvAgrees(dns, facts));

  test('Node’s resolver agrees', () => expectNodeAgrees(dns, facts));

  test('dns2’s decoder agrees', async () => {
    const client = new UdpClient(dns.port);
    try {
      for (const fact of facts) {
        const [name = '', type = ''] = fact.question.split(' ');
        const code = typeCode(type) ?? 0;
        const reply = Packet.parse(await client.ask(message({ name, type: code, rest: opt() })));
        expect(reply.errors).toEqual([]);
        expect(reply.questions).toMatchObject([{ name: name.replace(/\.$/, ''), type: code, class: 1 }]);
        const lines = [reply.answers, reply.authorities].map((section) => section.map(fromDns2));
        expect(lines).toEqual([linesOf(fact.answer), linesOf(fact.authority)]);
      }
    } finally {
      client.close();
    }
  });
});

/** One record as dns2 reads it; types that it does not decode are read here. */
function fromDns2(record: Packet['answers'][number]): string {
  const name = record.name.toLowerCase();
  const type = Object.entries(Packet.TYPE).find(([, code]) => code === record.type)?.[0];
  const target = record.domain ?? record.ns ?? record.target ?? '';
  const texts = (Array.isArray(record.data) ? record.data : []) as string[];
  const number = (value: number | undefined) => value ?? -1;
  const data: Record<string, () => RecordData> = {
    A: () => ({ type: 'A', address: record.address ?? '' }),
    AAAA: () => ({ type: 'AAAA', address: record.address ?? '' }),
    CNAME: () => ({ type: 'CNAME', target }),
    NS: () => ({ type: 'NS', target }),
    PTR: () => ({ type: 'PTR', target }),
    MX: () => ({ type: 'MX', preference: number(record.priority), exchange: record.exchange ?? '' }),
    SRV: () => ({
      type: 'SRV',
      priority: number(record.priority),
      weight: number(record.weight),
      port: number(record.port),
      target,
    }),
    // dns2 decodes texts as UTF-8; an invalid octet comes back as U+FFFD, and is restored here.
    TXT: () => ({ type: 'TXT', strings: texts.map((text) => text.replaceAll('\ufffd', '\xc8')) }),
    CAA: () => ({ type: 'CAA', flags: number(record.flags), tag: record.tag ?? '', value: record.value ?? '' }),
    SOA: () => ({
      type: 'SOA',
      primary: record.primary ?? '',
      mailbox: record.admin ?? '',
      serial: number(record.serial),
      refreshSeconds: number(record.refresh),
      retrySeconds: number(record.retry),
      expireSeconds: Number(record.expiration),
      minimumSeconds: number(record.minimum),
    }),
  };
  const read = data[type ?? '']?.() ?? readData(record.type, record.data as Buffer);
  if (read === null) throw new Error(`dns2 gave a record of type ${record.type}`);
  return formatRecord({ name, ttlSeconds: record.ttl, data: read });
}

describe('options of dig', () => {
  let dns: RunningDns;
  beforeAll(async () => {
    const big = Array.from({ length: 60 }, (_, n) => `big TXT "text number ${n}"`).join('\n');
    dns = await startDns([zoneOf('acme.test', `www A 192.0.2.1\n${big}`)]);
  });
  afterAll(() => dns.server.stop());

  const ask = async (question: string, options: string[], tool: 'dig' | 'kdig' = 'dig') => {
    const [reply] = await dig(tool, dns, [question], options);
    if (reply === undefined) throw new Error('no reply');
    return reply;
  };

  test('+edns=1 gets BADVERS', async () => {
    expect(await ask('www.acme.test A', ['+edns=1', '+noednsnegotiation'])).toMatchObject({
      rcode: 'BADVERS',
      answer: [],
    });
  });

  test('+edns=1 with negotiation gets an answer with version 0', async () => {
    expect(await ask('www.acme.test A', ['+edns=1'])).toMatchObject({ rcode: 'NOERROR', answer: [expect.any(String)] });
  });

  test('+noedns gets no OPT in the reply, and +edns gets one', async () => {
    expect((await ask('www.acme.test A', ['+noedns'])).edns).toEqual([]);
    expect((await ask('www.acme.test A', ['+edns=0', '+nocookie'])).edns).toEqual([
      'EDNS: version: 0, flags:; udp: 1232',
    ]);
    expect((await ask('www.acme.test A', ['+dnssec', '+nocookie'])).edns).toEqual([
      'EDNS: version: 0, flags: do; udp: 1232',
    ]);
  });

  test.each([512, 1232, 4096, 65535])(
    '+bufsize=%i with +ignore gets a truncated reply without records',
    async (size) => {
      expect(await ask('big.acme.test TXT', [`+bufsize=${size}`, '+ignore'])).toMatchObject({
        flags: ['qr', 'aa', 'tc'],
        answer: [],
      });
    },
  );

  test.each(['dig', 'kdig'] as const)('%s repeats the query over TCP, and gets all records', async (tool) => {
    const reply = await ask('big.acme.test TXT', [], tool);
    expect(reply.answer).toHaveLength(60);
    expect(reply.flags).toEqual(['qr', 'aa']);
  });

  test('+header-only gets FORMERR, and +opcode=NOTIFY gets NOTIMP', async () => {
    expect((await ask('www.acme.test A', ['+header-only', '+nocookie'])).rcode).toBe('FORMERR');
    expect((await ask('www.acme.test A', ['+opcode=NOTIFY'])).rcode).toBe('NOTIMP');
  });

  test('a transfer fails, and another class gets REFUSED', async () => {
    expect(await run('dig', [`@127.0.0.1`, '-p', String(dns.port), 'acme.test', 'AXFR'])).toContain('Transfer failed');
    expect((await ask('version.bind TXT', ['-c', 'CH'])).rcode).toBe('REFUSED');
  });

  test('an unknown +ednsopt is ignored', async () => {
    expect((await ask('www.acme.test A', ['+ednsopt=65001:abcd', '+padding=128'])).rcode).toBe('NOERROR');
  });

  test.each(['dig', 'kdig'] as const)('%s accepts the cookie, and sends it back', async (tool) => {
    const shown = (options: string[]) => run(tool, ['@127.0.0.1', '-p', String(dns.port), ...options, 'www.acme.test']);
    const cookie = /COOKIE: ?([0-9a-fA-F]{48})/.exec(await shown(['+cookie=0123456789abcdef']))?.[1] ?? '';
    expect(cookie.toLowerCase()).toMatch(/^0123456789abcdef/);
    const again = await shown([`+cookie=${cookie}`]);
    expect(again).toContain(`COOKIE: ${tool === 'dig' ? `${cookie} (good)` : cookie}`);
    expect(again).toContain('192.0.2.1');
  });

  test('a cookie is returned even without a question', async () => {
    expect((await ask('www.acme.test A', ['+header-only', '+cookie=0123456789abcdef'])).rcode).toBe('NOERROR');
  });

  test('the reason for a refusal is shown', async () => {
    expect((await ask('www.other.test A', [])).edns.join(' ')).toContain('EDE: 20 (Not Authoritative)');
  });

  test('delv resolves', async () => {
    const text = await run('delv', ['@127.0.0.1', '-p', String(dns.port), '-i', 'www.acme.test', 'A']);
    expect(text).toMatch(/www\.acme\.test\.\s+\d+\s+IN\s+A\s+192\.0\.2\.1/);
  });

  test('a query in mixed case is returned in the same case (0x20)', async () => {
    const [udp, tcp] = [new UdpClient(dns.port, '::1'), await TcpClient.open(dns.port)];
    try {
      const query = message({ name: 'wWw.aCmE.tEsT' });
      for (const client of [udp, tcp]) {
        const reply = await client.ask(query);
        expect(reply.subarray(12, query.length)).toEqual(query.subarray(12));
        expect(reply.readUInt16BE(6)).toBe(1);
      }
    } finally {
      udp.close();
      tcp.close();
    }
  });
});
