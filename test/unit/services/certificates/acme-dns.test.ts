import { describe, expect, test } from 'vitest';
import { createAcmeDns } from '../../../../main/services/certificates/acme.ts';
import type { DnsLookup, DnsRecord, DnsReply } from '../../../../main/model/dns-lookup.ts';

const source = { local: true, name: 'Vivarium’s DNS' };

/** Answers each `NAME TYPE` of a table; all others have no record. */
function dnsOf(table: Record<string, readonly DnsRecord[] | DnsReply>): ReturnType<typeof createAcmeDns> {
  const lookup: DnsLookup = {
    async query(name, type) {
      const found = table[`${name} ${type}`] ?? [];
      if ('kind' in found) return found;
      return { kind: 'answered', rcode: 'NOERROR', answers: found, authority: [], source };
    },
  };
  return createAcmeDns(lookup);
}

const txt = (ttlSeconds: number, ...strings: string[]): DnsRecord => ({
  ...{ name: 'a.test', ttlSeconds },
  data: { type: 'TXT', strings },
});
const address = (type: 'A' | 'AAAA', value: string): DnsRecord => ({
  ...{ name: 'a.test', ttlSeconds: 60 },
  data: { type, address: value },
});

describe('the DNS queries of validations', () => {
  test('join the strings of a record, and return the shortest TTL of all', async () => {
    const { texts } = dnsOf({ 'a.test TXT': [txt(300, 'vivarium.localhost;', ' accounturi=x'), txt(60, 'other')] });
    const expected = { ok: true, values: ['vivarium.localhost; accounturi=x', 'other'], ttlSeconds: 60 };
    expect(await texts('a.test')).toEqual(expected);
    expect(await texts('b.test')).toEqual({ ok: true, values: [] });
  });

  test('return the addresses of both families, and this machine’s for localhost', async () => {
    const { addresses } = dnsOf({ 'a.test AAAA': [address('AAAA', '::1')], 'a.test A': [address('A', '127.0.0.1')] });
    expect(await addresses('a.test')).toEqual({ ok: true, values: ['::1', '127.0.0.1'] });
    expect(await addresses('x.localhost')).toEqual({ ok: true, values: ['::1', '127.0.0.1'] });
    expect(await addresses('b.test')).toEqual({ ok: true, values: [] });
  });

  test('report why there is no answer, and how to get one', async () => {
    const refused: DnsReply = { kind: 'answered', rcode: 'REFUSED', answers: [], authority: [], source };
    const failed: DnsReply = { kind: 'failed', reason: 'timeout', source };
    const unreachable: DnsReply = { kind: 'failed', reason: 'unreachable', detail: 'the port is closed', source };
    const { texts, addresses } = dnsOf({
      ...{ 'www.b.test TXT': refused, 'a.test TXT': failed, 'a.test A': failed },
      'c.test TXT': unreachable,
    });
    for (const [name, detail] of [
      ['www.b.test', 'www.b.test is in no local zone. Create one: vivarium zone create b.test'],
      ['a.test', 'The question for TXT of a.test failed: timeout.'],
      ['c.test', 'The question for TXT of c.test failed: unreachable, the port is closed.'],
    ] as const)
      expect(await texts(name)).toMatchObject({ ok: false, detail });
    expect((await addresses('a.test')).ok).toBe(false);
  });
});
