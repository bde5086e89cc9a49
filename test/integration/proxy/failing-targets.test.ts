import { expect, test } from 'vitest';
import { silentLog } from '../../../main/base/log.ts';
import { DEMO, untilConnections, type Handler, shareProxy } from '../../support/proxy/proxy-harness.ts';
import { openSocket, sendRaw } from '../../support/proxy/proxy-raw.ts';

const handlers: Record<string, Handler> = {
  '/throws': () => {
    throw new Error('boom');
  },
  '/rejects': () => Promise.reject(new Error('boom')),
  '/half': (_request, response) => {
    response.writeHead(200, { 'Content-Length': 100 }).write('half');
    throw new Error('boom');
  },
  '/leftovers': (_request, response) => {
    response.setHeader('X-Secret', 'yes');
    response.setHeader('Content-Length', 3);
    throw new Error('boom');
  },
  '/after-end': (_request, response) => {
    response.end('ok');
    response.write('more');
  },
  '/throws-after-end': (_request, response) => {
    response.end('ok');
    throw new Error('boom');
  },
  '/never': () => undefined,
};

const errors: unknown[] = [];
const running = await shareProxy({
  log: { ...silentLog, error: (_message, fields) => errors.push(fields?.['error']) },
  handle: (request, response, context) => handlers[request.url ?? '']?.(request, response, context),
});

const ask = (path: string) =>
  sendRaw(running.httpPort, `GET ${path} HTTP/1.1\r\nHost: ${DEMO}\r\nConnection: close\r\n\r\n`);

test.each(['/throws', '/rejects', '/leftovers'])(
  'a target that fails (%s) gives a 500, and is in the log',
  async (path) => {
    errors.length = 0;
    const answer = await ask(path);
    expect(answer.body).toMatchObject({ code: 'internal_error', status: 500 });
    expect(answer.text).not.toContain('X-Secret');
    expect(answer.text).not.toContain('boom');
    expect(errors).toEqual([new Error('boom')]);
  },
);

test('a target that fails half-way ends the connection, which marks the answer as incomplete', async () => {
  const answer = await ask('/half').catch(() => null);
  expect(answer?.text ?? '').not.toContain('boom');
});

test.each(['/after-end', '/throws-after-end'])(
  'a target that continues after its end (%s) has no effect',
  async (path) => {
    expect((await ask(path)).text).toMatch(/ok$/);
  },
);

test('a client that disconnects before its answer leaves nothing behind', async () => {
  const socket = await openSocket(running.httpPort);
  running.summaries.length = 0;
  socket.write(`GET /never HTTP/1.1\r\nHost: ${DEMO}\r\n\r\nGET /never HTTP/1.1\r\nHost: ${DEMO}\r\n\r\n`);
  while (running.limiter.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
  socket.resetAndDestroy();
  await untilConnections(running, 0);
  expect(running.summaries.map(({ status }) => status)).toEqual([null, null]);
});
