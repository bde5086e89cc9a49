import { STATUS_CODES } from 'node:http';
import type { Dispatcher } from 'undici';
import { asHttp1, type BodiedRequest, hasBody, type HttpRequest, isHttp2, release } from '../../base/http/message.ts';
import type { Problem } from '../../model/problem.ts';
import type { ProxyLimits } from '../front/proxy-limits.ts';
import { type StallMark, stalledMs } from '../front/connection.ts';
import type { UpstreamContext } from '../route-table.ts';
import { REFUSED, StalledError } from './http2-transfer.ts';
import type { Origin } from './origin.ts';
import { drainRest, flatFields, flushSoon, relayHead, relayInterim, type ResponseHead, addTrailers } from './relay.ts';
import { codeOf, explainUpstreamFault, OTHER_VERSION } from './upstream-problem.ts';

/** The progress of a request: no answer yet, answer in progress, answer complete, a tunnel, or failed. */
type Phase = 'waiting' | 'answering' | 'answered' | 'tunnel' | 'failed';

/** The request on its way to the upstream. Undici's controller is one. */
export type TransferControl = Pick<Dispatcher.DispatchController, 'abort' | 'pause' | 'resume'>;

export interface ForwardingServices {
  limits: ProxyLimits;
  /** Sends the request again, on a new connection. */
  repeat: (forwarding: Forwarding) => void;
  onFailure: (forwarding: Forwarding, error: Error) => void;
}

/**
 * Methods whose request, without a body, may be repeated if a kept-alive connection turns out to be closed (RFC 9110
 * §9.2.2).
 */
const SAFE_TO_REPEAT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Above this size, copying a complete body costs more than a second buffer in the same write. */
const WHOLE_BYTES_MAX = 16 * 1024;

/** How much of a response is buffered for a client that does not read it. */
const UNREAD_BYTES_MAX = 256 * 1024;

const CLOSED_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * One request being forwarded to its upstream, and the relay of its response. As undici's handler it has no closures; a
 * request that http-proxy sends calls the same methods.
 */
export class Forwarding implements Dispatcher.DispatchHandler {
  readonly request: HttpRequest;
  readonly context: UpstreamContext;
  readonly origin: Origin;
  /** To be sent, without framing. */
  readonly headers: Record<string, string | string[]>;
  /** The request again, if it has a body. */
  readonly body: BodiedRequest | null;
  phase: Phase = 'waiting';
  /** Sends 100 (Continue); null if the client does not wait for it, or has received it. */
  sendContinue: (() => void) | null;
  /** The last sweep's observation; null before the first sweep. */
  seen: StallMark | null = null;
  index = 0;
  readonly #services: ForwardingServices;
  /** Null before the request is sent. */
  #control: TransferControl | null = null;
  /** Whether the connection was opened for this request, so it cannot have been closed in the meantime. */
  #isFirst = false;
  /** Whether the request can be sent again, which is done once. */
  #mayRepeat: boolean;
  /** Whether it may be repeated if a kept-alive connection turns out to be closed. */
  readonly #isSafe: boolean;
  /** Aborted because of a stall. */
  #timedOut = false;
  /** Number of interim responses (1xx) so far. */
  #interims = 0;
  /** Bytes of both bodies so far. */
  #moved = 0;
  /** Whether part of the response's body has been received. */
  #hasBegun = false;
  /** The length of the response's body, if announced. */
  #length = Number.NaN;

  constructor(
    request: HttpRequest,
    context: UpstreamContext,
    { origin, headers, repeatable }: Pick<Forwarding, 'origin' | 'headers'> & { repeatable: boolean },
    services: ForwardingServices,
  ) {
    this.request = request;
    this.context = context;
    this.origin = origin;
    this.headers = headers;
    this.body = hasBody(request) ? request : null;
    this.sendContinue = context.sendContinue;
    this.#services = services;
    this.#mayRepeat = repeatable && this.body === null;
    this.#isSafe = SAFE_TO_REPEAT.has(request.method ?? '');
  }

  /** Whether the header section waits for the first chunk of the body. */
  get isHeadPending(): boolean {
    return this.phase === 'answering' && !this.#hasBegun;
  }

  /** Notes the progress of a body. */
  count(bytes: number): void {
    this.#moved += bytes;
  }

  onRequestStart(control: TransferControl): void {
    this.#control = control;
    this.#isFirst = this.origin.moment.opening;
    // The client may have disconnected while the connection was being opened.
    if (this.phase === 'failed' || this.context.response.destroyed) control.abort(new Error('The client is gone.'));
  }

  onResponseStart(
    { rawHeaders, endsWithHead }: Dispatcher.DispatchController & { endsWithHead?: boolean },
    status: number,
    headers: ResponseHead['headers'],
    reason?: string,
  ): void {
    this.receiveHead({ status, reason: reason ?? '', headers, fields: flatFields(rawHeaders) }, endsWithHead);
  }

  onResponseData(control: TransferControl, chunk: Buffer): void {
    this.receive(control, chunk);
  }

  onResponseEnd({ rawTrailers }: Dispatcher.DispatchController): void {
    // Undici treats a reset as the end of a body that the connection delimits (RFC 9112 §8).
    if (this.origin.moment.failing) this.onResponseError(null, new Error('The upstream reset its connection.'));
    else this.receiveEnd(flatFields(rawTrailers));
  }

  onResponseError(_control: TransferControl | null, error: Error): void {
    const { context, phase } = this;
    if (phase === 'answered' || phase === 'failed') return;
    if (phase !== 'waiting') {
      this.phase = 'failed';
      context.cut();
      return;
    }
    const isOtherVersion = this.origin.meetsOtherVersion(error);
    const isUnprocessed = isOtherVersion || codeOf(error) === REFUSED;
    if (this.#mayRepeat && (isUnprocessed || (this.#isSafe && this.#wasClosed(error)))) {
      this.#mayRepeat = false;
      this.#control = null;
      // After undici has finished with the closed connection.
      queueMicrotask(() => this.#services.repeat(this));
      return;
    }
    this.phase = 'failed';
    this.#services.onFailure(this, error);
    // Otherwise the end of the pipe would pause what is drained.
    this.body?.unpipe();
    if (!context.response.headersSent)
      context.answer(this.#explain(isOtherVersion ? OTHER_VERSION : codeOf(error), error.message));
  }

  /** Receives an interim response, or the status and header section of the final one, which may be all of it. */
  receiveHead(head: ResponseHead, isWhole = false): void {
    if (this.phase !== 'waiting') return;
    const { response, rate } = this.context;
    if (head.status === 100) return this.allowBody();
    if (head.status > 100 && head.status < 200) {
      this.#interims += 1;
      if (this.#interims <= this.#services.limits.interimsMax) relayInterim(head, response);
      else this.#control?.abort(new Error('Too many interim responses.'));
      return;
    }
    const isOver = isWhole && isHttp2(this.request);
    try {
      relayHead(response, head, rate, isOver);
    } catch (error) {
      if (!('stream' in response)) response.statusMessage = STATUS_CODES[502] ?? '';
      this.fail(Object.assign(new Error(error instanceof Error ? error.message : ''), { code: 'HPE_INVALID' }));
      return;
    }
    this.phase = isOver ? 'answered' : 'answering';
    this.#length = Number(head.headers['content-length'] ?? Number.NaN);
    if (!isHttp2(this.request)) flushSoon(this);
    const { body } = this;
    if (body === null || body.complete) return;
    const discard = (): void => void setImmediate(() => this.#discardRest(body));
    if (isOver) discard();
    // Over HTTP/2, a response finishes only with its request; here, its last data is sent, and then its trailers.
    else if ('stream' in response) response.stream.once('wantTrailers', discard);
    else response.once('finish', discard);
  }

  receive(control: Pick<TransferControl, 'pause' | 'resume'>, chunk: Buffer): void {
    if (this.phase !== 'answering') return;
    this.#moved += chunk.length;
    this.#hasBegun = true;
    const response = asHttp1(this.context.response);
    if (chunk.length === this.#length && chunk.length <= WHOLE_BYTES_MAX && !isHttp2(this.request)) {
      this.phase = 'answered';
      // Node concatenates a string with the header section: one copy and one system call.
      response.end(chunk.toString('latin1'), 'latin1');
    } else {
      const pausing = response.writableLength + chunk.length > UNREAD_BYTES_MAX;
      response.write(chunk, pausing ? undefined : () => release(chunk));
      if (!pausing) return;
      control.pause();
      response.once('drain', () => control.resume());
    }
  }

  receiveEnd(trailers: readonly string[]): void {
    if (this.phase !== 'answering') return;
    this.phase = 'answered';
    const response = asHttp1(this.context.response);
    if (trailers.length > 0) addTrailers(response, trailers);
    response.end();
  }

  /** Answers that the upstream failed, or cuts off an answer in progress, and ends the request to the upstream. */
  fail(error: Error): void {
    this.onResponseError(null, error);
    this.#control?.abort(error);
  }

  /** Ends the request to the upstream because the client has disconnected. */
  abandon(): void {
    if (this.phase === 'answered') return;
    this.phase = 'failed';
    this.#control?.abort(new Error('The client is gone.'));
  }

  timeOut(): void {
    this.#timedOut = true;
    this.fail(new StalledError('The upstream stalled for too long.'));
  }

  allowBody(): void {
    this.sendContinue?.();
    this.sendContinue = null;
  }

  #explain(code: string, message: string): Problem {
    const { limits } = this.#services;
    const flooded = this.#interims > limits.interimsMax;
    const fault = { code, message, timedOut: this.#timedOut, flooded };
    return explainUpstreamFault(this.context.destination.url, fault, limits.upstreamAnswerMs);
  }

  /**
   * Whether it has stalled for too long at `nowMs`, on the monotonic clock. Before the answer, only request bytes and
   * complete interim responses count as progress: an upstream cannot hold the connection by sending its header section
   * byte by byte. A slow upload has as much time as a slow download, because systems buffer a megabyte and more, during
   * which nothing seems to move.
   */
  isStalled(nowMs: number, limits: ProxyLimits): boolean {
    if (this.phase !== 'waiting' && this.phase !== 'answering') return false;
    const progress = this.#moved + this.#interims;
    // After its end, a body is paused, too.
    const isHeld = this.body !== null && this.body.isPaused() && !this.body.readableEnded;
    const isAsked = this.phase === 'waiting' && !isHeld;
    return stalledMs(this, progress, nowMs) >= (isAsked ? limits.upstreamAnswerMs : limits.upstreamIdleMs);
  }

  /** The upstream had already closed the kept-alive connection, so it did not process the request (RFC 9112 §9.3.1). */
  #wasClosed(error: Error): boolean {
    return !this.#isFirst && !this.#timedOut && this.#interims === 0 && CLOSED_CODES.has(codeOf(error));
  }

  /** The upstream answered before the request was complete, so the rest is not needed. */
  #discardRest(body: BodiedRequest): void {
    if (body.complete) return;
    body.unpipe();
    this.#control?.abort(new Error('The upstream has answered.'));
    drainRest(body, this.#services.limits.drainBytesMax, () => this.context.cut());
  }
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
