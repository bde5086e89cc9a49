import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { message, opt } from '../../support/dns-client.ts';
import { askUdp } from '../../support/dns-doh.ts';
import { type Engine, startEngine, track } from '../../support/engine.ts';
import { findTool, requireTool } from '../../support/tools.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const run = promisify(execFile);

const urlOf = ({ app }: Engine, host = 'localhost') => `https://${host}:${app.runtime.https.port}/dns-query`;

interface Got {
  status: string;
  version: string;
  head: string;
  body: Buffer;
}

/** One request by curl, which trusts the root. */
async function curl(engine: Engine, url: string, ...options: string[]): Promise<Got> {
  const args = [
    '-s',
    '-i',
    '--cacert',
    engine.app.runtime.caFile,
    '-w',
    '\n%{http_code} %{http_version}',
    ...options,
    url,
  ];
  const { stdout } = await run(requireTool('curl'), args, { encoding: 'buffer' });
  const text = stdout.toString('latin1');
  const [, status = '', version = ''] = /\n(\d+) (\S+)$/.exec(text) ?? [];
  const at = text.indexOf('\r\n\r\n');
  return {
    status,
    version,
    head: text.slice(0, at),
    body: stdout.subarray(at + 4, stdout.length - status.length - version.length - 2),
  };
}

describe('DNS over HTTPS', () => {
  it('answers GET and POST over HTTP/1.1 and HTTP/2, octet for octet as over UDP', async () => {
    const engine = await startEngine();
    const file = join(engine.dataDir, 'query');
    const queries = [
      message({ id: 0, name: 'demo.vivarium.localhost' }),
      message({ id: 7, name: 'WWW.happypaws.test', type: 65, rest: opt() }),
      message({ id: 0, name: 'none.happypaws.test' }),
      message({ id: 0, name: 'example.org' }),
      message({ id: 0, name: 'demo.vivarium.localhost', flags: 0x2800 }),
    ];
    for (const [index, query] of queries.entries()) {
      writeFileSync(file, query);
      const wanted = await askUdp(engine.app.runtime.dns.port, query);
      const maxAge = [3600, 5, 300, 0, 0][index];
      const post = ['--data-binary', `@${file}`, '-H', 'Content-Type: application/dns-message'];
      const get = `?dns=${query.toString('base64url')}`;
      for (const [url, options] of [
        [urlOf(engine) + get, ['--http1.1']],
        [urlOf(engine) + get, ['--http2']],
        [urlOf(engine, '127.0.0.1'), ['--http1.1', ...post]],
        [urlOf(engine, '[::1]'), ['--http2', ...post]],
      ] as const) {
        const { status, head, body } = await curl(engine, url, ...options);
        expect([status, body]).toEqual(['200', wanted]);
        expect(head.toLowerCase()).toContain('content-type: application/dns-message');
        expect(head.toLowerCase()).toContain(`cache-control: max-age=${maxAge}`);
        expect(head.toLowerCase()).not.toContain('access-control');
      }
    }
    expect(await engine.call('traffic.list', {})).toMatchObject({ kept: 0 });
  });

  it('is a server for kdig, and answers what browsers probe with, here only', async () => {
    const engine = await startEngine();
    const { dns, https, caFile } = engine.app.runtime;
    const kdig = async (...question: string[]) => {
      const tls = ['-p', String(https.port), '+https', `+tls-ca=${caFile}`, '+tls-hostname=localhost'];
      return (await run(requireTool('kdig'), ['@127.0.0.1', ...tls, '+short', ...question])).stdout.trim();
    };
    expect(await kdig('cname.vivarium.localhost', 'A')).toBe('127.0.0.1');
    expect(await kdig('cname.vivarium.localhost', 'A', '+https-get')).toBe('127.0.0.1');
    expect(await kdig('example.com', 'NS')).toBe('ns.vivarium.localhost.');
    expect(await kdig('www.gstatic.com', 'A')).toBe('192.0.2.1');
    expect(await kdig('www.gstatic.com', 'AAAA')).toBe('');
    const plain = await run(requireTool('dig'), ['@127.0.0.1', '-p', String(dns.port), 'example.com', 'NS']);
    expect(plain.stdout).toContain('status: REFUSED');
  });

  it('refuses other requests with what to send, and web pages', async () => {
    const engine = await startEngine({ empty: true });
    const url = urlOf(engine);
    const { port } = engine.app.runtime.https;
    const octets = (count: number): string => {
      const file = join(engine.dataDir, `octets-${count}`);
      writeFileSync(file, Buffer.alloc(count));
      return `@${file}`;
    };
    const dns = message({ id: 0 }).toString('base64url');
    const type = ['-H', 'Content-Type: application/dns-message'];
    const cases: [status: string, query: string, ...options: string[]][] = [
      ['400', ''],
      ['400', '?dns='],
      ['400', '?dns=AAAA'],
      ['400', `?dns=${dns.slice(0, 9)}`],
      ['400', `?dns=${dns}=`],
      ['400', `?dns=${dns}&dns=${dns}`],
      ['405', '', '-X', 'PUT'],
      ['415', '', '-d', 'x'],
      ['400', '', '--data-binary', octets(0), ...type],
      ['400', '', '--data-binary', octets(1), ...type],
      ['200', '', '--data-binary', octets(65_535), ...type],
      ['413', '', '--data-binary', octets(65_536), ...type],
      ['403', `?dns=${dns}`, '-H', 'Origin: https://evil.example'],
      ['403', `?dns=${dns}`, '-H', `Origin: https://localhost:1`],
      ['403', `?dns=${dns}`, '-H', 'Sec-Fetch-Site: cross-site'],
      ['200', `?dns=${dns}`, '-H', `Origin: https://localhost:${port}`],
    ];
    for (const [wanted, query, ...options] of cases) {
      for (const version of ['--http1.1', '--http2']) {
        const { status } = await curl(engine, url + query, version, ...options);
        expect([query, options, status]).toEqual([query, options, wanted]);
      }
    }
    const overHttp = await curl(engine, `http://localhost:${engine.app.runtime.http.port}/dns-query?dns=${dns}`);
    expect(overHttp.status).toBe('403');
  });
});

describe.runIf(findTool('firefox-esr') !== null)('Firefox as Debian ships it', () => {
  it(
    'opens a hostname at its real URL, verified, with the server set as its secure DNS',
    { timeout: 120_000 },
    async () => {
      const engine = await startEngine();
      const profile = temporaryFolder();
      await run(requireTool('certutil'), ['-N', '-d', `sql:${profile}`, '--empty-password']);
      const root = ['-A', '-d', `sql:${profile}`, '-n', 'Vivarium', '-t', 'C,,', '-i', engine.app.runtime.caFile];
      await run(requireTool('certutil'), root);
      // What Settings, Privacy & Security, DNS over HTTPS, Increased Protection, Custom writes.
      writeFileSync(
        join(profile, 'user.js'),
        `user_pref("network.trr.mode", 2);\nuser_pref("network.trr.uri", "${urlOf(engine, '127.0.0.1')}");\n` +
          `user_pref("network.trr.custom_uri", "${urlOf(engine, '127.0.0.1')}");\n`,
      );
      const page = join(profile, 'start.html');
      writeFileSync(
        page,
        '<script>const url = "https://www.happypaws.test/v1/firefox";' +
          'const open = () => fetch(url, { mode: "no-cors" }).then(() => (location = url), () => setTimeout(open, 500));' +
          'open();</script>',
      );
      const home = temporaryFolder();
      mkdirSync(join(home, 'tmp'));
      const firefox = spawn('firefox-esr', ['--headless', '--no-remote', '--profile', profile, `file://${page}`], {
        env: { ...process.env, HOME: home, TMPDIR: join(home, 'tmp'), MOZ_CRASHREPORTER_DISABLE: '1' },
        stdio: 'ignore',
        detached: true,
      });
      track(() => void process.kill(-(firefox.pid ?? 0), 'SIGKILL'));
      const entries = async () => ((await engine.call('traffic.list', {})) as { items: unknown[] }).items;
      await expect
        .poll(entries, { timeout: 90_000, interval: 500 })
        .toContainEqual(
          expect.objectContaining({ scheme: 'https', authority: 'www.happypaws.test', target: '/v1/firefox' }),
        );
    },
  );
});
