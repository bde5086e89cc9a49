import { once } from 'node:events';
import { constants, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, test } from 'vitest';
import type { Answer } from '../../../main/base/http/answer.ts';
import { octetsAnswer, ownFile } from '../../../main/proxy/front/own-paths.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { answerOn, DEFAULT_LEAF, DEMO, startProxy, openHttp2 } from '../../support/proxy/proxy-harness.ts';
import type { RunningProxy } from '../../support/proxy/proxy-harness.ts';

const certificates = createTestCertificates(['localhost', DEFAULT_LEAF]);
let running: RunningProxy;
let session: ClientHttp2Session;
let later: ((answer: Answer) => void)[];

const gone = (): void => undefined;
const answerOf = (body: string): Answer => octetsAnswer(200, 'text/plain', Buffer.from(body));

beforeEach(async () => {
  later = [];
  running = await startProxy({
    certificates,
    limits: { sweepIntervalMs: 20, requestTimeoutMs: 200, headerFieldsMax: 20 },
    ownPaths: new Map([
      ['/file', ownFile({ contentType: 'text/plain', read: () => Buffer.from('ours') })],
      ['/later', (_request, answer) => void later.push(answer)],
      ['/length', ({ body }, answer) => void text(body).then(({ length }) => answer(answerOf(`${length}`)), gone)],
    ]),
  });
  session = openHttp2(running, { hostname: 'localhost' });
});

async function ask(headers: OutgoingHttpHeaders, body?: string) {
  const stream = session.request(headers, { endStream: body === undefined });
  const answer = await answerOn(body === undefined ? stream : stream.end(body));
  return { status: answer.status, body: answer.text };
}

test('a stream for a path of Vivarium is answered directly, unless a stage refuses it', async () => {
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, 'y']));
  expect({
    get: await ask({ ':path': '/file?query' }),
    head: await ask({ ':path': '/file', ':method': 'HEAD' }),
    delete: await ask({ ':path': '/file', ':method': 'DELETE' }),
    post: await ask({ ':path': '/length', ':method': 'POST' }, 'x'.repeat(70_000)),
  }).toEqual({
    get: { status: 200, body: 'ours' },
    head: { status: 200, body: '' },
    delete: { status: 405, body: 'Read this file with GET.\n' },
    post: { status: 200, body: '70000' },
  });
  expect(running.summaries).toEqual([]);

  // These pass the stages and get the same answer, or a stage's refusal.
  expect(await ask({ ':path': '/file', ':authority': 'localhost.' })).toEqual({ status: 200, body: 'ours' });
  expect(await ask({ ':path': '/length', ':method': 'POST', ':authority': 'localhost.' }, 'four')).toMatchObject({
    body: '4',
  });
  expect(await ask({ ':path': '/file', ':authority': 'localhost', host: DEMO })).toMatchObject({ status: 400 });
  expect(await ask({ ':path': '/file', ':scheme': 'http' })).toMatchObject({ status: 421 });
  expect(await ask({ ':path': '/file', ...many })).toMatchObject({ status: 431 });
  expect(running.summaries).toHaveLength(5);
});

test('a body that does not arrive ends its stream at the time limit, and no other', async () => {
  const stream = session.request({ ':path': '/length', ':method': 'POST' });
  const ended = once(stream, 'close');
  expect(await ask({ ':path': '/file' })).toMatchObject({ body: 'ours' });
  await ended.catch(() => undefined);
  expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  expect(await ask({ ':path': '/file' })).toMatchObject({ body: 'ours' });
  expect(running.proxy.inProgress()).toBe(0);
});

test('stopping waits for a delayed answer', async () => {
  const answered = ask({ ':path': '/later' });
  while (later.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(running.proxy.inProgress()).toBe(1);
  const stopped = running.proxy.stop(10_000);
  later[0]?.(answerOf('late'));
  expect(await answered).toEqual({ status: 200, body: 'late' });
  await stopped;
  expect(running.proxy.connections()).toBe(0);
});

test('an answer to a disconnected client is dropped', async () => {
  const stream = session.request({ ':path': '/later' });
  while (later.length === 0) await new Promise((resolve) => setImmediate(resolve));
  stream.close(constants.NGHTTP2_CANCEL);
  while (running.proxy.inProgress() > 0) await new Promise((resolve) => setImmediate(resolve));
  later[0]?.(answerOf('for nobody'));
  expect(await ask({ ':path': '/file' })).toMatchObject({ body: 'ours' });
});
