import type { Socket } from 'node:net';
import type { Clock, Timer } from '../base/clock.ts';
import type { Exchange } from './exchange.ts';
import { FrameReader } from './frames.ts';
import { HEADER_OCTETS } from './message-guard.ts';

/** Connections kept at once, over both addresses. One more closes the one that has been idle longest (RFC 7766 §6.2.2). */
export const CONNECTIONS_MAX = 128;

/** RFC 7766 §6.2.3: a few seconds. Counted since the last whole query, so that one octet now and then gains nothing. */
export const IDLE_MS_MAX = 10_000;

/** How often idle connections are looked for. */
const SWEEP_MS = 1000;

/** Work on one connection before others have their turn: so many queries, or so many octets of replies. */
const TURN_QUERIES_MAX = 32;
const TURN_OCTETS_MAX = 65_536;

/** Replies that may wait for a client that does not read them; until they are gone, its queries wait too. */
const UNREAD_OCTETS_MAX = 262_144;

type Limits = Pick<Clock, 'monotonic' | 'realTimer'>;

/** All TCP connections: each one's queries answered in order, none able to hold up the others. */
export class Connections {
  readonly #exchange: Exchange;
  readonly #clock: Limits;
  /** By last query, the longest idle first: a Map keeps the order in which its keys were added. */
  readonly #open = new Map<Socket, { activeMs: number }>();
  #sweep: Timer | null = null;

  constructor(exchange: Exchange, clock: Limits) {
    this.#exchange = exchange;
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes over a connection that has just been made. */
  accept(socket: Socket): void {
    if (this.#open.size >= CONNECTIONS_MAX) {
      const [longestIdle] = this.#open.keys();
      if (longestIdle !== undefined) this.#drop(longestIdle);
    }
    this.#touch(socket);
    this.#armSweep();
    socket.setNoDelay(true);
    // A reset or a failed write ends this connection and nothing else.
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

/** One connection: reads queries as they come (RFC 7766 §6.2.1, pipelining), and answers each in its turn. */
class Conversation {
  readonly #socket: Socket;
  readonly #exchange: Exchange;
  readonly #onQuery: () => void;
  readonly #frames = new FrameReader();
  /** A turn is due, or waits for the client to read: nothing more is taken in until then. */
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
      // Too short for a header: whoever sends that does not speak DNS.
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

  /** Leaves the rest for later: the next turn of the event loop, or when the client has read its replies. */
  #wait(): void {
    this.#waiting = true;
    this.#socket.pause();
    if (this.#socket.writableLength > UNREAD_OCTETS_MAX) this.#socket.once('drain', () => this.#turn());
    else setImmediate(() => this.#turn());
  }
}
