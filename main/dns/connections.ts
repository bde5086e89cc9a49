import type { Socket } from 'node:net';
import type { Clock, Timer } from '../base/clock.ts';
import type { Exchange } from './exchange.ts';
import { FrameReader } from './frames.ts';
import { HEADER_OCTETS } from './message-guard.ts';

/** Maximum connections over both addresses. Another one closes the longest idle (RFC 7766 §6.2.2). */
export const CONNECTIONS_MAX = 128;

/**
 * RFC 7766 §6.2.3: a few seconds. Counted from the last complete query, because a slow trickle of octets must not
 * extend it.
 */
export const IDLE_MS_MAX = 10_000;

/** How often idle connections are closed. */
const SWEEP_MS = 1000;

/** Work on one connection per turn, in queries and octets of replies, before other connections run. */
const TURN_QUERIES_MAX = 32;
const TURN_OCTETS_MAX = 65_536;

/** Replies queued for a client that does not read them; beyond this, its queries wait too. */
const UNREAD_OCTETS_MAX = 262_144;

type Limits = Pick<Clock, 'monotonic' | 'realTimer'>;

/** All TCP connections: answers queries in order on each, and shares the event loop fairly between them. */
export class Connections {
  readonly #exchange: Exchange;
  readonly #clock: Limits;
  /** Ordered by last query, longest idle first: a Map keeps insertion order. */
  readonly #open = new Map<Socket, { activeMs: number }>();
  #sweep: Timer | null = null;

  constructor(exchange: Exchange, clock: Limits) {
    this.#exchange = exchange;
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes ownership of a new connection. */
  accept(socket: Socket): void {
    if (this.#open.size >= CONNECTIONS_MAX) {
      const [longestIdle] = this.#open.keys();
      if (longestIdle !== undefined) this.#drop(longestIdle);
    }
    this.#touch(socket);
    this.#armSweep();
    socket.setNoDelay(true);
    // A reset or a failed write ends this connection only.
    socket.on('error', () => this.#drop(socket));
    socket.on('close', () => this.#drop(socket));
    new Conversation(socket, this.#exchange, () => this.#touch(socket));
  }

  closeAll(): void {
    for (const socket of [...this.#open.keys()]) this.#drop(socket);
    this.#sweep?.cancel();
    this.#sweep = null;
  }

  #touch(socket: Socket): void {
    if (socket.destroyed) return;
    this.#open.delete(socket);
    this.#open.set(socket, { activeMs: this.#clock.monotonic() });
  }

  #drop(socket: Socket): void {
    this.#open.delete(socket);
    socket.destroy();
  }

  #armSweep(): void {
    this.#sweep ??= this.#clock.realTimer(SWEEP_MS, () => {
      this.#sweep = null;
      const idleSinceMs = this.#clock.monotonic() - IDLE_MS_MAX;
      for (const [socket, { activeMs }] of this.#open) {
        if (activeMs > idleSinceMs) break;
        this.#drop(socket);
      }
      if (this.#open.size > 0) this.#armSweep();
    });
  }
}

/** One connection: reads pipelined queries as they arrive (RFC 7766 §6.2.1) and answers them in order. */
class Conversation {
  readonly #socket: Socket;
  readonly #exchange: Exchange;
  readonly #onQuery: () => void;
  readonly #frames = new FrameReader();
  /** A turn is scheduled, or the client must read first; reading is paused until then. */
  #waiting = false;
  #peerEnded = false;

  constructor(socket: Socket, exchange: Exchange, onQuery: () => void) {
    this.#socket = socket;
    this.#exchange = exchange;
    this.#onQuery = onQuery;
    socket.on('data', (chunk: Buffer) => {
      this.#frames.push(chunk);
      if (!this.#waiting) this.#turn();
    });
    socket.on('end', () => {
      this.#peerEnded = true;
      if (!this.#waiting) this.#turn();
    });
  }

  #turn(): void {
    this.#waiting = false;
    if (this.#socket.destroyed) return;
    this.#socket.cork();
    let octets = 0;
    let exhausted = false;
    for (let queries = 0; ; queries++) {
      if (queries === TURN_QUERIES_MAX || octets > TURN_OCTETS_MAX) break;
      const message = this.#frames.next();
      if (message === null) {
        exhausted = true;
        break;
      }
      // Too short for a header: the peer does not speak DNS.
      if (message.length < HEADER_OCTETS) return void this.#socket.destroy();
      this.#onQuery();
      octets += this.#reply(message);
    }
    this.#socket.uncork();
    if (exhausted) this.#readOn();
    else this.#wait();
  }

  #reply(message: Buffer): number {
    const reply = this.#exchange(message, 'tcp');
    if (reply === null) return 0;
    const length = Buffer.allocUnsafe(2);
    length.writeUInt16BE(reply.length);
    this.#socket.write(length);
    this.#socket.write(reply);
    return reply.length;
  }

  #readOn(): void {
    if (!this.#peerEnded) {
      if (this.#socket.writableLength > UNREAD_OCTETS_MAX) this.#wait();
      else this.#socket.resume();
    } else this.#socket.end();
  }

  /** Defers the rest to the next turn of the event loop, or until the client has read its replies. */
  #wait(): void {
    this.#waiting = true;
    this.#socket.pause();
    if (this.#socket.writableLength > UNREAD_OCTETS_MAX) this.#socket.once('drain', () => this.#turn());
    else setImmediate(() => this.#turn());
  }
}
