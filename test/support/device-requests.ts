import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** One request of another device, as bytes or over HTTP/2. */
export interface DeviceRequest {
  port: number;
  /** The target of a CONNECT that comes first. */
  connect?: string;
  /** The server name of a TLS handshake; empty for none. Plain if omitted. */
  serverName?: string;
  /** The header section of HTTP/1.x, without the empty line. */
  head?: string;
  /** The header fields of HTTP/2. */
  fields?: OutgoingHttpHeaders;
}

/** The answer, the TLS alert, or the error of a connection. `text` is everything received. */
export interface DeviceAnswer {
  status: number | null;
  alert: string | null;
  text: string;
}

/** Run on the device: sends the requests of the file to the address, and prints the answers. */
if (process.argv[1] === import.meta.filename) {
  const [, , address = '', file = ''] = process.argv;
  const answers: DeviceAnswer[] = [];
  for (const asked of JSON.parse(readFileSync(file, 'utf8')) as DeviceRequest[]) {
    const refusal = (error: NodeJS.ErrnoException) => ({ status: null, alert: error.code ?? error.message, text: '' });
    answers.push(await send(address, asked).catch(refusal));
  }
  process.stdout.write(JSON.stringify(answers));
}

async function send(address: string, asked: DeviceRequest): Promise<DeviceAnswer> {
  let socket = connect(asked.port, address);
  await once(socket, 'connect');
  if (asked.connect !== undefined) {
    socket.write(`CONNECT ${asked.connect} HTTP/1.1\r\nHost: ${asked.connect}\r\n\r\n`);
    const answer = await readAnswer(socket);
    if (answer.status !== 200) return answer;
  }
  if (asked.serverName !== undefined) {
    const ALPNProtocols = [asked.fields === undefined ? 'http/1.1' : 'h2'];
    const secure = connectTls({ socket, servername: asked.serverName, rejectUnauthorized: false, ALPNProtocols });
    await once(secure, 'secureConnect');
    socket = secure;
  }
  if (asked.fields !== undefined) return sendHttp2(socket, asked.fields);
  socket.write(`${asked.head ?? ''}\r\n\r\n`);
  return readAnswer(socket);
}

/** Reads to the end of the connection, or of the head that makes it a tunnel. */
async function readAnswer(socket: Socket): Promise<DeviceAnswer> {
  let text = '';
  for (;;) {
    const chunk = await next(socket);
    text += chunk ?? '';
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
    const isTunnel = text.endsWith('\r\n\r\n') && (status === 101 || /^HTTP\/1\.1 200 Connection/.test(text));
    if (chunk === null || isTunnel) return { status: Number.isNaN(status) ? null : status, alert: null, text };
  }
}

function next(socket: Socket): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      socket.off('data', onData).off('end', onEnd).off('error', reject).pause();
    };
    const onData = (chunk: Buffer): void => {
      settle();
      resolve(chunk.toString());
    };
    const onEnd = (): void => {
      settle();
      resolve(null);
    };
    socket.on('data', onData).on('end', onEnd).on('error', reject).resume();
  });
}

function sendHttp2(socket: Socket, fields: OutgoingHttpHeaders): Promise<DeviceAnswer> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2('https://device.test', { createConnection: () => socket });
    session.on('error', reject);
    // A WebSocket needs the peer's settings first (RFC 8441 §3).
    session.on('remoteSettings', () => {
      const stream = session.request(fields, { endStream: fields[':method'] !== 'CONNECT' });
      let status: number | null = null;
      let text = '';
      const done = (): void => {
        session.destroy();
        resolve({ status, alert: null, text });
      };
      stream.on('response', (head) => {
        status = head[':status'] ?? null;
        if (fields[':method'] === 'CONNECT' && status === 200) done();
      });
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
      stream.on('error', reject).on('end', done);
    });
  });
}
