import { cutExchange, destroyConnection, type Exchange } from './front/connection.ts';
import { createConnections, dropLost, dropTunnels } from './front/connections.ts';
import type { ExchangeSummary } from '../model/exchange-record.ts';
import { isHttp2 } from '../base/http/message.ts';
import type { Timer } from '../base/clock.ts';
import { createExchanges, type ExchangesOptions } from './exchanges.ts';
import { createTrust } from './forwarded.ts';
import { timeOutRequest, explainParserError, faultResponse } from './front/http1.ts';
import { loopbackPlace, type OwnPaths, type OwnPlace } from './front/own-paths.ts';
import { boundConnections, readOpenFilesMax, DEFAULT_PROXY_LIMITS, type ProxyLimits } from './front/proxy-limits.ts';
import { createListeners, type ListenersOptions, type WantedPorts } from './listeners.ts';
import { buildRouteTable, type ProviderTarget, type Target } from './route-table.ts';
import { EMPTY_SNAPSHOT, type Snapshot } from '../model/route.ts';
import { sweepConnections } from './front/sweep.ts';
import { createUpstreams } from './upstream/upstream.ts';

/** What the proxy itself passes to its exchanges. */
type Own = 'connections' | 'limits' | 'targets' | 'trusts' | 'httpsPort' | 'servesHttps' | 'stopping';

export interface ProxyOptions
  extends
    Omit<ExchangesOptions, Own>,
    Pick<ListenersOptions, 'contextFor' | 'brokenFor' | 'defaultHostname' | 'providerPlace'> {
  targets: { api: Target; provider: ProviderTarget };
  /** This Vivarium's name in `Via`. */
  pseudonym: string;
  /** The addresses and CIDR blocks of proxies whose forwarding fields are trusted. */
  trustedProxies: () => readonly string[];
  /** The paths that Vivarium answers at its own hosts on loopback. */
  ownPaths: OwnPaths;
  /** Hosts at which Vivarium answers every path. */
  ownSites: OwnPlace['sites'];
  limits?: Partial<ProxyLimits>;
}

/** The data plane: listeners and stages; see `README.md`. */
export function createProxy(options: ProxyOptions) {
  const { clock, log, contextFor } = options;
  const wanted: ProxyLimits = { ...DEFAULT_PROXY_LIMITS, ...options.limits };
  const limits = { ...wanted, connectionsMax: boundConnections(wanted.connectionsMax, readOpenFilesMax()) };
  const closingResponse = faultResponse(
    explainParserError({ name: '', message: '', code: 'ERR_HTTP_REQUEST_TIMEOUT' }, limits),
  );
  let table = buildRouteTable(EMPTY_SNAPSHOT);
  let sweepTimer: Timer | null = null;
  let stopped: Promise<void> | null = null;
  const stopping = (): boolean => stopped !== null;

  const connections = createConnections({
    clock,
    log,
    limits,
    closingResponse,
    onLost: (exchange) => exchanges.finish(exchange),
  });
  const upstreams = createUpstreams({ log, limits, pseudonym: options.pseudonym });
  const exchanges = createExchanges({
    ...options,
    connections,
    limits,
    targets: { ...options.targets, upstream: upstreams },
    trusts: createTrust(options.trustedProxies),
    httpsPort: () => listeners.ports().https,
    servesHttps: (hostname) => contextFor(hostname) !== null,
    stopping,
  });
  const listeners = createListeners({
    ...options,
    connections,
    exchanges,
    limits,
    stopping,
    own: loopbackPlace(options.ownPaths, options.ownSites),
    table: () => table,
  });

  function giveUp(exchange: Exchange): void {
    // Resets the stream: its target may still answer, and a stream cannot carry two answers.
    if (isHttp2(exchange.request)) cutExchange(exchange);
    else timeOutRequest(exchange.connection, { clock, log, limits });
  }

  function sweep(): void {
    const nowMs = clock.monotonic();
    sweepConnections(connections.all(), nowMs, { limits, log, closingResponse, onLate: giveUp });
    upstreams.sweep(nowMs);
    sweepTimer = clock.realTimer(limits.sweepIntervalMs, sweep);
  }

  async function drain(deadlineMs: number): Promise<void> {
    const closed = listeners.close();
    const deadline = clock.realTimer(deadlineMs, () => [...connections.all()].forEach(destroyConnection));
    await connections.drain();
    deadline.cancel();
    sweepTimer?.cancel();
    upstreams.close();
    await closed;
  }

  return {
    async start(ports: WantedPorts) {
      const bound = await listeners.start(ports);
      sweep();
      return bound;
    },
    serveOn: listeners.serveOn,
    /** Cuts what is open at a place. */
    cut(place: OwnPlace): void {
      for (const connection of connections.all()) if (connection.listener.own === place) destroyConnection(connection);
    },
    /**
     * Serves `snapshot` from the next request on. Before it returns, closes the connections, requests and streams of
     * hostnames that are no longer served or belong to another project, and tunnels to them.
     */
    publish(snapshot: Snapshot): void {
      const [before, next] = [table, buildRouteTable(snapshot)];
      table = next;
      upstreams.publish(snapshot);
      dropLost(connections.all(), (hostname) => before.isLostIn(next, hostname));
      dropTunnels(connections.all(), next);
    },
    /** The recorded exchanges that have run for a while and have not ended. */
    running: (): ExchangeSummary[] => exchanges.running(),
    /** Open connections of both listeners. */
    connections: (): number => connections.size(),
    /** Requests whose answers are not complete, and open tunnels. */
    inProgress: (): number =>
      [...connections.all()].reduce((sum, each) => sum + each.exchanges.length + each.ownStreams.size, 0),
    /** Stops accepting, lets requests in progress finish for up to `deadlineMs` of real time, then closes the rest. */
    stop: (deadlineMs: number) => (stopped ??= drain(deadlineMs)),
  };
}
