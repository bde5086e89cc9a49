import { describe, expect, it } from 'vitest';
import { CONTROL_TOKEN, startControl } from '../../support/rpc/rpc-control.ts';
import { bodyOf, exchangeRaw, requestRaw, statusOf } from '../../support/rpc/rpc-raw.ts';

const TOKEN_LINE = `Authorization: Bearer ${CONTROL_TOKEN}`;

describe('a request with the right token, but from the wrong place', () => {
  it.each<[string, (port: number) => string[]]>([
    ['a rebound name', (port) => [`Host: evil.example:${port}`]],
    ['our name on another port', (port) => [`Host: localhost:${port + 1}`]],
    ['our address without a port', () => ['Host: 127.0.0.1']],
    ['two Hosts', (port) => [`Host: 127.0.0.1:${port}`, 'Host: evil.example']],
    ['a foreign Origin', (port) => [`Host: 127.0.0.1:${port}`, 'Origin: http://evil.example']],
    ['a sandboxed page', (port) => [`Host: 127.0.0.1:${port}`, 'Origin: null']],
    ['a page of another port here', (port) => [`Host: 127.0.0.1:${port}`, 'Origin: http://127.0.0.1:8080']],
    ['a foreign page’s fetch', (port) => [`Host: 127.0.0.1:${port}`, 'Sec-Fetch-Site: cross-site']],
    [
      'a sibling page’s fetch',
      (port) => [`Host: localhost:${port}`, 'Sec-Fetch-Site: same-site', 'Sec-Fetch-Mode: cors'],
    ],
  ])('(%s) is answered 403 with the reason, for any path', async (_what, headersFor) => {
    const { port, fake } = await startControl();
    for (const line of [
      'POST /api/projects/list',
      'GET /api/openapi.json',
      'GET /',
      'GET /rpc',
      'OPTIONS /api/projects/list',
    ]) {
      const answer = await requestRaw(port, line, [...headersFor(port), TOKEN_LINE, 'Content-Length: 0']);
      expect([line, statusOf(answer)]).toEqual([line, 403]);
      expect(JSON.parse(bodyOf(answer))).toMatchObject({ code: 'forbidden', message: expect.stringMatching(/\.$/) });
      expect(answer).not.toMatch(/access-control/i);
    }
    expect(fake.calls).toEqual([]);
  });

  it('is refused with an absolute request target: the port is not a proxy', async () => {
    const { port } = await startControl();
    const answer = await requestRaw(port, `GET http://127.0.0.1:${port}/`, [`Host: 127.0.0.1:${port}`]);
    expect(statusOf(answer)).toBe(403);
  });

  it('is refused without Host', async () => {
    const { port } = await startControl();
    expect(statusOf(await exchangeRaw(port, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'))).toBe(400);
    expect(statusOf(await exchangeRaw(port, 'GET / HTTP/1.0\r\n\r\n'))).toBe(403);
  });

  it('gets nothing with CONNECT', async () => {
    const { port } = await startControl();
    expect(await exchangeRaw(port, 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n')).toBe('');
  });
});

describe('the control port’s own names', () => {
  it.each(['127.0.0.1', 'localhost', 'vivarium.localhost', 'LOCALHOST'])('include %s', async (hostname) => {
    const { port, fake } = await startControl();
    fake.stub('projects', 'list', () => []);
    const headers = [
      `Host: ${hostname}:${port}`,
      TOKEN_LINE,
      `Origin: http://${hostname.toLowerCase()}:${port}`,
      'Content-Length: 0',
    ];
    const answer = await requestRaw(port, 'POST /api/projects/list', headers);
    expect([statusOf(answer), bodyOf(answer)]).toEqual([200, '[]']);
    expect(answer).not.toMatch(/access-control/i);
  });

  it('include the IPv6 address on the same port, if the system has it', async () => {
    const { port, fake, lines } = await startControl();
    if (lines.some(({ message }) => message.includes('no IPv6'))) return;
    fake.stub('projects', 'list', () => []);
    const text = `POST /api/projects/list HTTP/1.1\r\nHost: [::1]:${port}\r\n${TOKEN_LINE}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    expect(statusOf(await exchangeRaw(port, text, '::1'))).toBe(200);
  });
});
