import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/error-code.ts';

/** Where a DNS server listens. */
export interface ServerAddress {
  address: string;
  port: number;
}

export type TransportFailure = { failure: 'timeout' | 'unreachable' | 'malformed'; detail?: string };

/** What one attempt to get a reply needs. */
export interface Attempt<Reply> {
  server: ServerAddress;
  query: Buffer;
  /** Real milliseconds until it is given up. */
  timeoutMs: number;
  clock: Pick<Clock, 'realTimer'>;
  /** Ends the attempt when it aborts. */
  signal: AbortSignal;
  /** The reply of a message; null when it is not the reply to this query. */
  read: (message: Buffer) => Reply | null;
}

const LENGTH_OCTETS = 2;

/**
 * One query over UDP, from a port of its own that the system draws at random (RFC 5452 §9.2). The socket is connected,
 * so that the system drops datagrams from elsewhere, and reports that nobody listens. What is not the reply is passed over.
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

/** One query over TCP, on a connection of its own (RFC 7766). The first message that comes back is the reply, or an error. */
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
        // At most 65,535 octets and what came in one piece with them are kept.
        const end = LENGTH_OCTETS + received.readUInt16BE(0);
        if (octets < end) return;
        done(read(received.subarray(LENGTH_OCTETS, end)) ?? { failure: 'malformed' });
      });
    },
  );
}

/** Settles once, whatever comes first, and closes the socket. */
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
  ECONNREFUSED: 'nobody listens there',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no network to it',
  ECONNRESET: 'it closed the connection',
};

function describe(error: Error): string {
  const code = codeOf(error) ?? '';
  return REASONS[code] ?? error.message;
}
