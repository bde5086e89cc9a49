import { describe, expect, it } from 'vitest';
import { makeInstructions, type InstructionFacts } from '../../../main/reach/instructions.ts';
import type { SnippetFacts } from '../../../main/reach/snippet-context.ts';
import { directUrl, makeSnippets } from '../../../main/reach/snippets.ts';

const FACTS: SnippetFacts = {
  address: { hostname: 'shop.acme.test', scheme: 'https', leadsTo: 'api' },
  ports: { http: 8080, https: 8443, dns: 5380 },
  caFile: '/home/anna/my data/root.pem',
  proxyUrl: 'http://127.0.0.1:8080',
  pacUrl: 'http://127.0.0.1:4780/proxy.pac',
};
const texts = (changes: Partial<SnippetFacts> = {}) =>
  Object.fromEntries(makeSnippets({ ...FACTS, ...changes }).map(({ id, text }) => [id, text]));

describe('snippets', () => {
  it('have the ports, the root and the name of the key in them', () => {
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

  it('have no comments in lines of a shell, which an interactive zsh would run', () => {
    for (const { language, text, id } of makeSnippets(FACTS))
      if (language === 'sh') expect(text, id).not.toMatch(/^#/m);
  });

  it('ask the DNS server that verification asks', () => {
    expect(texts().dig).toBe('dig @127.0.0.1 -p 5380 shop.acme.test\n');
  });

  it.each([
    [{ scheme: 'https' }, 8443, 'https://shop.acme.test:8443/v1'],
    [{ scheme: 'https' }, 443, 'https://shop.acme.test/v1'],
    [{ scheme: 'http', leadsTo: 'upstream' }, 8080, 'http://shop.acme.test:8080/'],
  ] as const)('%o at port %i: %s', (address, port, url) => {
    expect(directUrl({ ...FACTS.address, ...address }, { http: port, https: port })).toBe(url);
  });

  it('do without the root where there is no certificate yet', () => {
    const plain = texts({ address: { ...FACTS.address, scheme: 'http' } });
    const ids = [
      'curl',
      'node',
      'requests',
      'urllib',
      'java',
      'go',
      'csharp',
      'php',
      'httpie',
      'powershell',
      'playwright',
    ];
    expect(plain.ruby).not.toMatch(/use_ssl|ca_file/);
    for (const id of ids) {
      expect(plain[id], id).not.toMatch(/root\.pem|https:\/\/|ignoreHTTPSErrors/);
      expect(plain[id], id).toContain('http://shop.acme.test');
    }
  });

  it('show no key to an upstream', () => {
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

  it('leave usual ports out', () => {
    expect(texts({ ports: { http: 80, https: 443, dns: 5380 } }).node).toContain(
      '"https://shop.acme.test/v1/pets?limit=5"',
    );
  });

  it('keep a path with quotes and backslashes what it is', () => {
    const odd = texts({ caFile: `C:\\Users\\O'Brien "x"\\root.pem` });
    expect(odd.curl).toContain(`--cacert 'C:\\Users\\O'"'"'Brien "x"\\root.pem'`);
    for (const id of ['node', 'requests', 'urllib', 'java']) {
      expect(odd[id], id).toContain(`"C:\\\\Users\\\\O'Brien \\"x\\"\\\\root.pem"`);
    }
  });
});

const PLACE: InstructionFacts = {
  hostname: 'shop.acme.test',
  zone: 'acme.test',
  ports: { http: 8080, https: 8443, dns: 5380 },
  pacUrl: FACTS.pacUrl,
  platform: 'linux',
  program: '/opt/node/bin/node',
  start: 'vivarium serve --data-dir /here',
};
const step = (platform: NodeJS.Platform, id: string, changes: Partial<InstructionFacts> = {}) => {
  const [first] = makeInstructions({ ...PLACE, platform, ...changes });
  return first?.steps.find((candidate) => candidate.id === id);
};

describe('instructions', () => {
  it.each(['linux', 'darwin', 'win32'] as const)(
    'say on %s where a PAC file is no use: under localhost',
    (platform) => {
      const hint = 'open http://demo.vivarium.localhost:8080 there';
      expect(step(platform, 'proxy', { hostname: 'demo.vivarium.localhost' })?.note).toContain(hint);
      expect(step(platform, 'proxy')?.note).not.toContain('localhost:');
    },
  );

  it.each<[platform: NodeJS.Platform, order: string[], here: boolean]>([
    ['linux', ['linux', 'macos', 'windows'], true],
    ['darwin', ['macos', 'linux', 'windows'], true],
    ['win32', ['windows', 'linux', 'macos'], true],
    ['freebsd', ['linux', 'macos', 'windows'], false],
  ])('on %s begin with its own', (platform, order, here) => {
    const all = makeInstructions({ ...PLACE, platform });
    expect(all.map(({ system }) => system)).toEqual(order);
    expect(all.map((system) => system.here)).toEqual([here, false, false]);
  });

  it.each<[platform: NodeJS.Platform, id: string, commands: string]>([
    [
      'linux',
      'resolver',
      `sudo mkdir -p /etc/systemd/resolved.conf.d
printf '[Resolve]\\nDNS=127.0.0.1:5380\\nDomains=~acme.test\\n' | sudo tee /etc/systemd/resolved.conf.d/vivarium.conf
sudo systemctl restart systemd-resolved`,
    ],
    ['linux', 'hosts', "printf '127.0.0.1 shop.acme.test\\n::1 shop.acme.test\\n' | sudo tee -a /etc/hosts"],
    [
      'linux',
      'setcap',
      'sudo setcap cap_net_bind_service=+ep /opt/node/bin/node\nvivarium serve --data-dir /here --http-port 80 --https-port 443',
    ],
    [
      'darwin',
      'resolver',
      "sudo mkdir -p /etc/resolver\nprintf 'nameserver 127.0.0.1\\nport 5380\\n' | sudo tee /etc/resolver/acme.test",
    ],
    [
      'darwin',
      'low-ports',
      `printf 'rdr pass on lo0 inet proto tcp from any to 127.0.0.1 port 80 -> 127.0.0.1 port 8080\\nrdr pass on lo0 inet proto tcp from any to 127.0.0.1 port 443 -> 127.0.0.1 port 8443\\n' | sudo pfctl -ef -`,
    ],
    [
      'win32',
      'resolver',
      "Add-DnsClientNrptRule -Namespace 'acme.test', '.acme.test' -NameServers '127.0.0.1' -Comment 'Vivarium'\nClear-DnsClientCache",
    ],
    [
      'win32',
      'low-ports',
      `netsh interface portproxy add v4tov4 listenaddress=127.0.0.1 listenport=80 connectaddress=127.0.0.1 connectport=8080
netsh interface portproxy add v4tov4 listenaddress=127.0.0.1 listenport=443 connectaddress=127.0.0.1 connectport=8443`,
    ],
  ])('on %s, %s', (platform, id, commands) => {
    expect(step(platform, id)?.commands).toBe(commands);
  });

  it('offer no capabilities for Electron, which then finds none of its libraries', () => {
    const start = 'vivarium-desktop -- --data-dir /here';
    expect(step('linux', 'setcap', { program: null, start })).toBeUndefined();
    expect(step('linux', 'low-ports', { program: null, start })?.commands).toBe(
      'sudo sysctl -w net.ipv4.ip_unprivileged_port_start=80\nvivarium-desktop -- --data-dir /here --http-port 80 --https-port 443',
    );
  });

  it('all say what takes them back', () => {
    const steps = makeInstructions(PLACE).flatMap((system) => system.steps);
    expect(steps.filter(({ undo, note }) => undo === '' || note === '')).toEqual([]);
  });

  it('say nothing of low ports to a Vivarium that has them', () => {
    const low = { ports: { http: 80, https: 443, dns: 53 } };
    for (const platform of ['linux', 'darwin', 'win32'] as const)
      expect(step(platform, 'low-ports', low)).toBeUndefined();
    expect(step('win32', 'resolver', low)?.note).not.toContain('--dns-port');
    expect(step('win32', 'resolver')?.note).toContain('start Vivarium with --dns-port 53 first');
  });
});
