import { createSocket } from 'node:dgram';
import { framed, message, opt } from '../../support/dns/dns-client.ts';
import { sendPieces, type Fuzzer, inParallel, plain, split } from './fuzzer.ts';
import { mutate, pick } from './mutate.ts';

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
