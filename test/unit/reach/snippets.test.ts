import { describe, expect, it } from 'vitest';
import { pacSetting } from '../../../main/reach/mapped-hostnames.ts';
import type { SnippetFacts } from '../../../main/reach/language-snippets.ts';
import { directUrl, makeSnippets } from '../../../main/reach/snippets.ts';

const FACTS: SnippetFacts = {
  address: { hostname: 'shop.acme.test', scheme: 'https', leadsTo: 'api' },
  ports: { http: 8080, https: 8443, dns: 5380 },
  caFile: '/home/anna/my data/root.pem',
  proxyUrl: 'http://127.0.0.1:8080',
  pacUrl: 'http://127.0.0.1:4780/proxy.pac',
  dohUrl: 'https://localhost:8443/dns-query',
};
const texts = (changes: Partial<SnippetFacts> = {}) =>
  Object.fromEntries(makeSnippets({ ...FACTS, ...changes }).map(({ id, text }) => [id, text]));

describe('snippets', () => {
  it('contain the ports, the root and the name of the key', () => {
    expect(texts().curl).toBe(`curl --resolve shop.acme.test:8443:127.0.0.1 \\
  --cacert '/home/anna/my data/root.pem' \\
  -H "Authorization: Bearer $VIVARIUM_KEY" \\
  'https://shop.acme.test:8443/v1/pets?limit=5'

curl --noproxy '' --proxy http://127.0.0.1:8080 \\
  --cacert '/home/anna/my data/root.pem' \\
  -H "Authorization: Bearer $VIVARIUM_KEY" \\
  'https://shop.acme.test/v1/pets?limit=5'
`);
  });

  it('contain no comments in lines of a shell, which an interactive zsh would run', () => {
    for (const { language, text, id } of makeSnippets(FACTS))
      if (language === 'sh') expect(text, id).not.toMatch(/^#/m);
  });

  it('query the DNS server that verification queries', () => {
    expect(texts().dig).toBe('dig @127.0.0.1 -p 5380 shop.acme.test\n');
  });

  it.each([
    [{ scheme: 'https' }, 8443, 'https://shop.acme.test:8443/v1/openapi.json'],
    [{ scheme: 'https' }, 443, 'https://shop.acme.test/v1/openapi.json'],
    [{ scheme: 'http', leadsTo: 'upstream' }, 8080, 'http://shop.acme.test:8080/'],
  ] as const)('%o at port %i: %s', (address, port, url) => {
    expect(directUrl({ ...FACTS.address, ...address }, { http: port, https: port })).toBe(url);
  });

  it('omit the root if there is no certificate yet', () => {
    const plain = texts({ address: { ...FACTS.address, scheme: 'http' } });
    const ids = 'curl node requests urllib java go csharp php httpie powershell playwright'.split(' ');
    expect(plain.ruby).not.toMatch(/use_ssl|ca_file/);
    for (const id of ids) {
      expect(plain[id], id).not.toMatch(/root\.pem|https:\/\/|ignoreHTTPSErrors/);
      expect(plain[id], id).toContain('http://shop.acme.test');
    }
  });

  it('send no key to an upstream', () => {
    const upstream = texts({ address: { ...FACTS.address, leadsTo: 'upstream' } });
    for (const text of Object.values(upstream)) expect(text).not.toMatch(/VIVARIUM_KEY|\/v1/);
  });

  it('quote the path of the root as each language does', () => {
    const quoted = texts({ caFile: String.raw`C:\it's "q" $x #{y} 100%\root.pem` });
    expect(quoted.powershell).toContain(String.raw`--cacert 'C:\it''s "q" $x #{y} 100%\root.pem' `);
    for (const id of ['go', 'csharp', 'java', 'node'] as const)
      expect(quoted[id]).toContain(String.raw`("C:\\it's \"q\" $x #{y} 100%\\root.pem")`);
    for (const id of ['php', 'ruby'] as const)
      expect(quoted[id]).toContain(String.raw`'C:\\it\'s "q" $x #{y} 100%\\root.pem'`);
  });

  it('of PowerShell and C# replace the lookup, trust the root and send the key', () => {
    expect(texts().powershell).toBe(`curl.exe --include --noproxy '*' \`
  --resolve 'shop.acme.test:8443:127.0.0.1' \`
  --cacert '/home/anna/my data/root.pem' --ssl-revoke-best-effort \`
  -H "Authorization: Bearer $env:VIVARIUM_KEY" \`
  'https://shop.acme.test:8443/v1/pets?limit=5'
`);
    for (const part of ['IPAddress.Loopback', 'CustomRootTrust', '"Bearer " + Environment.GetEnvironmentVariable']) {
      expect(texts().csharp).toContain(part);
    }
  });

  it('omit the default ports', () => {
    const { node } = texts({ ports: { http: 80, https: 443, dns: 5380 } });
    expect(node).toContain('"https://shop.acme.test/v1/pets?limit=5"');
  });

  it('escape quotes and backslashes in a path', () => {
    const odd = texts({ caFile: `C:\\Users\\O'Brien "x"\\root.pem` });
    expect(odd.curl).toContain(`--cacert 'C:\\Users\\O'"'"'Brien "x"\\root.pem'`);
    for (const id of ['node', 'requests', 'urllib', 'java']) {
      expect(odd[id], id).toContain(`"C:\\\\Users\\\\O'Brien \\"x\\"\\\\root.pem"`);
    }
  });
});

describe('the setting of the PAC file', () => {
  const setting = (platform: NodeJS.Platform, hostname = 'shop.acme.test') =>
    pacSetting({ hostname, ports: { http: 8080 }, pacUrl: FACTS.pacUrl, platform });

  it.each<[platform: NodeJS.Platform, commands: RegExp, undo: RegExp]>([
    ['linux', /^gsettings set .* autoconfig-url http:[^]*mode auto$/, /^gsettings set .* mode none$/],
    ['freebsd', /^gsettings set /, /^gsettings set .* mode none$/],
    ['darwin', /^networksetup -setautoproxyurl Wi-Fi http:/, /^networksetup -setautoproxystate Wi-Fi off$/],
    ['win32', /^Set-ItemProperty 'HKCU:.*' AutoConfigURL 'http:/, /^Remove-ItemProperty .* AutoConfigURL$/],
  ])('on %s is a command, with one that undoes it, and tells where it has no effect', (platform, commands, undo) => {
    const shown = setting(platform);
    expect([shown.commands, shown.undo]).toEqual([expect.stringMatching(commands), expect.stringMatching(undo)]);
    const hint = 'open http://demo.vivarium.localhost:8080 there';
    expect(setting(platform, 'demo.vivarium.localhost').note).toContain(hint);
    expect(shown.note).not.toContain('localhost:');
  });
});
