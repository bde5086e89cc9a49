import { converse, type Fuzzer, inParallel, plain } from './fuzzer.ts';
import { mutate, pick } from './mutate.ts';

const FRAMES_PER_CONNECTION = 20;

/** Frames of a client: FIN, opcode and length, a masking key of zeros, the payload (RFC 6455 §5.2). */
const FRAMES = [
  ['81', 'hello'],
  ['01', 'begin'],
  ['80', 'end'],
  ['c1', 'compressed'],
  ['82', '\0\u0001\u0002'],
  ['89', 'ping'],
  ['8a', 'pong'],
  ['88', '\u0003\u00e8bye'],
].map(([head = '', text = '']) =>
  Buffer.concat([
    Buffer.from(`${head}${(0x80 | text.length).toString(16)}00000000`, 'hex'),
    Buffer.from(text, 'latin1'),
  ]),
);

export const WEB_SOCKET: Fuzzer = {
  name: 'WebSocket frames, through to an upstream',
  share: 0.1,
  async run({ vivarium, upstreamHost }, random, count) {
    const upgrade = Buffer.from(
      `GET / HTTP/1.1\r\nHost: ${upstreamHost}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await inParallel(Math.ceil(count / FRAMES_PER_CONNECTION), async () => {
      const frames = Array.from({ length: FRAMES_PER_CONNECTION }, () => mutate(pick(FRAMES, random), random));
      await converse(plain(vivarium.runtime.http.port), [upgrade, ...frames]);
    });
    return 0;
  },
};
