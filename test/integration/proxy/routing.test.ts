import { afterEach, describe, expect, test } from 'vitest';
import { curl } from '../../support/command.ts';
import {
  DEMO,
  DEMO_SECRET,
  FREE,
  MOVED,
  PRO,
  SHOP,
  SHOP_SECRET,
  startProxy,
  shareProxy,
} from '../../support/proxy/proxy-harness.ts';
import { openSocket, readUntil, sendRaw } from '../../support/proxy/proxy-raw.ts';
import { DEFAULT_PROXY_LIMITS } from '../../../main/proxy/front/proxy-limits.ts';

const running = await shareProxy();
const base = `http://127.0.0.1:${running.httpPort}`;
afterEach(() => {
  running.limiter.asked = [];
  running.limiter.refusing = false;
  running.summaries.length = 0;
});

const close = 'Connection: close\r\n\r\n';

describe('a served hostname', () => {
  test('leads to its target, which learns how it was requested', async () => {
    const { stdout } = await curl(
      '--resolve',
      `${DEMO}:${running.httpPort}:127.0.0.1`,
      `http://${DEMO}:${running.httpPort}/v1/pets?limit=2`,
    );
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(JSON.parse(stdout.split('\r\n\r\n')[1] ?? '')).toEqual({
      method: 'GET',
      url: '/v1/pets?limit=2',
      bytes: 0,
      hostname: DEMO,
      keyId: null,
      scheme: 'http',
      origin: `http://${DEMO}:${running.httpPort}`,
      httpVersion: '1.1',
    });
  });

  test('is served on ::1 on the same port', async () => {
    const { stdout } = await curl(
      '--resolve',
      `${DEMO}:${running.httpPort}:[::1]`,
      `http://${DEMO}:${running.httpPort}/`,
    );
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(running.limiter.asked[0]?.caller).toMatchObject({ kind: 'address', address: '::1' });
  });

  test('is found with any case, a trailing dot, and another port in Host', async () => {
    const answer = await sendRaw(running.httpPort, `GET / HTTP/1.1\r\nHost: DEMO.Vivarium.localhost.:9\r\n${close}`);
    expect(answer.body).toMatchObject({ hostname: DEMO, origin: 'http://DEMO.Vivarium.localhost.:9' });
  });

  test('is found by an absolute-form target, which wins over Host', async () => {
    const answer = await sendRaw(running.httpPort, `GET http://${SHOP}/x?y HTTP/1.1\r\nHost: ${DEMO}\r\n${close}`);
    expect(answer.body).toMatchObject({ hostname: SHOP, url: '/x?y', origin: `http://${SHOP}` });
  });

  test('is found through a client that uses Vivarium as its HTTP proxy', async () => {
    const { stdout } = await curl('--noproxy', '', '--proxy', base, `http://${SHOP}/v1/pets`);
    expect(stdout).toContain(`"hostname":"${SHOP}"`);
  });

  test('answers HTTP/1.0 and closes', async () => {
    const answer = await sendRaw(running.httpPort, `GET / HTTP/1.0\r\nHost: ${DEMO}\r\n\r\n`);
    expect(answer.status).toBe(200);
  });

  test('ignores Upgrade: the request is answered normally, and the connection is not left hanging', async () => {
    const upgrade = `GET /ws HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`;
    expect((await sendRaw(running.httpPort, upgrade)).body).toMatchObject({ url: '/ws' });
  });

  test('answers OPTIONS * with Allow, and does not count it', async () => {
    const answer = await sendRaw(running.httpPort, `OPTIONS * HTTP/1.1\r\nHost: ${DEMO}\r\n${close}`);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('Allow: GET, HEAD, POST');
    expect(running.limiter.asked).toEqual([]);
  });
});

describe('a hostname that is not served', () => {
  test.each([
    ['no more of the body', DEFAULT_PROXY_LIMITS.drainBytesMax, 'keep-alive'],
    ['more of the body', DEFAULT_PROXY_LIMITS.drainBytesMax + 1, 'close'],
  ])(
    'is answered with the right Connection field if the request announces %s than is drained',
    async (_what, length, connection) => {
      const socket = await openSocket(running.httpPort);
      socket.write(`POST / HTTP/1.1\r\nHost: nope.test\r\nContent-Length: ${length}\r\n\r\n`);
      expect(/^connection: (.*)\r$/im.exec(await readUntil(socket, /\r\n\r\n/))?.[1]).toBe(connection);
      socket.destroy();
    },
  );

  test.each(['localhost', '127.0.0.1', '[::1]', 'x.demo.vivarium.localhost'])(
    '%s is answered with 404 and what is served',
    async (hostname) => {
      const { stdout } = await curl('--header', `Host: ${hostname}:${running.httpPort}`, `${base}/v1/pets`);
      expect(stdout).toMatch(/^HTTP\/1\.1 404 Not Found/);
      expect(stdout).toContain('Content-Type: application/json');
      expect(JSON.parse(stdout.split('\r\n\r\n')[1] ?? '')).toEqual({
        code: 'not_found',
        status: 404,
        message: expect.stringContaining(
          `Served here: http://demo-staging.vivarium.localhost:${running.httpPort}, http://${DEMO}:${running.httpPort}`,
        ) as unknown,
      });
      expect(running.limiter.asked).toEqual([]);
    },
  );

  test.each([
    'nope.acme.test',
    '__proto__',
    'rebound.evil.example',
    '127.0.0.1.evil.example',
    'vivarium.localhost.evil.example',
  ])('%s, which its owner may have pointed here, is answered without a list of hostnames', async (hostname) => {
    for (const accept of ['*/*', 'text/html']) {
      const { stdout } = await curl('-H', `Host: ${hostname}`, '-H', `Accept: ${accept}`, `${base}/v1/pets`);
      expect(stdout).toMatch(/^HTTP\/1\.1 404 Not Found/);
      expect(stdout).not.toContain(DEMO);
      const fields = `Host: ${hostname}\r\nAccept: ${accept}\r\n${close}`;
      const proxied = await sendRaw(running.httpPort, `GET http://${hostname}/ HTTP/1.1\r\n${fields}`);
      expect(proxied.status).toBe(403);
      expect(proxied.text).not.toContain(DEMO);
    }
  });

  test('is explained if it is attached, as plain text and in the page', async () => {
    const why = (hostname: string) => (hostname === 'shop.test' ? 'It belongs to <Acme>, and waits.' : null);
    const waiting = await startProxy({ whyUnserved: why });
    const ask = async (hostname: string, accept: string) => {
      const url = `http://127.0.0.1:${waiting.httpPort}/`;
      return (await curl('--header', `Host: ${hostname}`, '--header', `Accept: ${accept}`, url)).stdout;
    };
    expect(await ask('shop.test', '*/*')).toContain('"message":"It belongs to <Acme>, and waits. Served here: ');
    expect(await ask('shop.test', 'text/html')).toContain('It belongs to &lt;Acme&gt;, and waits.');
    expect(await ask('www.shop.test', '*/*')).toContain('No project has the hostname www.shop.test');
  });

  test('is answered with a page in a browser, with links to what is served', async () => {
    const host = 'Host: nope.vivarium.localhost';
    const { stdout } = await curl('--header', host, '--header', 'Accept: text/html,*/*;q=0.8', `${base}/`);
    expect(stdout).toMatch(/^HTTP\/1\.1 404 Not Found/);
    expect(stdout).toContain('Content-Type: text/html; charset=utf-8');
    expect(stdout).toContain(`Content-Security-Policy: default-src 'none'; style-src 'sha256-`);
    expect(stdout).toContain('Vary: Accept');
    expect(stdout).toContain(`<a href="http://${DEMO}:${running.httpPort}/">${DEMO}</a>`);
  });

  test('is answered while its body still arrives, and the connection stays open', async () => {
    const post = `POST / HTTP/1.1\r\nHost: nope.test\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`;
    const answer = await sendRaw(running.httpPort, `${post}GET / HTTP/1.1\r\nHost: ${DEMO}\r\n${close}`);
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });

  test('receives at most a megabyte of an endless body', async () => {
    const post = `POST / HTTP/1.1\r\nHost: nope.test\r\nContent-Length: 9000000\r\n\r\n`;
    await sendRaw(running.httpPort, post + 'x'.repeat(8_000_000)).catch(() => undefined);
    expect(running.summaries).toMatchObject([{ status: 404, stage: 'route' }]);
  });
});

describe('a redirect', () => {
  test('keeps scheme, port, path and query', async () => {
    const { stdout } = await curl('--header', `Host: ${MOVED}`, `${base}//v1/pets?limit=2&x=%2F`);
    expect(stdout).toMatch(/^HTTP\/1\.1 301 Moved Permanently/);
    expect(stdout).toContain(`Location: http://${SHOP}:${running.httpPort}//v1/pets?limit=2&x=%2F\r\n`);
    expect(running.limiter.asked).toEqual([]);
  });

  test.each([
    ['without a port, for a client that uses Vivarium as its proxy', () => ''],
    ['with the scheme’s own port', () => ':80'],
    ['with the listener’s port', () => `:${running.httpPort}`],
  ])('of a URL keeps its port: %s', async (_name, portOf) => {
    const answer = await sendRaw(
      running.httpPort,
      `GET http://${MOVED}${portOf()}/x?y HTTP/1.1\r\nHost: ${MOVED}\r\n${close}`,
    );
    expect(answer.status).toBe(301);
    const port = portOf() === ':80' ? '' : portOf();
    expect(answer.text).toContain(`Location: http://${SHOP}${port}/x?y\r\n`);
  });
});

describe('the caller', () => {
  const asked = async (hostname: string, ...headers: string[]) => {
    await curl(...['Host: ' + hostname, ...headers].flatMap((header) => ['--header', header]), `${base}/`);
    return running.limiter.asked;
  };
  const address = { kind: 'address', address: '127.0.0.1', projectId: 'prj_demo' };

  test.each<[string, string, string[], object]>([
    [
      'a key of the project',
      DEMO,
      [`Authorization: Bearer ${DEMO_SECRET}`],
      { caller: { kind: 'key', keyId: 'key_demo', projectId: 'prj_demo' }, limits: PRO },
    ],
    [
      'the scheme in another case',
      DEMO,
      [`authorization: bEARER ${DEMO_SECRET}`],
      { caller: { kind: 'key', keyId: 'key_demo', projectId: 'prj_demo' }, limits: PRO },
    ],
    ['no key', DEMO, [], { caller: address, limits: FREE }],
    ['a key of another project', DEMO, [`Authorization: Bearer ${SHOP_SECRET}`], { caller: address, limits: FREE }],
    [
      'a key that does not exist',
      DEMO,
      [`Authorization: Bearer viv_${'0'.repeat(32)}`],
      { caller: address, limits: FREE },
    ],
    ['a token of another kind', DEMO, ['Authorization: Bearer secret'], { caller: address, limits: FREE }],
    ['Basic', DEMO, ['Authorization: Basic YTpi'], { caller: address, limits: FREE }],
    [
      'two Authorization fields',
      DEMO,
      [`Authorization: Bearer ${DEMO_SECRET}`, `Authorization: Bearer ${DEMO_SECRET}`],
      { caller: address, limits: FREE },
    ],
  ])('with %s', async (_, hostname, headers, expected) => {
    expect(await asked(hostname, ...headers)).toEqual([{ method: 'take', ...expected }]);
  });

  test('one connection can carry the keys of several callers', async () => {
    const get = (secret: string): string => `GET / HTTP/1.1\r\nHost: ${DEMO}\r\nAuthorization: Bearer ${secret}\r\n`;
    await sendRaw(running.httpPort, `${get(DEMO_SECRET)}\r\n${get(SHOP_SECRET)}\r\n${get(DEMO_SECRET)}${close}`);
    expect(running.limiter.asked.map(({ caller }) => caller.kind)).toEqual(['key', 'address', 'key']);
  });

  test('a preflight is not counted, and not refused', async () => {
    running.limiter.refusing = true;
    const { stdout } = await curl(
      '--request',
      'OPTIONS',
      '--header',
      `Host: ${DEMO}`,
      '--header',
      'Access-Control-Request-Method: GET',
      `${base}/`,
    );
    expect(stdout).toMatch(/^HTTP\/1\.1 200/);
    expect(running.limiter.asked.map(({ method }) => method)).toEqual(['peek']);
  });

  test('a refusal is rendered by the target', async () => {
    running.limiter.refusing = true;
    const { stdout } = await curl('--header', `Host: ${DEMO}`, `${base}/`);
    expect(stdout).toMatch(/^HTTP\/1\.1 429/);
  });
});

describe('Expect: 100-continue', () => {
  const post = `POST / HTTP/1.1\r\nHost: ${DEMO}\r\nContent-Length: 3\r\nExpect: 100-continue\r\n`;

  test('a client that expects 100 gets it', async () => {
    const answer = await sendRaw(running.httpPort, `${post}${close}abc`);
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200']);
  });

  test('a refused client does not send its body', async () => {
    running.limiter.refusing = true;
    const answer = await sendRaw(running.httpPort, `${post}\r\n`);
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 429']);
  });

  test('a client that requests an unknown hostname does not send its body', async () => {
    const answer = await sendRaw(running.httpPort, `${post.replace(DEMO, 'nope.test')}\r\n`);
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
  });
});

test('every exchange is summarised, with the stage that answered it', async () => {
  await curl('--header', `Host: ${DEMO}`, '--header', `Authorization: Bearer ${DEMO_SECRET}`, `${base}/a?b`);
  await curl('--header', 'Host: nope.test', `${base}/c`);
  await curl('--header', `Host: ${MOVED}`, `${base}/d`);
  await sendRaw(running.httpPort, 'GET /e HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
  expect(running.summaries).toMatchObject([
    {
      stage: 'target',
      status: 200,
      hostname: DEMO,
      keyId: 'key_demo',
      method: 'GET',
      target: '/a?b',
      scheme: 'http',
      httpVersion: '1.1',
    },
    { stage: 'route', status: 404, hostname: 'nope.test', keyId: null, target: '/c', route: null },
    { stage: 'redirect', status: 301, hostname: MOVED, target: '/d' },
    { stage: 'authority', status: 400, hostname: null, target: '/e' },
  ]);
});
