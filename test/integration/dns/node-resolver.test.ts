import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { platformZone } from '../../../main/dns/zones/own-zones.ts';
import { startDns, type RunningDns } from '../../support/dns/dns-server.ts';
import { zoneOf } from '../../support/dns/dns-tables.ts';

describe('Node’s own resolver', () => {
  let dns: RunningDns;
  const resolver = new Resolver({ timeout: 5000, tries: 2 });

  beforeAll(async () => {
    const many = Array.from({ length: 100 }, (_, n) => `many A 10.0.0.${n}`).join('\n');
    dns = await startDns([
      platformZone({ hostnames: ['demo.vivarium.localhost'] }),
      zoneOf(
        'acme.test',
        `
@     ALIAS cname.vivarium.localhost.
@     CAA   0 issue "vivarium.localhost"
@     CAA   128 tbs "x"
@     MX    10 mail
www   CNAME cname.vivarium.localhost.
txt   TXT   "${'a'.repeat(400)}"
loop  ALIAS loop
srv   SRV   1 2 3 www
${many}
`,
      ),
    ]);
    resolver.setServers([`127.0.0.1:${dns.port}`]);
  });
  afterAll(() => dns.server.stop());

  test.each<[string, () => Promise<unknown>, unknown]>([
    ['an address of the platform', () => resolver.resolve4('demo.vivarium.localhost'), ['127.0.0.1']],
    [
      'an address behind a CNAME',
      () => resolver.resolve4('www.acme.test', { ttl: true }),
      [{ address: '127.0.0.1', ttl: 3600 }],
    ],
    ['IPv6 behind an ALIAS', () => resolver.resolve6('acme.test'), ['::1']],
    ['a CNAME', () => resolver.resolveCname('www.acme.test'), ['cname.vivarium.localhost']],
    ['mail exchangers', () => resolver.resolveMx('acme.test'), [{ exchange: 'mail.acme.test', priority: 10 }]],
    ['texts', () => resolver.resolveTxt('txt.acme.test'), [['a'.repeat(255), 'a'.repeat(145)]]],
    [
      'services',
      () => resolver.resolveSrv('srv.acme.test'),
      [{ name: 'www.acme.test', port: 3, priority: 1, weight: 2 }],
    ],
    ['name servers', () => resolver.resolveNs('acme.test'), ['ns.vivarium.localhost']],
    [
      'CAA',
      () => resolver.resolveCaa('acme.test'),
      [
        { critical: 0, issue: 'vivarium.localhost' },
        { critical: 128, tbs: 'x' },
      ],
    ],
    [
      'the SOA',
      () => resolver.resolveSoa('acme.test'),
      {
        nsname: 'ns.vivarium.localhost',
        hostmaster: 'hostmaster.acme.test',
        serial: 1,
        refresh: 7200,
        retry: 900,
        expire: 1_209_600,
        minttl: 300,
      },
    ],
  ])('finds %s', async (_what, ask, expected) => {
    const found = await ask();
    expect(found).toMatchObject(expected as object);
  });

  test('gets more over TCP than fits into UDP', async () => {
    expect(await resolver.resolve4('many.acme.test')).toHaveLength(100);
  });

  test.each([
    ['no such name', 'nothing.acme.test', 'ENOTFOUND'],
    ['no such data', 'txt.acme.test', 'ENODATA'],
    ['a loop of ALIAS', 'loop.acme.test', 'ESERVFAIL'],
    ['outside our zones', 'www.other.test', 'EREFUSED'],
  ])('distinguishes %s', async (_what, name, code) => {
    await expect(resolver.resolve4(name)).rejects.toMatchObject({ code });
  });

  test('sees a change of the zones at once', async () => {
    await expect(resolver.resolve4('new.other.test')).rejects.toMatchObject({ code: 'EREFUSED' });
    dns.publish([zoneOf('other.test', 'new A 192.0.2.7')]);
    expect(await resolver.resolve4('new.other.test')).toEqual(['192.0.2.7']);
  });
});
