import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Exchange } from './exchange.ts';
import { HEADER_OCTETS } from '../wire/message-guard.ts';
import type { Strikes } from './strike.ts';

/** Maximum connections over both addresses. Another one closes the longest idle (RFC 7766 §6.2.2). */
export const CONNECTIONS_MAX = 128;

/**
 * Of these, connections that have sent no query yet. The rest is reserved for the others: silent clients cannot close a
 * connection in use, nor can clients with many queries close a new one.
 */
export const NEWCOMERS_MAX = CONNECTIONS_MAX / 2;

/**
 * RFC 7766 §6.2.3: a few seconds. Counted from the last complete query, because a slow trickle of octets must not
 * extend it.
 */
export const IDLE_MS_MAX = 10_000;

/** How often idle connections are closed. */
const SWEEP_MS = 1000;

/** Work on one connection per turn, in queries and octets of replies, before anything else runs. */
const TURN_QUERIES_MAX = 32;
const TURN_OCTETS_MAX = 65_536;

/** Replies queued for a client that does not read them; beyond this, its queries wait too. */
const UNREAD_OCTETS_MAX = 262_144;

/** Octets of the length before each message (RFC 1035 §4.2.2). */
const LENGTH_OCTETS = 2;

type Limits = Pick<Clock, 'monotonic' | 'realTimer'>;

/** The part that answers a message, and the part that breaks answers. */
interface Answering {
  exchange: Exchange;
  strikes: Strikes;
}

/** All TCP connections: answers queries in order on each, and shares the event loop fairly between them. */
export class Connections {
  readonly #answering: Answering;
  readonly #clock: Limits;
  /** The times of their last queries, longest idle first: a Map keeps insertion order. */
  readonly #asked = new Map<Socket, number>();
  /** Connections without a query yet, with their start times, oldest first. */
  readonly #newcomers = new Map<Socket, number>();
  readonly #turns = new Turns();
  #sweep: Timer | null = null;

  constructor(answering: Answering, clock: Limits) {
    this.#answering = answering;
    this.#clock = clock;
  }

  get size(): number {
    return this.#asked.size + this.#newcomers.size;
  }

  /** Takes ownership of a new connection. */
  accept(socket: Socket): void {
    if (this.size >= CONNECTIONS_MAX) this.#makeRoom();
    this.#newcomers.set(socket, this.#clock.monotonic());
    this.#armSweep();
    socket.setNoDelay(true);
    // A reset or a failed write ends this connection only.
    socket.on('error', () => this.#drop(socket));
    socket.on('close', () => this.#drop(socket));
    new Conversation(socket, this.#answering, this.#turns, () => this.#touch(socket));
  }

  closeAll(): void {
    for (const socket of [...this.#asked.keys(), ...this.#newcomers.keys()]) this.#drop(socket);
    this.#sweep?.cancel();
    this.#sweep = null;
  }

  #makeRoom(): void {
    const crowded = this.#newcomers.size >= NEWCOMERS_MAX ? this.#newcomers : this.#asked;
    const [longestIdle] = crowded.keys();
    if (longestIdle !== undefined) this.#drop(longestIdle);
  }

  #touch(socket: Socket): void {
    if (socket.destroyed) return;
    this.#newcomers.delete(socket);
    this.#asked.delete(socket);
    this.#asked.set(socket, this.#clock.monotonic());
  }

  #drop(socket: Socket): void {
    this.#newcomers.delete(socket);
    this.#asked.delete(socket);
    socket.destroy();
  }

  #armSweep(): void {
    this.#sweep ??= this.#clock.realTimer(SWEEP_MS, () => {
      this.#sweep = null;
      const idleSinceMs = this.#clock.monotonic() - IDLE_MS_MAX;
      for (const held of [this.#asked, this.#newcomers]) {
        for (const [socket, activeMs] of held) {
          if (activeMs > idleSinceMs) break;
          this.#drop(socket);
        }
      }
      if (this.size > 0) this.#armSweep();
    });
  }
}

/** Gives each connection with more queries one turn, and a single connection one turn between two polls. */
class Turns {
  readonly #waiting = new Set<() => void>();
  #armed = false;

  add(turn: () => void): void {
    this.#waiting.add(turn);
    if (!this.#armed) this.#arm();
  }

  #arm(): void {
    this.#armed = true;
    setImmediate(() => {
      this.#armed = false;
      const [turn] = this.#waiting;
      if (turn === undefined) return;
      this.#waiting.delete(turn);
      turn();
      if (this.#waiting.size > 0 && !this.#armed) this.#arm();
    });
  }
}

/** One connection: reads pipelined queries as they arrive (RFC 7766 §6.2.1) and answers them in order. */
class Conversation {
  readonly #socket: Socket;
  readonly #exchange: Exchange;
  readonly #strikes: Strikes;
  readonly #turns: Turns;
  readonly #onQuery: () => void;
  readonly #frames = new FrameReader();
  /** A turn is scheduled, or the client must read first; reading is paused until then. */
  #waiting = false;
  #peerEnded = false;

  constructor(socket: Socket, { exchange, strikes }: Answering, turns: Turns, onQuery: () => void) {
    this.#socket = socket;
    this.#exchange = exchange;
    this.#strikes = strikes;
    this.#turns = turns;
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

  readonly #turn = (): void => {
    this.#waiting = false;
    if (this.#socket.destroyed) return;
    const replies: Buffer[] = [];
    let octets = 0;
    let exhausted = false;
    for (let queries = 0; queries < TURN_QUERIES_MAX && octets <= TURN_OCTETS_MAX; queries++) {
      const message = this.#frames.next();
      exhausted = message === null;
      if (message === null) break;
      // Too short for a header: the peer does not speak DNS.
      if (message.length < HEADER_OCTETS) return void this.#socket.destroy();
      const struck = this.#strikes.strike(message, 'tcp');
      if (struck?.closes === true) return void this.#socket.destroy();
      const reply = struck === null ? this.#exchange(message, 'tcp') : struck.reply;
      if (reply === null) continue;
      if (struck !== null && struck.delayMs > 0) {
        this.#strikes.later(struck.delayMs, () => this.#reply(reply));
        continue;
      }
      replies.push(lengthOf(reply), reply);
      octets += reply.length;
    }
    if (replies.length > 0) {
      this.#onQuery();
      this.#socket.write(Buffer.concat(replies));
    }
    if (exhausted) this.#readOn();
    else this.#wait();
  };

  /** Sends a delayed reply, after later ones if need be (RFC 7766 §7); the connection may be closed by then. */
  #reply(reply: Buffer): void {
    if (this.#socket.writable) this.#socket.write(Buffer.concat([lengthOf(reply), reply]));
  }

  #readOn(): void {
    if (!this.#peerEnded) {
      if (this.#socket.writableLength > UNREAD_OCTETS_MAX) this.#wait();
      else this.#socket.resume();
    } else this.#socket.end();
  }

  /** Defers the rest to a later turn of the event loop, or until the client has read its replies. */
  #wait(): void {
    this.#waiting = true;
    this.#socket.pause();
    if (this.#socket.writableLength > UNREAD_OCTETS_MAX) this.#socket.once('drain', this.#turn);
    else this.#turns.add(this.#turn);
  }
}

function lengthOf(message: Buffer): Buffer {
  const length = Buffer.allocUnsafe(LENGTH_OCTETS);
  length.writeUInt16BE(message.length);
  return length;
}

/**
 * Splits a TCP stream into messages (RFC 1035 §4.2.2: two octets of length before each), in chunks of any size. Buffers
 * at most one message, of up to 65,535 octets.
 */
export class FrameReader {
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  readonly #length = Buffer.alloc(LENGTH_OCTETS);
  #lengthHave = 0;
  #body: Buffer | null = null;
  #bodyHave = 0;

  /** Adds the next chunk. The caller must have read all earlier messages. */
  push(chunk: Buffer): void {
    this.#chunk = this.#at < this.#chunk.length ? Buffer.concat([this.#chunk.subarray(this.#at), chunk]) : chunk;
    this.#at = 0;
  }

  /** The next complete message, or null. */
  next(): Buffer | null {
    if (this.#body === null && !this.#readLength()) return null;
    const body = this.#body;
    if (body === null) return null;
    if (this.#bodyHave < body.length) {
      this.#bodyHave += this.#take(body, this.#bodyHave);
      if (this.#bodyHave < body.length) return null;
    }
    this.#body = null;
    this.#lengthHave = 0;
    return body;
  }

  #readLength(): boolean {
    this.#lengthHave += this.#take(this.#length, this.#lengthHave);
    if (this.#lengthHave < LENGTH_OCTETS) return false;
    this.#body = Buffer.allocUnsafe(this.#length.readUInt16BE(0));
    this.#bodyHave = 0;
    return true;
  }

  #take(into: Buffer, have: number): number {
    const taken = this.#chunk.copy(into, have, this.#at);
    this.#at += taken;
    return taken;
  }
}
