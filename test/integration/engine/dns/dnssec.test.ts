import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ZoneDnssec } from '../../../../main/contract/zones.ts';
import { dig, run } from '../../../support/dns/dns-dig.ts';
import { type Engine, startEngine, track, restarted } from '../../../support/engine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { ended, startUnbound } from '../../../support/dns/dns-unbound.ts';
import { findTool } from '../../../support/tools.ts';

const ZONE = `$TTL 600
@ CAA 0 issue "vivarium.localhost"
shop CNAME cname.vivarium.localhost.
host A 192.0.2.9
host A 192.0.2.1
*.wild TXT "any"
a.b.ent A 192.0.2.2
sub NS ns.sub
ns.sub A 192.0.2.3
alias ALIAS host
renamed DNAME wild
`;

async function signedEngine() {
  const engine = await startEngine();
  await engine.call('zones.create', { name: 'acme.test' });
  await engine.call('zones.import', { name: 'acme.test', text: ZONE });
  const signing = await dnssec(engine, { signed: true });
  return { engine, signing, port: engine.app.runtime.dns.port };
}

const dnssec = (engine: Engine, input: object = {}): Promise<ZoneDnssec> =>
  engine.call('zones.dnssec', { name: 'acme.test', ...input });

/** What `delv` prints for a question, with the zone's own anchor. */
async function delv(port: number, { anchors }: ZoneDnssec, question: string): Promise<string> {
  const file = join(temporaryFolder(), 'anchor');
  writeFileSync(file, anchors?.delv ?? '');
  const [name = '', type = ''] = question.split(' ');
  const args = ['@127.0.0.1', '-p', String(port), '-a', file, '+root=acme.test', '-q', `${name}.acme.test`, '-t', type];
  return run('delv', args, 'both');
}

/** The port of an unbound that validates the zone; each has an empty cache. */
async function validating(port: number, { name, anchors }: ZoneDnssec): Promise<number> {
  const unbound = await startUnbound(temporaryFolder(), port, new Map([[name, anchors?.unbound ?? '']]));
  track(() => ended(unbound.child));
  return unbound.port;
}

const QUESTIONS = [
  ...['shop CNAME', 'host A', 'host TXT', 'nowhere A', 'x.wild TXT', 'x.wild A', 'b.ent A', 'sub DS', 'alias A'],
  ...['alias MX', 'x.renamed TXT'],
];

describe('a signed zone', () => {
  it('is valid for delv with its trust anchor, and bogus while it is broken', async () => {
    const { engine, signing, port } = await signedEngine();
    for (const question of QUESTIONS) expect(await delv(port, signing, question)).toContain('fully validated');

    for (const broken of ['expired', 'missing', 'wrong-key']) {
      expect(await dnssec(engine, { break: broken })).toMatchObject({ break: broken, anchors: signing.anchors });
      const said = await delv(port, signing, 'host A');
      expect(said).toMatch(
        /resolution failed: (RRSIG has expired|insecurity proof failed|broken trust chain|no valid)/,
      );
      expect(said).not.toContain('fully validated');
    }
    await dnssec(engine, { break: 'none' });
    expect(await delv(port, signing, 'host A')).toContain('fully validated');

    // One key's anchor is enough during a rollover.
    const rolling = await dnssec(engine, { roll: true });
    expect(rolling.keys?.map(({ retiresAt }) => retiresAt !== undefined)).toEqual([true, false]);
    expect(await delv(port, signing, 'host A')).toContain('fully validated');
    await expect(dnssec(engine, { roll: true })).rejects.toThrow(/being rolled until/);
    await engine.call('clock.advance', { by: 'P2D' });
    const rolled = await dnssec(engine);
    expect(rolled.keys).toEqual([{ ...rolling.keys?.[1] }]);
    const [shown] = await dig('kdig', { port }, ['acme.test DNSKEY']);
    expect(shown?.answer.map((line) => line.replace(/ 3600 IN/, ''))).toEqual([
      `acme.test. DNSKEY ${rolled.keys?.[0]?.dnskey}`,
    ]);
    expect(await engine.call('dns.query', { name: 'acme.test', type: 'DNSKEY' })).toMatchObject({
      answer: [{ type: 'DNSKEY', rdata: rolled.keys?.[0]?.dnskey }],
    });

    // The key is kept when signing is turned off, and across a restart.
    expect(await dnssec(engine, { signed: false })).toEqual({ name: 'acme.test', signed: false });
    expect((await dig('dig', { port }, ['host.acme.test A'], ['+dnssec']))[0]?.answer).toHaveLength(2);
    expect((await dnssec(engine, { signed: true })).keys).toEqual(rolled.keys);
    const again = await restarted(engine);
    expect((await dnssec(again)).keys).toEqual(rolled.keys);
    const [answered] = await dig('dig', { port: again.app.runtime.dns.port }, ['host.acme.test A'], ['+dnssec']);
    expect(answered?.answer).toHaveLength(3);
  });

  it.skipIf(findTool('unbound') === null)('is valid for unbound, and SERVFAIL while it is broken: %s', async () => {
    const { engine, signing, port } = await signedEngine();
    const unbound = await validating(port, signing);
    const ask = async () => {
      const questions = QUESTIONS.filter((each) => !/^shop/.test(each)).map((each) => each.replace(' ', '.acme.test '));
      return (await dig('dig', { port: unbound }, questions, ['+dnssec', '+recurse'])).map(
        ({ rcode, flags }) => `${rcode} ${flags.includes('ad')}`,
      );
    };
    expect(await ask()).toEqual(QUESTIONS.slice(1).map((each) => `${/^no/.test(each) ? 'NXDOMAIN' : 'NOERROR'} true`));
    await dnssec(engine, { break: 'expired' });
    const bogus = await validating(port, signing);
    const [answered] = await dig('dig', { port: bogus }, ['host.acme.test A'], ['+recurse']);
    expect(answered?.rcode).toBe('SERVFAIL');
  });

  it('gets no certificate while it is broken, as at a real CA, with the reason', async () => {
    const { engine } = await signedEngine();
    const project = await engine.demo();
    await dnssec(engine, { break: 'expired' });
    await engine.call('projects.update', { projectId: project.id, plan: 'pro' });
    await engine.call('domains.attach', { projectId: project.id, hostname: 'shop.acme.test' });
    const bogus = await engine.call('domains.verify', { hostname: 'shop.acme.test' });
    expect(bogus).toMatchObject({ certificate: { state: 'none' } });
    expect(bogus.checks.find(({ code }) => code === 'dnssec_bogus')).toMatchObject({
      outcome: 'failed',
      found: expect.stringMatching(/^wrong signatures: .* expired at /),
    });
    expect(await engine.call('caa.explain', { hostname: 'shop.acme.test' })).toMatchObject({
      verdict: 'lookup_failed',
      message: expect.stringContaining('expired at'),
    });
    await dnssec(engine, { break: 'none' });
    const valid = await engine.call('domains.verify', { hostname: 'shop.acme.test' });
    expect(valid).toMatchObject({ state: 'verified', certificate: { state: 'issued' } });
  });
});
