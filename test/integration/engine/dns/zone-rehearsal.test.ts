import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { demoTest as it, ISSUED } from '../../../support/engine-test.ts';
import type { RehearsedProvider } from '../../../../main/contract/zones.ts';
import { runHere } from '../../../support/cli-io.ts';
import { type Engine, startEngine } from '../../../support/engine.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const WWW = 'www.acme.example';

/** A customer’s zone as a registrar exports it. */
const CUSTOMER = `$ORIGIN acme.example.
$TTL 300
@     SOA   ns1.registrar.example. hostmaster.acme.example. 2026 7200 900 1209600 300
@     NS    ns1.registrar.example.
@     MX    10 mail.registrar.example.
@     CAA   0 issue "letsencrypt.org"
@     A     76.76.21.21
www   CNAME cname.vercel-dns.com.
`;

async function rehearse(engine: Engine, text: string, more: object = {}): Promise<Record<string, RehearsedProvider>> {
  const { providers } = await engine.call('zones.rehearse', { text, hostname: WWW, ...more });
  return Object.fromEntries(providers.map((each) => [each.persona, each]));
}

const failed = ({ checks }: { checks: RehearsedProvider['checks'] } = { checks: [] }) =>
  checks.filter(({ outcome }) => outcome === 'failed');

const world = async (engine: Engine) => [
  await engine.call('world.export'),
  await engine.call('zones.list'),
  await engine.call('domains.list'),
];

describe('zones.rehearse', () => {
  it('says of a customer’s zone what each provider would, in its words, and changes nothing', async ({ engine }) => {
    const { call } = engine;
    const before = await world(engine);
    const { vercel, netlify, cloudflare, ...others } = await rehearse(engine, CUSTOMER);
    expect(vercel).toMatchObject({
      state: 'verified',
      says: 'Valid Configuration',
      instructions: [{ type: 'CNAME', name: 'www', value: 'cname.vercel-dns-0.com' }],
      certificate: { state: 'issued', issuers: ['letsencrypt.org'] },
    });
    expect(netlify).toMatchObject({
      state: 'misconfigured',
      says: 'Check DNS configuration',
      certificate: { state: 'none', checks: [{ code: 'caa_forbids', outcome: 'ok' }] },
    });
    expect(failed(netlify)).toMatchObject([
      {
        code: 'wrong_target',
        found: 'cname.vercel-dns.com',
        fix: 'Replace CNAME cname.vercel-dns.com with: www CNAME your-site.netlify.app',
      },
    ]);
    expect(failed(cloudflare).map(({ words }) => words)).toContain('custom hostname does not CNAME to this zone.');
    expect(Object.keys(others)).toContain('animal-store');
    expect(await world(engine)).toEqual(before);
    await expect(call('dns.query', { name: WWW })).resolves.toMatchObject({ rcode: 'REFUSED' });
  });

  it('compares an apex with the published addresses', async ({ engine }) => {
    const apex = { hostname: 'acme.example' };
    const { vercel, 'github-pages': github } = await rehearse(engine, CUSTOMER, apex);
    expect(vercel).toMatchObject(ISSUED);
    expect(failed(github)).toMatchObject([
      { code: 'alias_mismatch', words: 'NotServedByPagesError', fix: expect.stringContaining('@ A 185.199.108.153') },
    ]);
    const own = '@ A 185.199.109.153\n@ AAAA 2606:50c0:8003::153\n';
    expect((await rehearse(engine, own, apex))['github-pages']).toMatchObject({ state: 'verified' });
    expect((await rehearse(engine, '@ ALIAS apex-loadbalancer.netlify.com.', apex))['netlify']).toMatchObject({
      state: 'verified',
    });
  });

  it.for([
    ['fly', 'shop.fly.dev'],
    ['render', 'shop.onrender.com'],
    ['railway', 'shop-1a2b.up.railway.app'],
  ] as const)('takes any name of %s as the customer’s own', async ([persona, target], { engine }) => {
    const proof = '_railway-verify.www TXT railway-verify=0000\n';
    const zone = `$ORIGIN acme.example.\nwww CNAME ${target}.\n${persona === 'railway' ? proof : ''}`;
    expect((await rehearse(engine, zone))[persona]).toMatchObject(ISSUED);
    const other = zone.replace(target, 'shop.example.net');
    expect((await rehearse(engine, other))[persona]).toMatchObject({ state: 'misconfigured' });
  });

  it('has no certificate where CAA permits none of the provider’s CAs', async ({ engine }) => {
    const text = 'www CNAME customers.shop.example.\n@ CAA 0 issue "pki.goog; cansignhttpexchanges=yes"\n';
    const { vercel, cloudflare } = await rehearse(engine, text, { target: 'customers.shop.example' });
    expect(cloudflare).toMatchObject({
      state: 'verified',
      says: 'Active',
      certificate: { state: 'issued', says: 'Active' },
    });
    expect(vercel).toMatchObject({
      state: 'verified',
      certificate: {
        state: 'pending',
        checks: [{ code: 'caa_forbids', outcome: 'failed', fix: expect.stringContaining('letsencrypt.org') }],
      },
    });
  });

  it('judges Vivarium’s own names by its own rules', async ({ engine }) => {
    const text = 'www CNAME shop.vivarium.localhost.\n@ CAA 0 issue "vivarium.localhost"\n';
    const { vercel, netlify, cloudflare } = await rehearse(engine, text);
    expect([netlify?.certificate.state, cloudflare?.certificate.state]).toEqual(['issued', 'issued']);
    expect(failed(vercel)).toMatchObject([{ expected: 'cname.vivarium.localhost' }]);
  });

  it('wants the TXT records of a provider that requires them, with any text', async ({ engine }) => {
    const cname = 'www CNAME cname.mintlify.builders.\n';
    const texts = '_cf-custom-hostname.www TXT "a"\n_acme-challenge.www TXT "b"\n';
    const { mintlify } = await rehearse(engine, cname);
    expect(failed(mintlify).map(({ code }) => code)).toEqual(['txt_missing', 'txt_missing']);
    expect((await rehearse(engine, cname + texts))['mintlify']).toMatchObject({ state: 'verified' });
    const { cloudflare, netlify } = await rehearse(engine, texts);
    expect([cloudflare?.state, netlify?.state]).toEqual(['verified', 'pending']);
  });

  it('finds what a careless registrar stores, names lines that it cannot read, and has limits', async ({ engine }) => {
    const { call } = engine;
    const text = `${CUSTOMER}www MX 10 mail.acme.example.\nshop A 300.1.1.1\nother.test. A 192.0.2.1\n`;
    const whole = await call('zones.rehearse', { text });
    expect(whole).toMatchObject({ hostname: 'acme.example', zone: 'acme.example', records: 7, rejectedTotal: 2 });
    expect(whole.rejected.map(({ line }) => line)).toEqual([10, 11]);
    expect(failed((await rehearse(engine, text))['vercel']).map(({ code }) => code)).toEqual(['cname_with_siblings']);
    const subzone = '$ORIGIN Shop.acme.example.\n@ SOA ns hostmaster 1 2 3 4 5\nwww A 192.0.2.1\n';
    const below = await call('zones.rehearse', { text: subzone, hostname: 'www.shop.acme.example' });
    expect(below).toMatchObject({ zone: 'shop.acme.example', records: 2, rejectedTotal: 0 });
    const refused = (input: object) => expect(call('zones.rehearse', { text, hostname: WWW, ...input })).rejects;
    await refused({ text: 'x'.repeat(1024 * 1024 + 1) }).toThrow('text');
    await refused({ text: '$GENERATE 1-10001 h$ A 192.0.2.1' }).toThrow('more than 10000 records');
    await refused({ hostname: 'www.other.example' }).toThrow('no records of the zone "other.example". Line 3: ');
    await refused({ hostname: 'localhost' }).toThrow('this machine itself');
    await refused({ text: 'www A 192.0.2.1', hostname: undefined }).toThrow('The hostname is empty');
  });

  it('is a table on the command line, from a file or standard input', async () => {
    const { dataDir } = await startEngine({ ephemeral: true });
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'acme.zone'), `${CUSTOMER}oops\n`);
    const words = ['zone', 'rehearse', 'acme.zone', WWW, '--data-dir', dataDir];
    const { code, stdout } = await runHere(words, { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Line 9 was not read: /m);
    expect(stdout).toMatch(/^Vercel +verified +Valid Configuration +issued +letsencrypt\.org may issue$/m);
    expect(stdout).toMatch(/^Netlify +misconfigured +Check DNS configuration +none +letsencrypt\.org may issue$/m);
    expect(stdout).toMatch(/^ {4}Replace CNAME .* www CNAME your-site\.netlify\.app$/m);
    const one = [...words.with(2, '-'), '--persona', 'vercel', '--json'];
    const piped = await runHere(one, { stdin: CUSTOMER });
    expect([piped.code, JSON.parse(piped.stdout)]).toMatchObject([0, { providers: [{ persona: 'vercel' }] }]);
  });
});
