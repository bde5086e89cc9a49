import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { codeOf } from '../../base/error-code.ts';

/** Where a DNS server listens. */
export interface ServerAddress {
  address: string;
  port: number;
}

export type TransportFailure = { failure: 'timeout' | 'unreachable' | 'malformed'; detail?: string };

export interface Attempt<Reply> {
  server: ServerAddress;
  query: Buffer;
  /** Real milliseconds until the attempt times out. */
  timeoutMs: number;
  clock: Pick<Clock, 'realTimer'>;
  /** Aborting ends the attempt. */
  signal: AbortSignal;
  /** Decodes a message; null when it is not the reply to this query. */
  read: (message: Buffer) => Reply | null;
}

const LENGTH_OCTETS = 2;

/**
 * One query over UDP, from an ephemeral port that the system picks at random (RFC 5452 §9.2). The socket is connected:
 * the system then drops datagrams from other senders and reports closed ports. Ignores messages that are not the reply.
 */
export function askUdp<Reply extends object>(attempt: Attempt<Reply>): Promise<Reply | TransportFailure> {
  const { server, query, read } = attempt;
  const socket = createSocket(server.address.includes(':') ? 'udp6' : 'udp4');
  return settle(
    attempt,
    () => socket.close(),
    (done, failed) => {
      socket.on('error', failed);
      socket.on('message', (message) => {
        const reply = read(message);
        if (reply !== null) done(reply);
      });
      socket.connect(server.port, server.address, () => {
        socket.send(query, (error) => {
          if (error !== null) failed(error);
        });
      });
    },
  );
}

/** One query over TCP, on its own connection (RFC 7766). The first message must be the reply. */
export function askTcp<Reply extends object>(attempt: Attempt<Reply>): Promise<Reply | TransportFailure> {
  const { server, query, read } = attempt;
  const socket = connect({ host: server.address, port: server.port });
  return settle(
    attempt,
    () => socket.destroy(),
    (done, failed) => {
      const chunks: Buffer[] = [];
      let octets = 0;
      socket.on('error', failed);
      socket.on('close', () => failed(new Error('the connection was closed before the reply')));
      socket.on('connect', () => {
        const length = Buffer.alloc(LENGTH_OCTETS);
        length.writeUInt16BE(query.length);
        socket.write(Buffer.concat([length, query]));
      });
      socket.on('data', (chunk) => {
        chunks.push(chunk);
        octets += chunk.length;
        if (octets < LENGTH_OCTETS) return;
        const received = Buffer.concat(chunks.splice(0));
        chunks.push(received);
        // Memory is bounded by one message of 65,535 octets and one more chunk.
        const end = LENGTH_OCTETS + received.readUInt16BE(0);
        if (octets < end) return;
        done(read(received.subarray(LENGTH_OCTETS, end)) ?? { failure: 'malformed' });
      });
    },
  );
}

/** Settles once, with the first result, and closes the socket. */
function settle<Reply extends object>(
  { timeoutMs, clock, signal }: Attempt<Reply>,
  close: () => void,
  begin: (done: (reply: Reply | TransportFailure) => void, failed: (error: Error) => void) => void,
): Promise<Reply | TransportFailure> {
  return new Promise((resolve) => {
    let settled = false;
    const done = (result: Reply | TransportFailure) => {
      if (settled) return;
      settled = true;
      timer.cancel();
      signal.removeEventListener('abort', abort);
      close();
      resolve(result);
    };
    const failed = (error: Error) => done({ failure: 'unreachable', detail: describe(error) });
    const abort = () => done({ failure: 'unreachable', detail: 'Vivarium is stopping' });
    const timer = clock.realTimer(timeoutMs, () => done({ failure: 'timeout' }));
    signal.addEventListener('abort', abort, { once: true });
    begin(done, failed);
    if (signal.aborted) abort();
  });
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'the port is closed',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to its network',
  ECONNRESET: 'it closed the connection',
};

function describe(error: Error): string {
  const code = codeOf(error) ?? '';
  return REASONS[code] ?? error.message;
}
