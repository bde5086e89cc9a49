import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { isIP } from 'node:net';
import { createProxyServer } from 'http-proxy';
import type { Log } from '../../base/log.ts';
import { hasBody } from '../message-body.ts';
import { loopDetected } from '../problem.ts';
import type { ProxyLimits } from '../proxy-limits.ts';
import type { UpstreamDestination } from '../snapshot.ts';
import type { ProxyRequest, UpstreamContext, UpstreamTarget } from '../target.ts';
import { createAgents, lookup } from './agents.ts';
import { countHops, forwardedHeaders, HOPS_MAX } from './forwarding.ts';
import { type Passage, standsStill } from './passage.ts';
import { readAway, relayBody, relayHead, relayInterim } from './relay.ts';
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

/** What http-proxy pipes where a request has no body: piping nothing costs as much as piping something. */
const NO_BODY = { pipe: (outgoing: { end(): void }) => outgoing.end() };

/**
 * Passes requests on to upstreams through http-proxy, which dials, pipes and upgrades. Its own idea of header fields is
 * replaced: what is sent either way is decided here (`README.md` says why).
 */
export function createUpstreams({ log, limits, pseudonym }: UpstreamOptions): Upstreams {
  const agents = createAgents();
  const proxy = createProxyServer({ selfHandleResponse: true, toProxy: true });
  const passages = new WeakMap<object, Passage>();
  const live = new Set<Passage>();
  keepBodiesWhole(proxy);

  proxy.on('proxyReq', (outgoing, request) => {
    const passage = passages.get(request);
    if (passage === undefined) return;
    const { context } = passage;
    passage.outgoing = outgoing;
    if (context.response.destroyed) outgoing.destroy();
    outgoing.on('information', (information) => {
      passage.interims += 1;
      if (passage.interims > limits.interimsMax) outgoing.destroy(new Error(FLOOD));
      else relayInterim(information, context.response);
    });
    // Of a switch of protocols that nobody asked for, Node says no word.
    outgoing.once('upgrade', (_incoming, socket) => {
      socket.destroy();
      context.answer(faultOf(passage, 'HPE_INVALID', ''));
    });
    if (passage.bodiless) return;
    // Before the end of the pipe, which would send the last chunk without them.
    request.prependOnceListener('end', () => {
      const { rawTrailers } = request;
      if (rawTrailers.length > 0 && !outgoing.writableEnded) addTrailers(outgoing, rawTrailers);
    });
  });

  proxy.on('proxyRes', (incoming, request) => {
    const passage = passages.get(request);
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
      context.answer(faultOf(passage, 'HPE_INVALID', ''));
      return;
    }
    passage.phase = 'answering';
    relayBody(incoming, context, () => {
      passage.phase = 'answered';
    });
    if (!passage.bodiless && !passage.request.complete) response.once('finish', () => leaveRest(passage));
  });

  proxy.on('proxyReqWs', (outgoing, request, socket) => {
    const passage = passages.get(request);
    if (passage === undefined) return;
    passage.outgoing = outgoing;
    guardUpgrade(outgoing, socket, passage, limits);
  });

  // Whoever asked is told by the callback of each call; this one only keeps an error from being nobody's.
  proxy.on('error', (error) => log.debug('An upstream failed', { error }));
  proxy.on('econnreset', () => undefined);

  function begin(request: ProxyRequest, context: UpstreamContext, opened: (() => void) | null = null): Passage | null {
    const { destination, from } = context;
    const hops = countHops(request.headers.via, pseudonym);
    if (hops >= HOPS_MAX) {
      context.answer(loopDetected(hops, destination.url));
      return null;
    }
    const url = urlOf(destination);
    const passage: Passage = {
      request,
      context,
      url,
      bodiless: !hasBody(request),
      opened,
      outgoing: null,
      phase: 'waiting',
      repeated: false,
      timedOut: false,
      interims: 0,
      seen: null,
    };
    const headers = forwardedHeaders(request.headers, from, request.httpVersion, {
      host: destination.host === 'keep' ? from.authority : url.host,
      pseudonym,
    });
    frame(headers, request, passage.bodiless);
    replaceHeaders(request, headers);
    passages.set(request, passage);
    live.add(passage);
    return passage;
  }

  const optionsFor = ({ url, context }: Passage) => ({
    target: url,
    agent: agents.for(url.protocol),
    secure: context.destination.verifyCertificate,
    connectTimeout: limits.upstreamConnectMs,
    prependPath: url.pathname !== '/',
    // Copied from by the library, and written to. An address has no server name (RFC 6066 §3).
    ssl: { servername: url.protocol === 'https:' ? serverNameOf(url) : '', lookup },
  });

  function pass(passage: Passage): void {
    const { request, context } = passage;
    const onError = (error: Error): void => {
      if (context.response.headersSent) return;
      if (mayRepeat(passage, error)) {
        passage.repeated = true;
        pass(passage);
        return;
      }
      log.debug('An upstream failed', { url: context.destination.url, code: codeOf(error) });
      context.answer(faultOf(passage, codeOf(error), error.message));
    };
    const options = optionsFor(passage);
    proxy.web(
      asIncoming(request),
      context.response as ServerResponse,
      passage.bodiless ? { ...options, buffer: NO_BODY as never } : options,
      onError,
    );
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
    handle(request, context) {
      const passage = begin(request, context);
      if (passage === null) return;
      context.response.once('close', () => {
        live.delete(passage);
        // The library does the same, but for HTTP/2: there, Node calls a stream that was reset finished.
        if (passage.phase !== 'answered') passage.outgoing?.destroy();
      });
      pass(passage);
    },
    upgrade(request, socket, head, context) {
      const passage = begin(request, context, context.opened);
      if (passage === null) return;
      socket.once('close', () => live.delete(passage));
      request.headers.connection = 'Upgrade';
      request.headers.upgrade = 'websocket';
      const onError = (error: Error): void => {
        log.debug('An upstream failed a WebSocket', { url: context.destination.url, code: codeOf(error) });
        // Whatever has been passed on cannot be followed by an answer of ours.
        if (passage.phase !== 'waiting') socket.destroy();
        else if (!socket.destroyed) context.answer(faultOf(passage, codeOf(error), error.message));
        passage.phase = 'answering';
      };
      proxy.ws(request, socket, head, { ...optionsFor(passage), agent: undefined }, onError);
    },
    sweep(nowMs) {
      for (const passage of live) {
        if (!standsStill(passage, nowMs, limits)) continue;
        passage.timedOut = true;
        passage.outgoing?.destroy(new Error('The upstream stood still for too long.'));
      }
    },
    close() {
      agents.close();
    },
  };
}

const FLOOD = 'Too many interim responses.';

/** Parsed once: a destination is a value of the snapshot, and does not change. */
const urls = new WeakMap<UpstreamDestination, URL>();

function urlOf(destination: UpstreamDestination): URL {
  let url = urls.get(destination);
  if (url === undefined) {
    url = new URL(destination.url);
    urls.set(destination, url);
  }
  return url;
}

const serverNameOf = ({ hostname }: URL): string => (isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : '');

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
function frame(headers: Record<string, string | string[]>, request: ProxyRequest, bodiless: boolean): void {
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
function replaceHeaders(request: ProxyRequest, headers: Record<string, string | string[]>): void {
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
const asIncoming = (request: ProxyRequest): IncomingMessage => request as IncomingMessage;
