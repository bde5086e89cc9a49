import { frame, literal, PREFACE } from '../../support/http2-raw.ts';
import { sendPieces, type Fuzzer, type FuzzTarget, inParallel, secure } from './fuzzer.ts';
import { mutate, pick } from './mutate.ts';

/** Frame types (RFC 9113 §6). */
const [DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
];
const FRAMES_PER_CONNECTION = 25;

/** Frames of a stream; the client's streams have odd numbers. */
function frames({ apiHost, upstreamHost }: FuzzTarget, stream: number): Buffer[] {
  const head = (method: string, host: string, ...more: [string, string][]): Buffer => {
    const fields: [string, string][] = [
      ...(
        [
          [':method', method],
          [':scheme', 'https'],
          [':authority', host],
          [':path', '/v1/pets'],
        ] as const
      ).map(([name, value]): [string, string] => [name, value]),
      ...more,
    ];
    return Buffer.concat(fields.map(literal));
  };
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  return [
    frame(HEADERS, 5, stream, head('GET', apiHost)),
    frame(HEADERS, 4, stream, head('POST', upstreamHost, ['content-length', '3'])),
    frame(
      HEADERS,
      4,
      stream,
      head('CONNECT', upstreamHost, [':protocol', 'websocket'], ['sec-websocket-version', '13']),
    ),
    frame(HEADERS, 1, stream, head('GET', apiHost)),
    frame(CONTINUATION, 4, stream, literal(['x-more', '1'])),
    frame(DATA, 1, stream, Buffer.from('abc')),
    frame(DATA, 8, stream, Buffer.from('\u0002abc\0\0')),
    frame(PRIORITY, 0, stream, Buffer.from([0, 0, 0, 0, 16])),
    frame(RST_STREAM, 0, stream, number(8)),
    frame(SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 4]), number(65_535)])),
    frame(PUSH_PROMISE, 4, stream, number(2)),
    frame(PING, 0, 0, Buffer.alloc(8)),
    frame(GOAWAY, 0, 0, Buffer.alloc(8)),
    frame(WINDOW_UPDATE, 0, 0, number(1_000)),
    frame(WINDOW_UPDATE, 0, stream, number(0)),
  ];
}

export const HTTP2: Fuzzer = {
  name: 'HTTP/2 frames, extended CONNECT among them',
  share: 0.14,
  async run(target, random, count) {
    const open = secure(target.vivarium.runtime.https.port, target.apiHost, 'h2');
    const start = Buffer.concat([Buffer.from(PREFACE), frame(SETTINGS, 0, 0, Buffer.alloc(0))]);
    await inParallel(Math.ceil(count / FRAMES_PER_CONNECTION), async () => {
      const pieces = Array.from({ length: FRAMES_PER_CONNECTION }, (_, index) => {
        const whole = pick(frames(target, 1 + 2 * Math.floor(index / 2)), random);
        // A frame's header determines the rest of the connection, so the payload is changed more often.
        return random(3) === 0
          ? mutate(whole, random)
          : Buffer.concat([whole.subarray(0, 9), mutate(whole.subarray(9), random).subarray(0, whole.length - 9)]);
      });
      await sendPieces(open, [start, ...pieces]);
    });
    return 0;
  },
};
