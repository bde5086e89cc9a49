import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ProxyLimits } from '../proxy-limits.ts';
import type { HttpRequest } from '../../base/http/message.ts';
import { type StallMark, stalledMs } from '../stall.ts';
import type { UpstreamContext } from '../target.ts';
import type { Forwarder } from './forwarder.ts';

/** How far a request has come: asked for and not answered, being answered, answered as a whole, or a tunnel. */
type Phase = 'waiting' | 'answering' | 'answered' | 'tunnel';

/**
 * Where the objects of one forwarding keep it: the request and its response on our side, those on the upstream's side. So
 * their listeners can be functions that are made once, and the collector has no table of weak references to go through.
 */
export const FORWARDING = Symbol('forwarding');

export interface Carrier {
  [FORWARDING]?: Forwarding;
}

/** One request on its way to its upstream. */
export interface Forwarding {
  readonly request: HttpRequest;
  readonly context: UpstreamContext;
  readonly forwarder: Forwarder;
  /** Whether the request has no body. */
  readonly bodiless: boolean;
  /** Told when an upgrade has succeeded, with the upstream's socket; null for any other request. */
  readonly opened: ((upstream: Socket) => void) | null;
  outgoing: ClientRequest | null;
  incoming: IncomingMessage | null;
  phase: Phase;
  /** Tells the client to send its body; null where it sends it unasked, or has been told. */
  sendContinue: (() => void) | null;
  /** Whether it was sent a second time, because a kept connection was closed. */
  repeated: boolean;
  /** Given up because nothing came for too long. */
  timedOut: boolean;
  /** Interim responses (1xx) so far. */
  interims: number;
  /** What the last look at it saw; null before the first. */
  seen: StallMark | null;
  /** Among those that are under way. */
  index: number;
}

/**
 * Whether `forwarding` has stood still for too long at `nowMs`, on the monotonic clock. While it waits for an answer, only
 * what is still sent of the request and whole interim responses count as progress: an upstream that sends its header
 * section byte by byte stands still. One that takes the body of the request slowly has as long as one that is slow to send
 * a body: a system passes on a megabyte and more at once, so that for a minute nothing may seem to move.
 */
export function isStalled(forwarding: Forwarding, nowMs: number, limits: ProxyLimits): boolean {
  if (forwarding.phase === 'tunnel') return false;
  const socket = forwarding.outgoing?.socket ?? null;
  // Node counts what it only keeps for the socket as written.
  const sent = socket === null ? 0 : socket.bytesWritten - socket.writableLength;
  const progress = forwarding.phase === 'waiting' ? sent + forwarding.interims : sent + (socket?.bytesRead ?? 0);
  const isAsked = forwarding.phase === 'waiting' && !forwarding.request.isPaused();
  return stalledMs(forwarding, progress, nowMs) >= (isAsked ? limits.upstreamAnswerMs : limits.upstreamIdleMs);
}
