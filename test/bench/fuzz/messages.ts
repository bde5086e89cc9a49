import { createSocket } from 'node:dgram';
import { ask } from '../../support/acme/acme-client.ts';
import { serveChallenges } from '../../support/acme/acme-kills.ts';
import { mutatedRequest, requestTemplates } from '../../support/acme/acme-mutations.ts';
import { createRemoteClient } from '../../support/acme/acme-remote.ts';
import { framed, message, opt } from '../../support/dns/dns-client.ts';
import {
  GREASE_EXTENSION,
  buildClientHello,
  extension,
  record,
  records,
  serverNameExtension,
} from '../../support/proxy/proxy-client-hello.ts';
import { type FuzzTarget, type Fuzzer, inParallel, plain, sendPieces, split } from './fuzzer.ts';
import { mutate, pick } from './mutate.ts';

/** Seeds of single messages. */
const SEEDS = 0x7fff_ffff;

export const ACME: Fuzzer = {
  name: 'ACME',
  share: 0.1,
  async run({ vivarium: { runtime, call } }, random, count) {
    const client = createRemoteClient(runtime);
    const web = await serveChallenges((await client.keyAuthorization('')).slice(1));
    let faults = 0;
    try {
      await call('settings.update', { acmeHttpPort: web.port });
      await call('zones.create', { name: 'acme.test' });
      await call('records.put', { zone: 'acme.test', name: '*', type: 'A', value: '127.0.0.1' });
      await client.register();
      const templates = await requestTemplates(client, client.origin);
      const nonces: string[] = [];
      await inParallel(count, async () => {
        const seed = random(SEEDS);
        const nonce = nonces.pop() ?? (await ask(client, '/acme/new-nonce', 'HEAD')).fields['replay-nonce']?.[0] ?? '';
        const { status, headers } = await client.answer(mutatedRequest(templates, client, { nonce, seed }));
        if (status === 500) faults += 1;
        const at = headers.findIndex((name) => name.toLowerCase() === 'replay-nonce');
        if (at >= 0) nonces.push(headers[at + 1] ?? '');
      });
    } finally {
      client.close();
      web.close();
    }
    return faults;
  },
};

const ALPN = extension(16, Buffer.from('000c02683208687474702f312e31', 'hex'));
const VERSIONS = extension(43, Buffer.from('0403040303', 'hex'));

export const CLIENT_HELLO: Fuzzer = {
  name: 'ClientHello',
  share: 0.07,
  async run({ vivarium, apiHost }, random, count) {
    const hello = buildClientHello({ extensions: [GREASE_EXTENSION, serverNameExtension(apiHost), ALPN, VERSIONS] });
    const bare = buildClientHello({ extensions: null, sessionId: Buffer.alloc(32, 7) });
    const seeds = [record(hello), records(hello, 20), record(bare)];
    await inParallel(count, async () => {
      const pieces = split(mutate(pick(seeds, random), random), random);
      await sendPieces(plain(vivarium.runtime.https.port), pieces);
    });
    return 0;
  },
};

/** A full socket queue drops messages; pauses let the server read them all. */
const BURST = 50;

/** One in this many goes over TCP. */
const TCP_EVERY = 10;

const QUERIES = [
  message(),
  message({ name: 'demo.vivarium.localhost', type: 28, rest: opt() }),
  message({ name: 'a.b.c.d.e.f.g.h.test', type: 257, rest: opt({ flags: 0x8000 }) }),
  message({ name: 'vivarium.localhost', type: 6 }),
  message({ name: 'x'.repeat(63) + '.test', type: 255, class: 255 }),
  message({ flags: 0x2800, type: 6, counts: [1, 0, 1, 1], rest: Buffer.alloc(40, 0xc0) }),
  message({ rest: opt({ options: Buffer.from('000a0008aabbccddeeff0011', 'hex') }) }),
];

export const DNS: Fuzzer = {
  name: 'DNS over UDP and TCP',
  share: 0.4,
  async run({ vivarium }, random, count) {
    const { port } = vivarium.runtime.dns;
    const socket = createSocket('udp4');
    socket.on('error', () => undefined);
    const streams: Buffer[][] = [];
    for (let sent = 0; sent < count; sent++) {
      const query = mutate(pick(QUERIES, random), random);
      if (sent % TCP_EVERY === 0) streams.push(split(framed(query), random));
      else socket.send(query, port, '127.0.0.1');
      if (sent % BURST === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await inParallel(streams.length, async (index) => void (await sendPieces(plain(port), streams[index] ?? [])));
    socket.close();
    return 0;
  },
};

const templates = ({ apiHost, upstreamHost, secret, vivarium }: FuzzTarget): Buffer[] => {
  const authority = `${apiHost}:${vivarium.runtime.http.port}`;
  const json = '{"name":"Rex","categoryId":9007199254740993,"status":"sold"}';
  const post = `Host: ${authority}\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n`;
  const chunked = `Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3;a=b\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n`;
  return [
    `GET /v1/pets?limit=2&status=sold&after=7 HTTP/1.1\r\nHost: ${authority}\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
    `POST /v1/pets HTTP/1.1\r\n${post}Content-Length: ${json.length}\r\n\r\n${json}`,
    `POST /v1/pets HTTP/1.1\r\n${post}Expect: 100-continue\r\n${chunked}`,
    `GET http://${authority}/v1/openapi.json HTTP/1.1\r\nHost: ${authority}\r\nAccept: text/html;q=0.9, */*\r\n\r\n`,
    `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\nGET / HTTP/1.0\r\nHost: ${authority}\r\n\r\n`,
    `OPTIONS * HTTP/1.1\r\nHost: ${authority}\r\nMax-Forwards: 0\r\n\r\nHEAD / HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
    `PUT /up?x=%20 HTTP/1.1\r\nHost: ${upstreamHost}\r\nX-Forwarded-For: 10.0.0.1\r\nForwarded: for="[::1]:1"\r\n${chunked}`,
    `GET /up HTTP/1.1\r\nHost: ${upstreamHost}\r\nVia: 1.1 a, 2 b\r\nConnection: close, X-A\r\nX-A: 1\r\nTE: trailers\r\n\r\n`,
  ].map((text) => Buffer.from(text, 'latin1'));
};

export const HTTP1: Fuzzer = {
  name: 'HTTP/1.1, to the API and to an upstream',
  share: 0.15,
  async run(target, random, count) {
    const seeds = templates(target);
    let faults = 0;
    await inParallel(count, async () => {
      const pieces = split(mutate(pick(seeds, random), random), random);
      const answer = await sendPieces(plain(target.vivarium.runtime.http.port), pieces);
      if (/^HTTP\/1\.1 500 /m.test(answer.toString('latin1'))) faults += 1;
    });
    return faults;
  },
};
