import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { demoTest as it, emptyTest } from '../../../support/engine-test.ts';
import { message, opt, UdpClient } from '../../../support/dns/dns-client.ts';
import { type Engine, startEngine, track } from '../../../support/engine.ts';
import { requireTool } from '../../../support/tools.ts';
import { execute as run } from '../../../support/command.ts';

const urlOf = ({ app: { runtime } }: Engine, host = 'localhost') => runtime.doh.url.replace('localhost', host);

interface Got {
  status: string;
  version: string;
  head: string;
  body: Buffer;
}

/** One request by curl, which trusts the root. */
async function curl(engine: Engine, url: string, ...options: string[]): Promise<Got> {
  const shown = ['-s', '-i', '--cacert', engine.app.runtime.caFile, '-w', '\n%{http_code} %{http_version}'];
  const { stdout } = await run(requireTool('curl'), [...shown, ...options, url], { encoding: 'buffer' });
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
  it('is at the address that runtime.json names', async () => {
    const { app, dataDir } = await startEngine();
    const runtime: unknown = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8'));
    expect(runtime).toHaveProperty('doh', { url: `https://localhost:${app.runtime.https.port}/dns-query` });
  });

  it('answers GET and POST over HTTP/1.1 and HTTP/2, octet for octet as over UDP', async ({ engine, call }) => {
    const file = join(engine.dataDir, 'query');
    const udp = new UdpClient(engine.app.runtime.dns.port);
    track(() => udp.close());
    const queries = [
      message({ id: 0, name: 'demo.vivarium.localhost' }),
      message({ id: 7, name: 'WWW.happypaws.test', type: 65, rest: opt() }),
      message({ id: 0, name: 'none.happypaws.test' }),
      message({ id: 0, name: 'example.org' }),
      message({ id: 0, name: 'demo.vivarium.localhost', flags: 0x2800 }),
    ];
    for (const [index, query] of queries.entries()) {
      writeFileSync(file, query);
      const wanted = await udp.ask(query);
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
        expect(head.toLowerCase()).toContain('x-content-type-options: nosniff');
        expect(head.toLowerCase()).not.toMatch(/access-control|connection: close/);
      }
    }
    expect(await call('traffic.list', {})).toMatchObject({ kept: 0 });
  });

  it('works with kdig, and answers browsers’ probes on this machine only', async ({ engine }) => {
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

  emptyTest('refuses other requests and web pages, with what to send', async ({ engine }) => {
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
