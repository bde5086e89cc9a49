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
import { countHops, forwardedHeaders, HOPS_MAX } from './forwarding.ts';
import { createLane, type Lane } from './lane.ts';
import { LivePassages } from './live-passages.ts';
import { type Carrier, type Passage, PASSAGE, standsStill } from './passage.ts';
import { notePassed } from './passed-bytes.ts';
import { type Interim, readAway, relayBody, relayHead, relayInterim } from './relay.ts';
import { addTrailers } from './trailers.ts';
import { guardUpgrade } from './upgrades.ts';
import { codeOf, explainUpstreamFault } from './upstream-problem.ts';

export interface UpstreamOptions {
  log: Log;
  limits: ProxyLimits;
  /** What this Vivarium calls itself in `Via`; another one on the same machine has another name. */
  pseudonym: string;
}

export interface Upstreams extends UpstreamTarget {
  /** Gives up what has stood still for too long at `nowMs`, on the monotonic clock. */
  sweep(nowMs: number): void;
  close(): void;
}

/** Methods whose request may be sent again when a kept connection turns out to be closed (RFC 9110 §9.2.2). */
const SAFE_TO_REPEAT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/**
 * Passes requests on to upstreams through http-proxy, which dials, pipes and upgrades. Its own idea of header fields is
 * replaced: what is sent either way is decided here (`README.md` says why).
 */
export function createUpstreams({ log, limits, pseudonym }: UpstreamOptions): Upstreams {
  const agents = createAgents();
  const proxy = createProxyServer({ selfHandleResponse: true, toProxy: true });
  const lanes = new WeakMap<UpstreamDestination, Lane>();
  const live = new LivePassages();
  keepBodiesWhole(proxy);

  proxy.on('proxyReq', (outgoing: ClientRequest & Carrier, request: IncomingMessage & Carrier) => {
    const passage = request[PASSAGE];
    if (passage === undefined) return;
    outgoing[PASSAGE] = passage;
    passage.outgoing = outgoing;
    if (passage.context.response.destroyed) outgoing.destroy();
    outgoing.on('information', onInterim);
    outgoing.on('upgrade', onUnwantedUpgrade);
    if (passage.bodiless) return;
    if (passage.goOn !== null) askWhetherToGoOn(outgoing, passage);
    // Before the end of the pipe, which would send the last chunk without them.
    request.prependOnceListener('end', () => {
      const { rawTrailers } = request;
      if (rawTrailers.length > 0 && !outgoing.writableEnded) addTrailers(outgoing, rawTrailers);
    });
  });

  /**
   * Whether the body is wanted is the upstream's to say (RFC 9110 §10.1.1). Not among the fields that the library is given:
   * it does not tell of requests that have this one.
   */
  function askWhetherToGoOn(outgoing: ClientRequest, passage: Passage): void {
    if (outgoing.headersSent) {
      goOn(passage);
      return;
    }
    outgoing.setHeader('expect', '100-continue');
    outgoing.flushHeaders();
  }

  function onInterim(this: ClientRequest & Carrier, interim: Interim): void {
    const passage = this[PASSAGE] as Passage;
    passage.interims += 1;
    if (passage.interims > limits.interimsMax) this.destroy(new Error('Too many interim responses.'));
    else if (interim.statusCode === 100) goOn(passage);
    else relayInterim(interim, passage.context.response);
  }

  /** Of a switch of protocols that nobody asked for, Node says no word. */
  function onUnwantedUpgrade(this: ClientRequest & Carrier, _incoming: IncomingMessage, socket: Socket): void {
    const passage = this[PASSAGE] as Passage;
    socket.destroy();
    passage.context.answer(faultOf(passage, 'HPE_INVALID', 'it switches protocols (101), and nobody asked for that'));
  }

  proxy.on('proxyRes', (incoming, request: IncomingMessage & Carrier) => {
    const passage = request[PASSAGE];
    if (passage === undefined) return;
    const { context } = passage;
    const { response } = context;
    if (response.headersSent || response.destroyed) {
      incoming.destroy();
      return;
    }
    try {
      relayHead(response, incoming, context.rate);
    } catch (error) {
      incoming.destroy();
      log.debug('An upstream answered with what cannot be passed on', { url: context.destination.url, error });
      if (!('stream' in response)) response.statusMessage = STATUS_CODES[502] ?? '';
      context.answer(faultOf(passage, 'HPE_INVALID', error instanceof Error ? error.message : ''));
      return;
    }
    passage.phase = 'answering';
    relayBody(incoming, passage);
    if (!passage.bodiless && !passage.request.complete) response.once('finish', () => leaveRest(passage));
  });

  proxy.on('proxyReqWs', (outgoing, request: IncomingMessage & Carrier, socket) => {
    const passage = request[PASSAGE];
    if (passage === undefined) return;
    passage.outgoing = outgoing;
    guardUpgrade(outgoing, socket, passage, limits);
  });

  // Whoever asked is told by the callback of each call; this one only keeps an error from being nobody's.
  proxy.on('error', (error) => log.debug('An upstream failed', { error }));
  proxy.on('econnreset', () => undefined);

  function begin(request: HttpRequest, context: UpstreamContext, opened: Passage['opened'] = null): Passage | null {
    const { destination, from } = context;
    const hops = countHops(request.headers.via, pseudonym);
    if (hops >= HOPS_MAX) {
      context.answer(loopDetected(hops, destination.url));
      return null;
    }
    let lane = lanes.get(destination);
    if (lane === undefined) lanes.set(destination, (lane = createLane(destination, agents, limits.upstreamConnectMs)));
    const passage: Passage = {
      request,
      context,
      lane,
      bodiless: !hasBody(request),
      opened,
      outgoing: null,
      incoming: null,
      phase: 'waiting',
      goOn: context.goOn,
      repeated: false,
      timedOut: false,
      interims: 0,
      seen: null,
      place: 0,
    };
    const headers = forwardedHeaders(request.headers, from, request.httpVersion, {
      host: destination.host === 'keep' ? from.authority : lane.host,
      pseudonym,
    });
    frame(headers, request, passage.bodiless);
    replaceHeaders(request, headers);
    (request as HttpRequest & Carrier)[PASSAGE] = passage;
    live.add(passage);
    return passage;
  }

  function pass({ request, context, lane, bodiless }: Passage): void {
    proxy.web(asIncoming(request), context.response as ServerResponse, bodiless ? lane.bodiless : lane.web, onError);
  }

  function onError(error: Error, request: IncomingMessage & Carrier): void {
    const passage = request[PASSAGE] as Passage;
    const { context, incoming } = passage;
    if (context.response.headersSent) {
      // Node takes a body that ends with its connection for whole, also where a reset ended that (RFC 9112 §8).
      if (incoming?.complete === false) context.cut();
      return;
    }
    if (mayRepeat(passage, error)) {
      passage.repeated = true;
      pass(passage);
      return;
    }
    log.debug('An upstream failed', { url: context.destination.url, code: codeOf(error) });
    context.answer(faultOf(passage, codeOf(error), error.message));
  }

  function goOn(passage: Passage): void {
    passage.goOn?.();
    passage.goOn = null;
  }

  /** A client that leaves takes its request along. (The library forgets those of HTTP/2: a stream that was reset counts as finished there.) */
  function onResponseClosed(this: HttpResponse & Carrier): void {
    const passage = this[PASSAGE] as Passage;
    live.delete(passage);
    if (passage.phase !== 'answered') passage.outgoing?.destroy();
  }

  /** The upstream has answered before all of the request had come: the rest has no use any more. */
  function leaveRest({ request, outgoing, context }: Passage): void {
    if (request.complete) return;
    // Over HTTP/1.x, a stream that is piped nowhere stands still.
    if (outgoing !== null) (request as IncomingMessage).unpipe(outgoing);
    outgoing?.destroy();
    readAway(request, limits.drainBytesMax, () => context.cut());
  }

  function faultOf(passage: Passage, code: string, message: string) {
    const { context, timedOut } = passage;
    const flooded = passage.interims > limits.interimsMax;
    return explainUpstreamFault(context.destination.url, { code, message, timedOut, flooded }, limits.upstreamAnswerMs);
  }

  return {
    isPreflight: (request) =>
      request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined,
    wasHere: ({ headers }) => countHops(headers.via, pseudonym) > 0,
    handle(request, context) {
      const passage = begin(request, context);
      if (passage === null) return;
      const response: HttpResponse & Carrier = context.response;
      response[PASSAGE] = passage;
      response.on('close', onResponseClosed);
      if (!passage.bodiless) asIncoming(request).on('data', (chunk: Buffer) => notePassed(chunk.length));
      pass(passage);
    },
    upgrade(request, socket, head, context) {
      const passage = begin(request, context, context.opened);
      if (passage === null) return;
      socket.once('close', () => live.delete(passage));
      request.headers.connection = 'Upgrade';
      request.headers.upgrade = 'websocket';
      const onFailure = (error: Error): void => {
        log.debug('An upstream failed a WebSocket', { url: context.destination.url, code: codeOf(error) });
        // Whatever has been passed on cannot be followed by an answer of ours.
        if (passage.phase !== 'waiting') socket.destroy();
        else if (!socket.destroyed) context.answer(faultOf(passage, codeOf(error), error.message));
        passage.phase = 'answering';
      };
      proxy.ws(request, socket, head, passage.lane.upgrade, onFailure);
    },
    sweep(nowMs) {
      for (const passage of live.all()) {
        // An upstream that knows nothing of 100 waits for the body; between the first look and this one it had its time.
        if (passage.seen !== null) goOn(passage);
        if (!standsStill(passage, nowMs, limits)) continue;
        passage.timedOut = true;
        // Node would read away what the client has not taken of an answer, and end it as if it were whole.
        if (passage.phase === 'answering') passage.context.cut();
        else passage.outgoing?.destroy(new Error('The upstream stood still for too long.'));
      }
    },
    close() {
      agents.close();
    },
  };
}

/**
 * The library declares the body of DELETE and OPTIONS to be empty and then sends it all the same: bytes that the upstream
 * takes for another request (request smuggling). Framing is decided in `frame` instead.
 */
function keepBodiesWhole(proxy: object): void {
  const passes = proxy as { webPasses?: { name: string }[] };
  if (passes.webPasses === undefined) throw new Error('This http-proxy has no passes to choose from.');
  passes.webPasses = passes.webPasses.filter(({ name }) => name === 'stream');
  if (passes.webPasses.length !== 1) throw new Error('This http-proxy has no pass named "stream".');
}

/** How the upstream knows where the body ends: the client's own length, chunks where it gave none, nothing without one. */
function frame(headers: Record<string, string | string[]>, request: HttpRequest, bodiless: boolean): void {
  const length = request.headers['content-length'];
  if (bodiless) {
    // Whoever may send a body and sends none says so.
    if (length !== undefined || !SAFE_TO_REPEAT.has(request.method ?? '')) headers['content-length'] = '0';
  } else if (length !== undefined && request.headers['transfer-encoding'] === undefined) {
    headers['content-length'] = length;
  } else {
    headers['transfer-encoding'] = 'chunked';
  }
}

/** The library reads what it sends from `request.headers`. Of HTTP/2 that is a getter without a setter. */
function replaceHeaders(request: HttpRequest, headers: Record<string, string | string[]>): void {
  if ('stream' in request) Object.defineProperty(request, 'headers', { value: headers, writable: true });
  else request.headers = headers;
}

/** A kept connection that the upstream had closed already: nothing was done with the request (RFC 9112 §9.3.1). */
function mayRepeat({ request, bodiless, repeated, outgoing, timedOut }: Passage, error: Error): boolean {
  return (
    !repeated &&
    !timedOut &&
    bodiless &&
    outgoing?.reusedSocket === true &&
    ['ECONNRESET', 'EPIPE'].includes(codeOf(error)) &&
    SAFE_TO_REPEAT.has(request.method ?? '')
  );
}

/* The compatibility layer of HTTP/2 has the same members; only the types do not unite. */
const asIncoming = (request: HttpRequest): IncomingMessage => request as IncomingMessage;
