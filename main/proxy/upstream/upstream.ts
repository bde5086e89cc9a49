import { type ClientRequest, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { createProxyServer } from 'http-proxy';
import type { Log } from '../../base/log.ts';
import { hasBody, type HttpRequest, type HttpResponse } from '../../base/http/message.ts';
import { loopDetected } from '../problem.ts';
import type { ProxyLimits } from '../proxy-limits.ts';
import type { UpstreamDestination } from '../../model/route.ts';
import type { UpstreamContext, UpstreamTarget } from '../target.ts';
import { createAgents } from './agents.ts';
import { countHops, forwardedHeaders, HOPS_MAX } from './forwarded-headers.ts';
import { createForwarder, type Forwarder } from './forwarder.ts';
import { LiveForwardings, type Carrier, type Forwarding, FORWARDING, isStalled } from './forwarding.ts';
import { countPassedBytes } from '../../base/heap.ts';
import { type Interim, drainRest, relayBody, relayHead, relayInterim } from './relay.ts';
import { addTrailers } from './trailers.ts';
import { guardUpgrade } from './upgrades.ts';
import { codeOf, explainUpstreamFault } from './upstream-problem.ts';

export interface UpstreamOptions {
  log: Log;
  limits: ProxyLimits;
  /** This Vivarium's name in `Via`, unique among several on one machine. */
  pseudonym: string;
}

export interface Upstreams extends UpstreamTarget {
  /** Aborts requests that have stalled for too long at `nowMs`, on the monotonic clock. */
  sweep(nowMs: number): void;
  close(): void;
}

/** Methods whose request may be repeated if a kept-alive connection turns out to be closed (RFC 9110 §9.2.2). */
const SAFE_TO_REPEAT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/**
 * Forwards requests through http-proxy, which dials, pipes and upgrades. Header fields in both directions are computed
 * here instead; `README.md` gives the reasons.
 */
export function createUpstreams({ log, limits, pseudonym }: UpstreamOptions): Upstreams {
  const agents = createAgents();
  const proxy = createProxyServer({ selfHandleResponse: true, toProxy: true });
  const forwarders = new WeakMap<UpstreamDestination, Forwarder>();
  const live = new LiveForwardings();
  disableLibraryFraming(proxy);

  proxy.on('proxyReq', (outgoing: ClientRequest & Carrier, request: IncomingMessage & Carrier) => {
    const forwarding = request[FORWARDING];
    if (forwarding === undefined) return;
    outgoing[FORWARDING] = forwarding;
    forwarding.outgoing = outgoing;
    if (forwarding.context.response.destroyed) outgoing.destroy();
    outgoing.on('information', onInterim);
    outgoing.on('upgrade', onUnwantedUpgrade);
    if (forwarding.bodiless) return;
    if (forwarding.sendContinue !== null) sendExpectContinue(outgoing, forwarding);
    // Before the end of the pipe, which would send the last chunk without trailers.
    request.prependOnceListener('end', () => {
      const { rawTrailers } = request;
      if (rawTrailers.length > 0 && !outgoing.writableEnded) addTrailers(outgoing, rawTrailers);
    });
  });

  /**
   * The upstream decides whether it wants the body (RFC 9110 §10.1.1). Expect is set here because the library emits no
   * `proxyReq` for requests that already have it.
   */
  function sendExpectContinue(outgoing: ClientRequest, forwarding: Forwarding): void {
    if (outgoing.headersSent) {
      sendContinue(forwarding);
      return;
    }
    outgoing.setHeader('expect', '100-continue');
    outgoing.flushHeaders();
  }

  function onInterim(this: ClientRequest & Carrier, interim: Interim): void {
    const forwarding = this[FORWARDING] as Forwarding;
    forwarding.interims += 1;
    if (forwarding.interims > limits.interimsMax) this.destroy(new Error('Too many interim responses.'));
    else if (interim.statusCode === 100) sendContinue(forwarding);
    else relayInterim(interim, forwarding.context.response);
  }

  /** Without this listener, Node ignores an unrequested switch of protocols. */
  function onUnwantedUpgrade(this: ClientRequest & Carrier, _incoming: IncomingMessage, socket: Socket): void {
    const forwarding = this[FORWARDING] as Forwarding;
    socket.destroy();
    forwarding.context.answer(faultOf(forwarding, 'HPE_INVALID', 'it switched protocols (101) without being asked to'));
  }

  proxy.on('proxyRes', (incoming, request: IncomingMessage & Carrier) => {
    const forwarding = request[FORWARDING];
    if (forwarding === undefined) return;
    const { context } = forwarding;
    const { response } = context;
    if (response.headersSent || response.destroyed) {
      incoming.destroy();
      return;
    }
    try {
      relayHead(response, incoming, context.rate);
    } catch (error) {
      incoming.destroy();
      log.debug('An upstream’s answer cannot be forwarded', { url: context.destination.url, error });
      if (!('stream' in response)) response.statusMessage = STATUS_CODES[502] ?? '';
      context.answer(faultOf(forwarding, 'HPE_INVALID', error instanceof Error ? error.message : ''));
      return;
    }
    forwarding.phase = 'answering';
    relayBody(incoming, forwarding);
    if (!forwarding.bodiless && !forwarding.request.complete) response.once('finish', () => discardRest(forwarding));
  });

  proxy.on('proxyReqWs', (outgoing, request: IncomingMessage & Carrier, socket) => {
    const forwarding = request[FORWARDING];
    if (forwarding === undefined) return;
    forwarding.outgoing = outgoing;
    guardUpgrade(outgoing, socket, forwarding, limits);
  });

  // The callback of each call handles its error; this listener only prevents an uncaught exception.
  proxy.on('error', (error) => log.debug('An upstream failed', { error }));
  proxy.on('econnreset', () => undefined);

  function begin(
    request: HttpRequest,
    context: UpstreamContext,
    opened: Forwarding['opened'] = null,
  ): Forwarding | null {
    const { destination, from } = context;
    const hops = countHops(request.headers.via, pseudonym);
    if (hops >= HOPS_MAX) {
      context.answer(loopDetected(hops, destination.url));
      return null;
    }
    let forwarder = forwarders.get(destination);
    if (forwarder === undefined)
      forwarders.set(destination, (forwarder = createForwarder(destination, agents, limits.upstreamConnectMs)));
    const forwarding: Forwarding = {
      request,
      context,
      forwarder,
      bodiless: !hasBody(request),
      opened,
      outgoing: null,
      incoming: null,
      phase: 'waiting',
      sendContinue: context.sendContinue,
      repeated: false,
      timedOut: false,
      interims: 0,
      seen: null,
      index: 0,
    };
    const headers = forwardedHeaders(request.headers, from, request.httpVersion, {
      host: destination.host === 'keep' ? from.authority : forwarder.host,
      pseudonym,
    });
    frame(headers, request, forwarding.bodiless);
    replaceHeaders(request, headers);
    (request as HttpRequest & Carrier)[FORWARDING] = forwarding;
    live.add(forwarding);
    return forwarding;
  }

  function forward({ request, context, forwarder, bodiless }: Forwarding): void {
    proxy.web(
      asIncoming(request),
      context.response as ServerResponse,
      bodiless ? forwarder.bodiless : forwarder.web,
      onError,
    );
  }

  function onError(error: Error, request: IncomingMessage & Carrier): void {
    const forwarding = request[FORWARDING] as Forwarding;
    const { context, incoming } = forwarding;
    if (context.response.headersSent) {
      // Node considers a close-delimited body complete, even after a reset (RFC 9112 §8).
      if (incoming?.complete === false) context.cut();
      return;
    }
    if (mayRepeat(forwarding, error)) {
      forwarding.repeated = true;
      forward(forwarding);
      return;
    }
    log.debug('An upstream failed', { url: context.destination.url, code: codeOf(error) });
    context.answer(faultOf(forwarding, codeOf(error), error.message));
  }

  function sendContinue(forwarding: Forwarding): void {
    forwarding.sendContinue?.();
    forwarding.sendContinue = null;
  }

  /**
   * Aborts the upstream request if the client disconnects. (The library misses this for HTTP/2, where it takes a reset
   * stream for a finished one.)
   */
  function onResponseClosed(this: HttpResponse & Carrier): void {
    const forwarding = this[FORWARDING] as Forwarding;
    live.delete(forwarding);
    if (forwarding.phase !== 'answered') forwarding.outgoing?.destroy();
  }

  /** The upstream answered before the request was complete, so the rest is not needed. */
  function discardRest({ request, outgoing, context }: Forwarding): void {
    if (request.complete) return;
    // Over HTTP/1.x, a paused stream without a destination would never end.
    if (outgoing !== null) (request as IncomingMessage).unpipe(outgoing);
    outgoing?.destroy();
    drainRest(request, limits.drainBytesMax, () => context.cut());
  }

  function faultOf(forwarding: Forwarding, code: string, message: string) {
    const { context, timedOut } = forwarding;
    const flooded = forwarding.interims > limits.interimsMax;
    return explainUpstreamFault(context.destination.url, { code, message, timedOut, flooded }, limits.upstreamAnswerMs);
  }

  return {
    isPreflight: (request) =>
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined,
    hasPassedThroughHere: ({ headers }) => countHops(headers.via, pseudonym) > 0,
    handle(request, context) {
      const forwarding = begin(request, context);
      if (forwarding === null) return;
      const response: HttpResponse & Carrier = context.response;
      response[FORWARDING] = forwarding;
      response.on('close', onResponseClosed);
      if (!forwarding.bodiless) asIncoming(request).on('data', (chunk: Buffer) => countPassedBytes(chunk.length));
      forward(forwarding);
    },
    upgrade(request, socket, head, context) {
      const forwarding = begin(request, context, context.opened);
      if (forwarding === null) return;
      socket.once('close', () => live.delete(forwarding));
      request.headers.connection = 'Upgrade';
      request.headers.upgrade = 'websocket';
      const onFailure = (error: Error): void => {
        log.debug('An upstream failed a WebSocket', { url: context.destination.url, code: codeOf(error) });
        // After forwarded bytes, no answer of ours can follow.
        if (forwarding.phase !== 'waiting') socket.destroy();
        else if (!socket.destroyed) context.answer(faultOf(forwarding, codeOf(error), error.message));
        forwarding.phase = 'answering';
      };
      proxy.ws(request, socket, head, forwarding.forwarder.upgrade, onFailure);
    },
    sweep(nowMs) {
      for (const forwarding of live.all()) {
        // An upstream without support for 100 waits for the body; it has had one sweep interval to respond.
        if (forwarding.seen !== null) sendContinue(forwarding);
        if (!isStalled(forwarding, nowMs, limits)) continue;
        forwarding.timedOut = true;
        // Otherwise Node would discard what the client has not read, and end the response as if complete.
        if (forwarding.phase === 'answering') forwarding.context.cut();
        else forwarding.outgoing?.destroy(new Error('The upstream stalled for too long.'));
      }
    },
    close() {
      agents.close();
    },
  };
}

/**
 * The library declares the body of DELETE and OPTIONS empty but sends it anyway, which allows request smuggling.
 * `frame` sets the framing instead.
 */
function disableLibraryFraming(proxy: object): void {
  const passes = proxy as { webPasses?: { name: string }[] };
  if (passes.webPasses === undefined) throw new Error('This version of http-proxy has no webPasses.');
  passes.webPasses = passes.webPasses.filter(({ name }) => name === 'stream');
  if (passes.webPasses.length !== 1) throw new Error('This version of http-proxy has no pass named "stream".');
}

/** Tells the upstream where the body ends: the client's Content-Length, else chunked, or neither without a body. */
function frame(headers: Record<string, string | string[]>, request: HttpRequest, bodiless: boolean): void {
  const length = request.headers['content-length'];
  if (bodiless) {
    // RFC 9110 §8.6: a method that usually has a body declares an empty one.
    if (length !== undefined || !SAFE_TO_REPEAT.has(request.method ?? '')) headers['content-length'] = '0';
  } else if (length !== undefined && request.headers['transfer-encoding'] === undefined) {
    headers['content-length'] = length;
  } else {
    headers['transfer-encoding'] = 'chunked';
  }
}

/** The library reads `request.headers`, which over HTTP/2 is a getter without a setter. */
function replaceHeaders(request: HttpRequest, headers: Record<string, string | string[]>): void {
  if ('stream' in request) Object.defineProperty(request, 'headers', { value: headers, writable: true });
  else request.headers = headers;
}

/** The upstream had already closed the kept-alive connection, so it did not process the request (RFC 9112 §9.3.1). */
function mayRepeat({ request, bodiless, repeated, outgoing, timedOut }: Forwarding, error: Error): boolean {
  return (
    !repeated &&
    !timedOut &&
    bodiless &&
    outgoing?.reusedSocket === true &&
    ['ECONNRESET', 'EPIPE'].includes(codeOf(error)) &&
    SAFE_TO_REPEAT.has(request.method ?? '')
  );
}

/* HTTP/2's compatibility layer has the same members; only the types are not compatible. */
const asIncoming = (request: HttpRequest): IncomingMessage => request as IncomingMessage;
