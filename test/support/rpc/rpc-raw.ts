import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A connection for hand-written bytes; closed after the test. */
export async function openRaw(port: number, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return socket;
}

/** Sends `text` unchanged, and returns all output until the server closes the connection. */
export async function exchangeRaw(port: number, text: string, host?: string): Promise<string> {
  const socket = await openRaw(port, host);
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(text);
  await closed;
  return answer;
}

/** One request with exactly these headers, on a connection that closes after it. */
export function requestRaw(port: number, line: string, headers: readonly string[], body = ''): Promise<string> {
  return exchangeRaw(port, `${line} HTTP/1.1\r\n${['Connection: close', ...headers].join('\r\n')}\r\n\r\n${body}`);
}

export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);

export const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n') + 4);
