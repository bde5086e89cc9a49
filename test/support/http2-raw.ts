import { connect as tlsConnect, type TLSSocket } from 'node:tls';

/** Frame types and flags of HTTP/2 that tests write and read (RFC 9113 §6). */
const [DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY] = [0, 1, 3, 4, 7];
const [END_STREAM, END_HEADERS] = [1, 4];
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field as a literal without indexing, with its bytes unchanged (RFC 7541 §6.2.2): whatever a client may send. */
export function literal([name, value]: readonly [string, string]): Buffer {
  const part = (text: string): Buffer => {
    const bytes = Buffer.from(text, 'latin1');
    if (bytes.length > 126) throw new Error('Longer than one byte of length says.');
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  };
  return Buffer.concat([Buffer.from([0]), part(name), part(value)]);
}

/** A received frame. */
export interface Frame {
  type: number;
  flags: number;
  stream: number;
  payload: Buffer;
}

/** Sends one request over HTTP/2 with these fields, and passes each frame of its connection to `onFrame`. */
function exchangeFrames(
  port: number,
  servername: string,
  fields: readonly (readonly [string, string])[],
  body: string | undefined,
  {
    onFrame,
    onClose,
    onError,
  }: { onFrame: (frame: Frame) => void; onClose: () => void; onError: (error: Error) => void },
): TLSSocket {
  const socket = tlsConnect({ port, host: '127.0.0.1', servername, ALPNProtocols: ['h2'], rejectUnauthorized: false });
  socket.on('error', onError);
  socket.on('close', onClose);
  socket.on('secureConnect', () => {
    const flags = body === undefined ? END_HEADERS | END_STREAM : END_HEADERS;
    socket.write(Buffer.concat([Buffer.from(PREFACE), frame(SETTINGS, 0, 0, Buffer.alloc(0))]));
    socket.write(frame(HEADERS, flags, 1, Buffer.concat(fields.map(literal))));
    if (body !== undefined) socket.write(frame(DATA, END_STREAM, 1, Buffer.from(body, 'latin1')));
  });
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
      const end = 9 + received.readUIntBE(0, 3);
      const [type, flags, stream] = [received.readUInt8(3), received.readUInt8(4), received.readUInt32BE(5)];
      onFrame({ type, flags, stream, payload: received.subarray(9, end) });
      received = received.subarray(end);
    }
  });
  return socket;
}

/** The outcome of one stream: the status of its answer, or how it was ended. */
export type StreamEnd = 'answered' | 'reset' | 'goaway' | 'closed';

/**
 * Sends one request over HTTP/2 whose fields no well-behaved client would send, and returns how it ends. `answered`
 * does not tell the status: HPACK is not decoded here.
 */
export function sendHttp2(
  port: number,
  servername: string,
  fields: readonly (readonly [string, string])[],
  body?: string,
): Promise<StreamEnd> {
  return new Promise((resolve, reject) => {
    const socket = exchangeFrames(port, servername, fields, body, {
      onFrame({ type }) {
        const how = type === HEADERS ? 'answered' : type === RST_STREAM ? 'reset' : type === GOAWAY ? 'goaway' : null;
        if (how === null) return;
        resolve(how);
        socket.destroy();
      },
      onClose: () => resolve('closed'),
      onError: reject,
    });
  });
}

/** The frames of the answer to one request: `HEADERS`, `DATA 5`, `HEADERS END_STREAM`, `RST_STREAM 2`. */
export function framesOf(
  port: number,
  servername: string,
  fields: readonly (readonly [string, string])[],
  body?: string,
): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const frames: string[] = [];
    const socket = exchangeFrames(port, servername, fields, body, {
      onFrame({ type, flags, stream, payload }) {
        if (stream !== 1) return;
        const isLast = (flags & END_STREAM) !== 0 || type === RST_STREAM;
        const end = type !== RST_STREAM && isLast ? ' END_STREAM' : '';
        if (type === HEADERS) frames.push(`HEADERS${end}`);
        if (type === DATA) frames.push(`DATA ${payload.length}${end}`);
        if (type === RST_STREAM) frames.push(`RST_STREAM ${payload.readUInt32BE(0)}`);
        if (isLast) socket.end();
      },
      onClose: () => resolve(frames),
      onError: reject,
    });
  });
}
