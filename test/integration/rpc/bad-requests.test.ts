import { createReadStream } from 'node:fs';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { ORPCError } from '@orpc/server';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { BODY_BYTES_MAX } from '../../../main/rpc/body.ts';
import { CONTROL_TOKEN, controlTest as it } from '../../support/rpc/rpc-control.ts';
import { bodyOf, exchangeRaw, openRaw, requestRaw, statusOf } from '../../support/rpc/rpc-raw.ts';

const CALL = 'POST /api/projects/list';
const call = (port: number) => [`Host: 127.0.0.1:${port}`, `Authorization: Bearer ${CONTROL_TOKEN}`];

describe('a body that cannot be read', () => {
  it.for([
    ['{"projectId":', /^The body is not JSON: /],
    ['projectId=1', /^The body is not JSON: /],
    ['{"a":1} {"b":2}', /^The body is not JSON: /],
    ['NaN', /^The body is not JSON: /],
    ['"text"', /^the input must be an object/],
    ['[]', /^the input must be an object/],
    ['null', /^the input must be an object/],
  ] as const)('(%s) is answered 400 with the reason', async ([body, message], { post }) => {
    const response = await post('projects.get', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(message) });
  });

  it('is refused if it is not UTF-8', async ({ url }) => {
    const response = await fetch(`${url}/api/projects/get`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${CONTROL_TOKEN}` },
      body: Buffer.from([0x7b, 0xff, 0x7d]),
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      { code: 'invalid_request', message: 'The body is not UTF-8.' },
    ]);
  });

  it('is refused if it is compressed', async ({ post }) => {
    expect((await post('projects.get', 'x', { 'Content-Encoding': 'gzip' })).status).toBe(415);
  });

  it('that announces too much is refused before it is sent', async ({ port, fake }) => {
    const head = [...call(port), `Content-Length: ${BODY_BYTES_MAX + 1}`, 'Expect: 100-continue'];
    const socket = await openRaw(port);
    socket.write(`${CALL} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
    const answer = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
    expect(statusOf(answer)).toBe(413);
    expect(JSON.parse(bodyOf(answer))).toMatchObject({ code: 'payload_too_large' });
    expect(fake.calls).toEqual([]);
  });

  it('that turns out too large is answered 413, which the client can read', async ({ url }) => {
    const [status, connection, text] = await new Promise<unknown[]>((resolve, reject) => {
      const sending = request(
        `${url}/api/projects/get`,
        { method: 'POST', headers: { Authorization: `Bearer ${CONTROL_TOKEN}` } },
        (response) => {
          let body = '';
          response.on('data', (chunk) => (body += String(chunk)));
          response.on('end', () => resolve([response.statusCode, response.headers.connection, body]));
        },
      );
      sending.on('error', reject);
      createReadStream('/dev/zero', { end: BODY_BYTES_MAX + 1_000_000 }).pipe(sending);
    });
    expect([status, connection]).toEqual([413, 'close']);
    expect(JSON.parse(String(text))).toMatchObject({
      code: 'payload_too_large',
      message: expect.stringContaining('134,283,264'),
    });
  });

  it('is requested from a client that sends Expect', async ({ port, fake }) => {
    fake.stub('projects', 'list', () => []);
    const socket = await openRaw(port);
    const answers: string[] = [];
    socket.write(
      `${CALL} HTTP/1.1\r\n${[...call(port), 'Content-Length: 2', 'Expect: 100-continue'].join('\r\n')}\r\n\r\n`,
    );
    for await (const chunk of Readable.from(socket)) {
      answers.push(String(chunk));
      if (answers.length === 1) socket.write('{}');
      else break;
    }
    expect(answers.map(statusOf)).toEqual([100, 200]);
  });

  it('that stops half-way affects no other call', async ({ port, post, fake }) => {
    fake.stub('projects', 'list', () => []);
    const socket = await openRaw(port);
    socket.write(`${CALL} HTTP/1.1\r\n${[...call(port), 'Content-Length: 100'].join('\r\n')}\r\n\r\n{"pro`);
    expect((await post('projects.list')).status).toBe(200);
    socket.destroy();
    expect((await post('projects.list')).status).toBe(200);
    expect(fake.calls).toHaveLength(2);
  });
});

describe('a body of many unknown properties', () => {
  it('is answered with the first hundred and the count of the others', async ({ post, fake }) => {
    fake.stub('projects', 'list', () => []);
    const names = Array.from({ length: 90_000 }, (_, index) => `"k${index}":0`);
    const response = await post('settings.update', `{${names.join(',')}}`);
    const answer = await response.text();
    expect(response.status).toBe(400);
    expect(answer.length).toBeLessThan(100_000);
    const { message, issues } = JSON.parse(answer) as { message: string; issues: unknown[] };
    expect(message).toMatch(/; and 89,997 more\.$/);
    expect(issues).toHaveLength(100);
    expect((await post('projects.list')).status).toBe(200);
  });

  it('is refused before it is parsed, with more than a hundred thousand', async ({ post, fake }) => {
    fake.stub('pets', 'import', () => ({ created: 0, rejected: [], rejectedTotal: 0 }));
    const names = (quote: string) => Array.from({ length: 1_000_000 }, (_, index) => `${quote}k${index}${quote}:0`);
    const body = `{${names('"').join(',')}}`;
    const parsing = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parsing.mockRestore());
    const response = await post('settings.update', body);
    expect([response.status, parsing.mock.calls.some(([text]) => text === body)]).toEqual([413, false]);
    expect(await response.text()).toContain('at most 100,000 strings, names of properties included');
    // Within a string, as in an import, they are text.
    const text = `[{${names('"').join(',')}}]`;
    const answer = await post('pets.import', { projectId: 'demo', format: 'json', text });
    expect(answer.status).toBe(200);
  });

  it('is answered briefly, however long their names are', async ({ post }) => {
    const answer = await (await post('settings.update', { ['x'.repeat(10_000_000)]: 0 })).text();
    expect(answer.length).toBeLessThan(10_000);
    expect(JSON.parse(answer)).toMatchObject({ issues: [{ path: `${'x'.repeat(200)}…` }] });
  });
});

it('an error that cannot be serialised is answered as an internal error', async ({ post, fake }) => {
  fake.stub('projects', 'list', () => {
    throw new ORPCError('not_found', { data: { issues: [1n] } });
  });
  const response = await post('projects.list');
  expect([response.status, await response.json()]).toEqual([
    500,
    { code: 'internal_error', message: expect.stringContaining('its log has the reason') },
  ]);
  fake.stub('projects', 'list', () => []);
  expect((await post('projects.list')).status).toBe(200);
});

describe('a malformed request', () => {
  it.for([
    ['nonsense', 'nonsense\r\n\r\n', 400],
    ['a TLS greeting', '\u0016\u0003\u0001\u0002\u0000\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['a header without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const)('(%s) is answered with its status and one sentence', async ([_what, text, status], { port }) => {
    const answer = await exchangeRaw(port, text);
    expect(statusOf(answer)).toBe(status);
    expect(JSON.parse(bodyOf(answer))).toMatchObject({ message: expect.stringMatching(/\.$/) });
  });

  it('an offer to upgrade to HTTP/2 is ignored', async ({ port, fake }) => {
    fake.stub('projects', 'list', () => []);
    const headers = [...call(port), 'Upgrade: h2c', 'Connection: Upgrade', 'Content-Length: 0'];
    const socket = await openRaw(port);
    socket.write(`${CALL} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
    const answer = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
    expect(statusOf(answer)).toBe(200);
  });

  it('a plain request for the path of the WebSocket is answered with an explanation', async ({ port }) => {
    const answer = await requestRaw(port, 'GET /rpc', [`Host: 127.0.0.1:${port}`]);
    expect([statusOf(answer), bodyOf(answer)]).toEqual([400, expect.stringContaining('WebSocket')]);
  });
});
