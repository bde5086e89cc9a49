import { execFile, spawnSync } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { statusLook, timeline } from '../../../renderer/state/entry-look.ts';
import { entryRequest } from '../../../renderer/state/entry-request.ts';
import { makeDetail } from '../../support/page-traffic.ts';
import { startUpstream } from '../../support/upstream-server.ts';

const STATUS = {
  ports: { http: 8080, https: 8443, dns: 5380, control: 4780 },
  dataDir: '/home/ada/.local/share/vivarium',
};

describe('a recorded request as code', () => {
  it('has the key’s variable in place of its secret, and leaves out what clients say by themselves', () => {
    const request = entryRequest(makeDetail(1), STATUS);
    expect(request?.curl).toBe(
      [
        'curl -H "Authorization: Bearer $VIVARIUM_KEY" \\',
        "  -H 'Accept: application/json' \\",
        "  'http://demo.vivarium.localhost:8080/v1/pets?limit=20'",
      ].join('\n'),
    );
    expect(request?.fetch).toContain('Authorization: `Bearer ${process.env.VIVARIUM_KEY}`');
    expect(request?.notes.curl).toEqual(['Set VIVARIUM_KEY to the key; its secret is not recorded.']);
    expect(request?.notes.fetch.at(-1)).toContain('which not every system does for *.localhost');
  });

  it('leads a custom domain to this machine, with the root for HTTPS', () => {
    const request = entryRequest(makeDetail(1, { scheme: 'https', authority: 'shop.acme.test:8443' }), STATUS);
    expect(request?.curl).toContain(
      'curl --connect-to ::127.0.0.1:8443 \\\n  --cacert /home/ada/.local/share/vivarium/ca/root.pem',
    );
    expect([request?.notes.curl.length, request?.notes.fetch.length]).toEqual([1, 3]);
  });

  it('has the body as it was, digit by digit, and says what is missing of it', () => {
    const body = {
      text: '{"name":"O’Neil\'s","categoryId":9007199254740993}',
      encoding: 'utf8',
      bytes: 49,
      cut: false,
    } as const;
    const request = entryRequest(makeDetail(1, { method: 'POST', requestBody: body, requestBytes: 49 }), STATUS);
    expect(request?.curl).toContain(`--data-raw '{"name":"O'"’"'Neil'"'"'s","categoryId":9007199254740993}'`);
    expect(entryRequest(makeDetail(1, { requestBody: { ...body, cut: true } }), STATUS)?.notes.curl).toContain(
      'Only the first 64 KiB of its body were recorded.',
    );
    expect(entryRequest(makeDetail(1, { requestBytes: 5 }), STATUS)?.notes.curl).toContain(
      'Its body was not recorded.',
    );
  });

  it.skipIf(spawnSync('python3', ['--version']).status !== 0).each([
    ['text', { text: '{"name":"O’Neil\'s \\ \u2028 \u0007 😀"}', encoding: 'utf8', bytes: 40, cut: false }],
    ['bytes', { text: '/wA=', encoding: 'base64', bytes: 2, cut: false }],
  ] as const)('is Python that sends the same %s (skipped without python3)', async (_what, requestBody) => {
    let received: { url: string | undefined; method: string | undefined; fields: unknown; body: Buffer } | undefined;
    const upstream = await startUpstream((request, response) => {
      void buffer(request).then((body) => {
        const { authorization, 'x-odd': odd } = request.headers;
        received = { url: request.url, method: request.method, fields: [authorization, odd], body };
        response.end();
      });
    });
    const detail = makeDetail(1, {
      method: 'POST',
      target: '/v1/pets?a="b"',
      authority: `127.0.0.1:${upstream.port}`,
      requestBody,
      requestBytes: requestBody.bytes,
      requestHeaders: [
        { name: 'Authorization', value: 'Bearer viv_3fQ9…' },
        { name: 'X-Odd', value: `a "b" {c} 'd' \\n` },
      ],
    });
    const program = entryRequest(detail, STATUS)?.python ?? '';
    await promisify(execFile)('python3', ['-c', program], {
      env: { ...process.env, VIVARIUM_KEY: 'k', NO_PROXY: '*' },
    });
    expect(received).toEqual({
      url: '/v1/pets?a="b"',
      method: 'POST',
      fields: ['Bearer k', `a "b" {c} 'd' \\n`],
      body: Buffer.from(requestBody.text, requestBody.encoding),
    });
  });

  it('says which shell it is for, where the system’s own is another', () => {
    const onWindows = { ...STATUS, dataDir: 'C:\\Users\\ada\\vivarium' };
    expect(entryRequest(makeDetail(1), onWindows)?.notes.curl.at(-1)).toContain('Git Bash or WSL');
  });

  it('brings bytes along that are no text', () => {
    const requestBody = { text: '/wA=', encoding: 'base64', bytes: 2, cut: false } as const;
    const request = entryRequest(makeDetail(1, { method: 'PUT', requestBody, requestBytes: 2 }), STATUS);
    expect(request?.curl).toMatch(/^printf %s \/wA= \| base64 -d \| curl -X PUT [^]*--data-binary @- /);
    expect(request?.fetch).toContain("body: Buffer.from('/wA=', 'base64')");
  });

  it.each([
    ['a key in its address', { target: '/v1/pets?key=viv_3fQ9…' }, 'replace … with it'],
    ['a body with GET', { requestBody: { text: '{}', encoding: 'utf8', bytes: 2, cut: false } }, 'no body with GET'],
    ['a path with steps', { target: '/a/../b' }, 'resolves . and .. in the path'],
    [
      'a token of somebody else',
      { requestHeaders: [{ name: 'Authorization', value: 'Bearer …' }] },
      'VIVARIUM_KEY to the token',
    ],
  ] as const)('says what becomes of %s', (_what, rest, note) => {
    const { requestHeaders, ...others } = { requestHeaders: undefined, ...rest };
    const detail = makeDetail(1, {
      ...others,
      ...(requestHeaders !== undefined && { requestHeaders: [...requestHeaders] }),
    });
    expect(entryRequest(detail, STATUS)?.notes.fetch.join(' ')).toContain(note);
  });

  it('has no secret that was redacted, and names what it leaves out', () => {
    const request = entryRequest(
      makeDetail(1, {
        requestHeaders: [
          { name: 'Authorization', value: 'Basic …' },
          { name: 'Cookie', value: 'session=…' },
        ],
      }),
      STATUS,
    );
    expect(request?.curl).toBe("curl 'http://demo.vivarium.localhost:8080/v1/pets?limit=20'");
    expect(request?.notes.curl).toEqual(['Left out, because secrets are not recorded: Authorization, Cookie.']);
  });

  it('is none without a Host', () => {
    expect(entryRequest(makeDetail(1, { authority: null }), STATUS)).toBeUndefined();
  });
});

describe('the looks of an entry', () => {
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

  it('lays the parts of the time out one after the other', () => {
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
