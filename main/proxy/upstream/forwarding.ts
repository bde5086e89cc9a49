import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ProxyLimits } from '../proxy-limits.ts';
import type { HttpRequest } from '../../base/http/message.ts';
import { type StallMark, stalledMs } from '../stall.ts';
import type { UpstreamContext } from '../target.ts';
import type { Forwarder } from './forwarder.ts';

/** The progress of a request: no answer yet, answer in progress, answer complete, or a tunnel. */
type Phase = 'waiting' | 'answering' | 'answered' | 'tunnel';

/**
 * The key under which requests and responses of both sides hold their forwarding. This allows shared listener functions
 * instead of closures, and saves the garbage collector a table of weak references.
 */
export const FORWARDING = Symbol('forwarding');

export interface Carrier {
  [FORWARDING]?: Forwarding;
}

/** One request being forwarded to its upstream. */
export interface Forwarding {
  readonly request: HttpRequest;
  readonly context: UpstreamContext;
  readonly forwarder: Forwarder;
  /** Whether the request has no body. */
  readonly bodiless: boolean;
  /** Called with the upstream's socket after a successful upgrade; null for any other request. */
  readonly opened: ((upstream: Socket) => void) | null;
  outgoing: ClientRequest | null;
  incoming: IncomingMessage | null;
  phase: Phase;
  /** Sends 100 (Continue); null if the client does not wait for it, or has received it. */
  sendContinue: (() => void) | null;
  /** Whether the request was repeated because a kept-alive connection had been closed. */
  repeated: boolean;
  /** Aborted because of a stall. */
  timedOut: boolean;
  /** Number of interim responses (1xx) so far. */
  interims: number;
  /** The last sweep's observation; null before the first sweep. */
  seen: StallMark | null;
  /** Its index in `LiveForwardings`. */
  index: number;
}

/**
 * Whether `forwarding` has stalled for too long at `nowMs`, on the monotonic clock. Before the answer, only request
 * bytes and complete interim responses count as progress: an upstream cannot hold the connection by sending its header
 * section byte by byte. A slow upload has as much time as a slow download, because systems buffer a megabyte and more,
 * during which nothing seems to move.
 */
export function isStalled(forwarding: Forwarding, nowMs: number, limits: ProxyLimits): boolean {
  if (forwarding.phase === 'tunnel') return false;
  const socket = forwarding.outgoing?.socket ?? null;
  // `bytesWritten` includes bytes that Node still buffers.
  const sent = socket === null ? 0 : socket.bytesWritten - socket.writableLength;
  const progress = forwarding.phase === 'waiting' ? sent + forwarding.interims : sent + (socket?.bytesRead ?? 0);
  const isAsked = forwarding.phase === 'waiting' && !forwarding.request.isPaused();
  return stalledMs(forwarding, progress, nowMs) >= (isAsked ? limits.upstreamAnswerMs : limits.upstreamIdleMs);
}

/**
 * Requests being forwarded, in an array whose members know their index. A `Set` with this turnover is slower by a tenth
 * of a request's time: its outgrown hash tables keep their last members and each other alive.
 */
export class LiveForwardings {
  readonly #members: Forwarding[] = [];

  add(forwarding: Forwarding): void {
    forwarding.index = this.#members.push(forwarding) - 1;
  }

  delete(forwarding: Forwarding): void {
    if (this.#members[forwarding.index] !== forwarding) return;
    const last = this.#members.pop();
    if (last === undefined || last === forwarding) return;
    this.#members[forwarding.index] = last;
    last.index = forwarding.index;
  }

  /** A copy, because members may end during iteration. */
  all(): Forwarding[] {
    return [...this.#members];
  }
}
