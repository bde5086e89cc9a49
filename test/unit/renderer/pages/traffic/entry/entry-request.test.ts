import { execFile, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { statusLook, timeline } from '../../../../../../renderer/pages/traffic/entry/entry-look.ts';
import { entryCode, type CodeLanguage } from '../../../../../../renderer/pages/traffic/entry/entry-request.ts';
import type { TrafficDetail } from '../../../../../../main/contract/traffic.ts';
import { makeDetail } from '../../../../../support/page/page-traffic.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';
import { startUpstream } from '../../../../../support/upstream-server.ts';

const STATUS = {
  ports: { http: 8080, https: 8443, dns: 5380, control: 4780 },
  dataDir: '/home/ada/.local/share/vivarium',
};

const codeOf = (entry: TrafficDetail, language: CodeLanguage = 'curl', status = STATUS) => {
  const code = entryCode(entry, status, language);
  if (code === undefined) throw new Error('The request has no Host.');
  return code;
};

describe('a recorded request as code', () => {
  it('has the key’s variable in place of its secret, and omits what clients add by themselves', () => {
    expect(codeOf(makeDetail(1)).text.split('\n')).toEqual([
      'curl -H "Authorization: Bearer $VIVARIUM_KEY" \\',
      "  -H 'Accept: application/json' \\",
      "  'http://demo.vivarium.localhost:8080/v1/pets?limit=20'",
    ]);
    const { requestHeaders } = makeDetail(1);
    const anything = [...requestHeaders.slice(0, 2), { name: 'Accept', value: '*/*' }];
    expect(codeOf(makeDetail(1, { requestHeaders: anything })).text).not.toContain('Accept');
    const asFetch = codeOf(makeDetail(1), 'fetch');
    expect(asFetch.text).toContain('Authorization: `Bearer ${process.env.VIVARIUM_KEY}`');
    expect(codeOf(makeDetail(1)).notes).toEqual(['Set VIVARIUM_KEY to the key; its secret is not recorded.']);
    expect(asFetch.notes.at(-1)).toContain('which not every system does for *.localhost');
  });

  it('directs a custom domain to this machine, with the root for HTTPS', () => {
    const detail = makeDetail(1, { scheme: 'https', authority: 'shop.acme.test:8443' });
    expect(codeOf(detail).text).toContain(
      'curl --connect-to ::127.0.0.1:8443 \\\n  --cacert /home/ada/.local/share/vivarium/ca/root.pem',
    );
    expect([codeOf(detail).notes.length, codeOf(detail, 'fetch').notes.length]).toEqual([1, 3]);
  });

  it('has the original body, digit by digit, and tells what is missing from it', () => {
    const text = '{"name":"O’Neil\'s","categoryId":9007199254740993}';
    const requestBody = { text, encoding: 'utf8', bytes: 49, cut: false } as const;
    expect(codeOf(makeDetail(1, { method: 'POST', requestBody, requestBytes: 49 })).text).toContain(
      `--data-raw '{"name":"O'"’"'Neil'"'"'s","categoryId":9007199254740993}'`,
    );
    expect(codeOf(makeDetail(1, { requestBody: { ...requestBody, cut: true } })).notes).toContain(
      'Only the first 64 KiB of its body were recorded.',
    );
    expect(codeOf(makeDetail(1, { requestBytes: 5 })).notes).toContain('Its body was not recorded.');
  });

  const TEXT = { text: '{"name":"O’Neil\'s \\ \u2028 \u0007 😀"}', encoding: 'utf8', bytes: 40, cut: false } as const;
  const BYTES = { text: '/wA=', encoding: 'base64', bytes: 2, cut: false } as const;

  it.for([
    ['python', 'python3', TEXT],
    ['python', 'python3', BYTES],
    ['httpie', 'http', { ...TEXT, text: '{"name":"O’Neil\'s"}' }],
    ['httpie', 'http', TEXT],
  ] as const)(
    'in %s sends the same request (skipped without %s): %j',
    async ([language, program, requestBody], { skip }) => {
      skip(spawnSync(program, ['--version']).status !== 0, `${program} is not installed`);
      let received: { url: string | undefined; method: string | undefined; fields: unknown; body: Buffer } | undefined;
      const upstream = await startUpstream((request, response) => {
        void buffer(request).then((body) => {
          const { authorization, 'x-odd': odd, 'x-json': json, 'x-none': none, 'content-type': type } = request.headers;
          received = { url: request.url, method: request.method, fields: [authorization, odd, json, none, type], body };
          response.end();
        });
      });
      const detail = makeDetail(1, {
        method: 'POST',
        target: '/v1/pets?a=b%20c',
        authority: `127.0.0.1:${upstream.port}`,
        requestBody,
        requestBytes: requestBody.bytes,
        requestHeaders: [
          { name: 'Authorization', value: 'Bearer viv_3fQ9…' },
          { name: 'X-Odd', value: `a "b" {c} 'd' \\n` },
          { name: 'X-Json', value: '=@1' },
          { name: 'X-None', value: '' },
          { name: 'Content-Type', value: 'text/x-odd' },
        ],
      });
      // The upstream stands in for the proxy, too.
      const { text } = codeOf(detail, language, { ...STATUS, ports: { ...STATUS.ports, http: upstream.port } });
      const shell = language === 'python' ? 'python3' : 'bash';
      await promisify(execFile)(shell, ['-c', text], {
        env: { ...process.env, VIVARIUM_KEY: 'k', ...(language === 'python' && { NO_PROXY: '*' }) },
      });
      expect(received).toEqual({
        url: `${language === 'httpie' ? 'http://127.0.0.1' : ''}/v1/pets?a=b%20c`,
        method: 'POST',
        fields: ['Bearer k', `a "b" {c} 'd' \\n`, '=@1', '', 'text/x-odd'],
        body: Buffer.from(requestBody.text, requestBody.encoding),
      });
    },
  );

  it.each(['-o.bashrc', '--download', '-', 'M-SEARCH', 'evil.example', '127.0.0.1', "a'b"])(
    'in HTTPie sends nothing and writes no file for a method that it would take for an option or a URL: %s',
    async (method) => {
      const { text } = codeOf(makeDetail(1, { method }), 'httpie');
      const folder = temporaryFolder();
      const { stdout } = await promisify(execFile)('bash', ['-c', text], { cwd: folder });
      expect([stdout, readdirSync(folder)]).toEqual(['HTTPie sends only methods of letters. Use curl.\n', []]);
    },
  );

  it.each([
    [
      'go',
      TEXT,
      ['strings.NewReader("{\\"name', '\\U00002028', 'Header.Add("X-Odd", "caf\\xe9 \\"q\\"")', '"127.0.0.1:8080"'],
    ],
    ['go', BYTES, ['base64.StdEncoding.DecodeString("/wA=")', 'bytes.NewReader(content)']],
    [
      'axios',
      TEXT,
      ['data: \'{"name', "'Content-Type': false", 'transformResponse: (data) => data', "'X-Odd': 'café \"q\"'"],
    ],
    ['axios', BYTES, ["data: Buffer.from('/wA=', 'base64')"]],
    ['powershell', TEXT, ['UTF8.GetBytes((\'{"name":"O’’Neil\'\'s', '--data-binary "@$body"', "-H 'Content-Type:'"]],
    ['powershell', BYTES, ["FromBase64String('/wA=')", "--connect-to '::127.0.0.1:8080'", '$env:VIVARIUM_KEY']],
  ] as const)('in %s has the method, the fields and the body: %j', (language, requestBody, parts) => {
    const requestHeaders = [
      { name: 'Authorization', value: 'Bearer viv_3fQ9…' },
      { name: 'X-Odd', value: 'caf\xe9 "q"' },
      { name: 'Transfer-Encoding', value: 'chunked' },
    ];
    const { text } = codeOf(makeDetail(1, { method: 'PUT', requestBody, requestHeaders }), language);
    for (const part of ['PUT', 'VIVARIUM_KEY', ...parts]) expect(text).toContain(part);
    expect(text).not.toContain('chunked');
  });

  it('names its shell, if the system’s own is another', () => {
    const onWindows = { ...STATUS, dataDir: 'C:\\Users\\ada\\vivarium' };
    expect(codeOf(makeDetail(1), 'curl', onWindows).notes.at(-1)).toContain('Git Bash or WSL');
  });

  it('in PowerShell warns of quotation marks in its address and its fields', () => {
    const notesOf = (target: string, value: string): string =>
      codeOf(makeDetail(1, { target, requestHeaders: [{ name: 'X-Odd', value }] }), 'powershell').notes.join(' ');
    expect(notesOf('/?a="b"', 'c')).toContain('quotation marks');
    expect(notesOf('/', '"c"')).toContain('quotation marks');
    expect(notesOf('/', "'c'")).not.toContain('quotation marks');
  });

  it('includes bytes that are not text', () => {
    const detail = makeDetail(1, { method: 'PUT', requestBody: BYTES, requestBytes: 2 });
    expect(codeOf(detail).text).toMatch(/^printf %s \/wA= \| base64 -d \| curl -X PUT [^]*--data-binary @- /);
    expect(codeOf(detail, 'fetch').text).toContain("body: Buffer.from('/wA=', 'base64')");
  });

  const TOKEN = [{ name: 'Authorization', value: 'Bearer …' }];

  it.each<[string, Partial<TrafficDetail>, string]>([
    ['a key in its address', { target: '/v1/pets?key=viv_3fQ9…' }, 'replace … with it'],
    ['a body with GET', { requestBody: { text: '{}', encoding: 'utf8', bytes: 2, cut: false } }, 'no body with GET'],
    ['a path with dot segments', { target: '/a/../b' }, 'resolves . and .. in the path'],
    ['a third party’s token', { requestHeaders: TOKEN }, 'VIVARIUM_KEY to the token'],
  ])('tells what happens to %s', (_what, rest, note) => {
    expect(codeOf(makeDetail(1, rest), 'fetch').notes.join(' ')).toContain(note);
  });

  it('has no redacted secret, and names what it omits', () => {
    const secrets = ['Authorization: Basic …', 'Cookie: session=…'].map((line) => line.split(': '));
    const requestHeaders = secrets.map(([name = '', value = '']) => ({ name, value }));
    const request = codeOf(makeDetail(1, { requestHeaders }));
    expect(request.text).toBe("curl 'http://demo.vivarium.localhost:8080/v1/pets?limit=20'");
    expect(request.notes).toEqual(['Left out, because secrets are not recorded: Authorization, Cookie.']);
  });

  it('does not exist without a Host', () => {
    expect(entryCode(makeDetail(1, { authority: null }), STATUS, 'go')).toBeUndefined();
  });
});

describe('the appearance of an entry', () => {
  it.each([
    [200, false, '200 moss ok'],
    [101, false, '101 water link'],
    [429, false, '429 amber warning'],
    [502, false, '502 brick failed'],
    [200, true, '200 moss unplugged'],
    [null, true, 'none neutral unplugged'],
  ])('%s, aborted %s: %s', (status, aborted, looks) => {
    const { text, tone, icon } = statusLook({ status, aborted });
    expect(`${text} ${tone} ${icon}`).toBe(looks);
  });

  it('places the parts of the time one after the other', () => {
    const parts = timeline([
      { part: 'stages', ms: 1 },
      { part: 'waiting', ms: 2 },
      { part: 'receiving', ms: 1 },
    ]);
    expect(parts.map(({ from, share }) => [from, share])).toEqual([
      [0, 0.25],
      [0.25, 0.5],
      [0.75, 0.25],
    ]);
    expect(timeline([{ part: 'stages', ms: 0 }])[0]?.share).toBe(0);
  });
});
