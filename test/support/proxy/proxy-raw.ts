import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** Everything a server sends on one connection, until it closes. */
export interface RawExchange {
  text: string;
  status: number | null;
  /** The JSON body, or null. */
  body: { code: string; message: string; status: number } | null;
}

/** Writes `bytes` to a fresh connection and reads until the server closes it. */
export function sendRaw(
  port: number,
  bytes: string | Buffer,
  options: { host?: string; halfClose?: boolean } = {},
): Promise<RawExchange> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: options.host ?? '127.0.0.1', allowHalfOpen: true });
    socket.on('connect', () => {
      if (options.halfClose === true) socket.end(bytes);
      else socket.write(bytes);
    });
    readToEnd(socket).then(
      (text) => {
        socket.destroy();
        resolve(parseRaw(text));
      },
      (error: unknown) => reject(error instanceof Error ? error : new Error(String(error))),
    );
  });
}

/** Everything that arrives on `socket`, in Latin-1, until the other side ends. */
export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('end', () => resolve(text));
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

/** Resolves with everything that has arrived on a connection or a pipe, once it contains `pattern`. */
export function readUntil(socket: Readable, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: Buffer | string): void => {
      text += typeof chunk === 'string' ? chunk : chunk.toString('latin1');
      if (!pattern.test(text)) return;
      socket.removeListener('data', onData);
      resolve(text);
    };
    socket.on('data', onData);
    socket.on('close', () => reject(new Error(`The connection was closed before ${String(pattern)}: ${text}`)));
    socket.on('error', reject);
  });
}

export function parseRaw(text: string): RawExchange {
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
  const bodyText = text.slice(text.indexOf('\r\n\r\n') + 4);
  let body: RawExchange['body'] = null;
  try {
    body = JSON.parse(bodyText) as RawExchange['body'];
  } catch {
    // Not every answer has one.
  }
  return { text, status: status === undefined ? null : Number(status), body };
}

/** Connects, waits until the connection is established, and writes `bytes`. */
export function openSocket(port: number, bytes: string | Buffer = '', host = '127.0.0.1'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.removeListener('error', reject);
      // Each test checks the outcome itself; a reset must not end the process.
      socket.on('error', () => undefined);
      socket.write(bytes);
      resolve(socket);
    });
  });
}

/** Resolves when the socket is closed, for whatever reason. */
export function closed(socket: Socket): Promise<void> {
  if (socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    socket.resume();
    socket.on('close', () => resolve());
    socket.on('end', () => socket.destroy());
  });
}
