import { describe, expect, it } from 'vitest';
import type { DnsLookup, DnsRecord } from '../../../../main/model/dns-lookup.ts';
import { observe } from '../../../../main/domains/checks/observe.ts';
import { resolve } from '../../../../main/domains/checks/resolution.ts';
import { zoneOf } from '../../../support/dns/dns-tables.ts';
import { dnsOver, PLATFORM, RESOLVER } from '../zones.ts';

const TARGET = 'cname.vivarium.localhost';
const options = { cnameTarget: TARGET, randomLabel: () => 'random' };

/** What a resolver answers; by default, nothing. */
const answer = async (reply: { rcode?: string; answers?: DnsRecord[]; authority?: DnsRecord[] }) => ({
  ...{ kind: 'answered' as const, rcode: 'NOERROR', answers: [], authority: [], source: RESOLVER },
  ...reply,
});

describe('an observation', () => {
  const zone = zoneOf('example.test', `www CNAME ${TARGET}.\n@ ALIAS ${TARGET}.`);

  it('of a healthy subdomain takes eleven questions', async () => {
    const dns = dnsOver([PLATFORM, zone]);
    await observe(dns, { ...options, hostname: 'www.example.test', kind: 'subdomain' });
    const own = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'SOA', 'TXT'].map((type) => `www.example.test ${type}`);
    const others = [TARGET, 'random.example.test'].flatMap((name) => [`${name} A`, `${name} AAAA`]);
    expect(dns.asked.sort()).toEqual([...others, ...own]);
  });

  it('below an apex queries a sibling', async () => {
    const dns = dnsOver([PLATFORM, zone]);
    const seen = await observe(dns, { ...options, hostname: 'example.test', kind: 'apex' });
    expect(seen.sibling?.name).toBe('random.example.test');
  });

  it('queries no sibling if its name would be too long', async () => {
    const hostname = `${`${'a'.repeat(61)}.`.repeat(4)}test`;
    const seen = await observe(dnsOver([PLATFORM]), { ...options, hostname, kind: 'apex' });
    expect(seen.sibling).toBeNull();
  });

  it('queries a sibling whose name has the maximum length', async () => {
    const hostname = `${`${'a'.repeat(61)}.`.repeat(3)}test`;
    const randomLabel = () => 'x'.repeat(252 - hostname.length);
    const seen = await observe(dnsOver([PLATFORM]), { ...options, randomLabel, hostname, kind: 'apex' });
    expect(seen.sibling?.name).toHaveLength(253);
  });

  it('never takes more than 121 questions', async () => {
    const asked: string[] = [];
    const endless: DnsLookup = {
      query(name) {
        const data = { type: 'CNAME', target: `x${asked.push(name)}.example.test` };
        return answer({ answers: [{ name, data }] });
      },
    };
    const seen = await observe(endless, { ...options, hostname: 'www.example.test', kind: 'subdomain' });
    expect(seen.alias.end).toEqual({ kind: 'too_long' });
    expect(asked).toHaveLength(121);
  });
});

/** A resolver with an answer for each question, as `name TYPE`. */
const scripted = (replies: Record<string, Parameters<typeof answer>[0]>): DnsLookup & { asked: string[] } => ({
  asked: [],
  query(name, type) {
    this.asked.push(`${name} ${type}`);
    return answer(replies[`${name} ${type}`] ?? expect.fail(`The test sets no reply for ${name} ${type}.`));
  },
});
const cname = (name: string, target: string): DnsRecord => ({ name, data: { type: 'CNAME', target } });
const a = (name: string, address: string): DnsRecord => ({ name, data: { type: 'A', address } });

describe('a resolution', () => {
  it('takes the whole chain from one answer, in any order and case, with or without dots', async () => {
    const answers = [a('Two.TEST.', '192.0.2.1'), cname('One.test.', 'tWo.test.'), cname('www.test', 'ONE.test')];
    const dns = scripted({ 'www.test A': { answers } });
    expect(await resolve(dns, 'WWW.test.', 'A')).toMatchObject({
      name: 'www.test',
      chain: ['one.test', 'two.test'],
      end: { kind: 'records', records: [{ data: { address: '192.0.2.1' } }] },
    });
    expect(dns.asked).toEqual(['www.test A']);
  });

  it('continues with a query where an answer stops', async () => {
    const dns = scripted({
      'www.test A': { answers: [cname('www.test', 'one.test')] },
      'one.test A': { answers: [cname('one.test', 'two.test'), a('two.test', '192.0.2.1')] },
    });
    const end = { kind: 'records' };
    expect(await resolve(dns, 'www.test', 'A')).toMatchObject({ chain: ['one.test', 'two.test'], end });
    expect(dns.asked).toEqual(['www.test A', 'one.test A']);
  });

  it('applies NXDOMAIN to the chain’s last name', async () => {
    const dns = scripted({ 'www.test A': { rcode: 'NXDOMAIN', answers: [cname('www.test', 'one.test')] } });
    expect(await resolve(dns, 'www.test', 'A')).toMatchObject({ chain: ['one.test'], end: { kind: 'nxdomain' } });
  });

  it('ignores records of names that are not in the chain', async () => {
    const dns = scripted({ 'www.test A': { answers: [a('other.test', '192.0.2.1')] } });
    expect(await resolve(dns, 'www.test', 'A')).toMatchObject({ chain: [], end: { kind: 'nodata' } });
  });

  it('finds a loop over several answers', async () => {
    const dns = scripted({
      'www.test CNAME': { answers: [cname('www.test', 'one.test')] },
      'one.test CNAME': { answers: [cname('one.test', 'two.test')] },
      'two.test CNAME': { answers: [cname('two.test', 'www.test')] },
    });
    const chain = ['one.test', 'two.test', 'www.test'];
    expect(await resolve(dns, 'www.test', 'CNAME')).toMatchObject({ chain, end: { kind: 'loop' } });
  });

  it('stops at the name that the caller waits for', async () => {
    const dns = scripted({ 'www.test CNAME': { answers: [cname('www.test', 'Target.test.')] } });
    const reached = { chain: ['target.test'], end: { kind: 'reached' } };
    expect(await resolve(dns, 'www.test', 'CNAME', 'target.test')).toMatchObject(reached);
  });

  it('always follows the same one of two CNAMEs at one name', async () => {
    const names = [cname('www.test', 'b.test'), cname('www.test', 'a.test')];
    const all = [...names, a('a.test', '192.0.2.1'), a('b.test', '192.0.2.2')];
    for (const answers of [all, all.toReversed()]) {
      const found = await resolve(scripted({ 'www.test A': { answers } }), 'www.test', 'A');
      expect(found.chain).toEqual(['a.test']);
    }
  });

  it('treats NS beside an SOA as no data, and NS alone as a referral (RFC 2308 §2.2)', async () => {
    const ns: DnsRecord = { name: 'test', data: { type: 'NS', target: 'ns.test' } };
    const soa: DnsRecord = { name: 'test', data: { type: 'SOA' } };
    const endOf = async (authority: DnsRecord[]) =>
      (await resolve(scripted({ 'www.test A': { authority } }), 'www.test', 'A')).end;
    expect(await endOf([soa, ns])).toEqual({ kind: 'nodata' });
    expect(await endOf([ns])).toMatchObject({ kind: 'failed', reason: 'referral' });
  });

  it('keeps what it has seen when the next question fails', async () => {
    const dns = scripted({
      'www.test A': { answers: [cname('www.test', 'one.test')] },
      'one.test A': { rcode: 'SERVFAIL' },
    });
    const end = { kind: 'failed', reason: 'servfail' };
    expect(await resolve(dns, 'www.test', 'A')).toMatchObject({ chain: ['one.test'], end });
  });
});
