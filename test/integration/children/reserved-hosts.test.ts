import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { openChildren } from '../../../main/children/children.ts';
import { openChildrenProxy } from '../../../main/children/proxy.ts';
import { track } from '../../support/engine.ts';
import { sendRaw } from '../../support/proxy/proxy-raw.ts';
import { startRawUpstream } from '../../support/upstream-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const HOST = 'api.vercel.com';

/** A server that notes what it is asked, and gives one answer. */
async function startNoting(answer: (socket: Socket) => void) {
  const asked: string[] = [];
  const { url } = await startRawUpstream((socket) => {
    socket.on('data', (data: Buffer) => {
      asked.push(data.toString('latin1'));
      answer(socket);
    });
  });
  return { asked, port: Number(new URL(url).port) };
}

/** A proxy whose children have one reserved host, and had another proxy before, which would reach the real one. */
async function open(enginePort: number | null) {
  const former = await startNoting((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  const proxy = await openChildrenProxy({
    enginePort: () => enginePort,
    env: { HTTPS_PROXY: `http://127.0.0.1:${former.port}`, HTTP_PROXY: `http://127.0.0.1:${former.port}` },
    trust: () => createSecureContext(),
    reserved: new Map([[HOST, 'provider:TOKEN']]),
  });
  track(() => proxy.close());
  const { port, username, password } = new URL(proxy.url);
  const field = `Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}\r\n`;
  return { former, port: Number(port), field };
}

const REQUESTS: [what: string, line: string][] = [
  ['CONNECT', `CONNECT ${HOST}:443 HTTP/1.1`],
  ['CONNECT in capitals, with a dot at the end', 'CONNECT API.Vercel.COM.:443 HTTP/1.1'],
  ['CONNECT to another port', `CONNECT ${HOST}:8443 HTTP/1.1`],
  ['an https URL', `GET https://${HOST}/v5/domains HTTP/1.1`],
  ['an http URL', `GET http://${HOST}/v5/domains HTTP/1.1`],
];

describe('a provider’s host is never reached for', () => {
  const engines: [what: string, start: () => Promise<number | null>][] = [
    ['is not running', () => Promise.resolve(null)],
    ['does not listen', () => Promise.resolve(1)],
    ['refuses', async () => (await startNoting((socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))).port],
    [
      'does not know the token',
      async () => (await startNoting((socket) => socket.end('HTTP/1.1 407 No\r\n\r\n'))).port,
    ],
    ['answers garbage', async () => (await startNoting((socket) => socket.end('\u0000\u0001 no HTTP\r\n\r\n'))).port],
    ['hangs up', async () => (await startNoting((socket) => socket.destroy())).port],
  ];
  const cases = engines.flatMap(([engine, start]) => REQUESTS.map(([what, line]) => ({ what, engine, start, line })));

  it.each(cases)('$what, when the engine $engine: 502', async ({ start, line }) => {
    const { former, port, field } = await open(await start());
    const answer = await sendRaw(port, `${line}\r\nHost: ${HOST}\r\n${field}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(502);
    expect(answer.text).toContain('Vivarium, which simulates it');
    expect(former.asked).toEqual([]);
  });
});

it.each([`CONNECT ${HOST}..:443`, `GET https://${HOST}../v5/domains`, `GET http://${HOST}../v5/domains`])(
  'with two dots at its end it is no name, and is dialled nowhere: %s',
  async (line) => {
    const { former, port, field } = await open(1);
    const answer = await sendRaw(port, `${line} HTTP/1.1\r\nHost: ${HOST}\r\n${field}Connection: close\r\n\r\n`);
    expect(answer.status).toBe(400);
    expect(former.asked).toEqual([]);
  },
);

it('the engine is asked with the token of the connection, and others are not', async () => {
  const engine = await startNoting((socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  const { port, field, former } = await open(engine.port);
  await sendRaw(port, `CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}\r\n${field}\r\n`);
  const token = Buffer.from('provider:TOKEN').toString('base64');
  expect(engine.asked.join('')).toContain(`proxy-authorization: Basic ${token}`);
  engine.asked.length = 0;
  await sendRaw(port, `CONNECT www.vercel.com:443 HTTP/1.1\r\nHost: x\r\n${field}\r\n`);
  expect(engine.asked.join('')).not.toContain(token);
  expect(former.asked.join('')).toContain('CONNECT www.vercel.com:443');
});

it.each(['*', HOST, '.vercel.com', 'vercel.com', 'localhost, API.VERCEL.COM:443'])(
  'NO_PROXY=%s stops the start, with the reason',
  async (excluded) => {
    const provider = {
      ...{ provider: 'vercel' as const, hosts: [HOST], proxyUrl: 'http://provider:TOKEN@127.0.0.1:1' },
      ...{ caFile: '/none', variables: {}, unset: [] },
    };
    const opening = openChildren({
      ...{ folder: temporaryFolder(), caFile: '/none', env: { no_proxy: excluded }, enginePort: () => null },
      providers: [provider],
    });
    await expect(opening).rejects.toThrow(`NO_PROXY covers ${HOST}`);
  },
);
