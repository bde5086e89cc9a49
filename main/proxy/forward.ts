import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import type { Answer } from '../base/http/answer.ts';
import { type BodiedRequest, hasBody } from '../base/http/message.ts';
import { rateFields, type Problem } from '../model/problem.ts';
import type { RateState } from '../model/rate-decision.ts';
import type { UpstreamDestination } from '../model/route.ts';
import { headText } from './capture.ts';
import { cutExchange, type Exchange, type RunningRecord } from './front/connection.ts';
import type { Connections } from './front/connections.ts';
import type { FrameWatch } from './tunnels/frames.ts';
import type { UpstreamContext, UpstreamTarget } from './route-table.ts';

export interface ForwardServices {
  targets: { upstream: UpstreamTarget };
  connections: Pick<Connections, 'countUpstream'>;
  clock: Pick<Clock, 'monotonic'>;
  watchFrames: FrameWatch;
  /** Answers an exchange that a target has returned. */
  onTargetAnswer: (exchange: Exchange, answer: Answer) => void;
}

export interface Upgrade {
  socket: Socket;
  head: Buffer;
}

export interface ForwardedExchange {
  exchange: Exchange;
  upgrade: Upgrade | null;
  /** As the client wrote it. */
  authority: string;
  destination: UpstreamDestination;
  /** Null if the project's limits do not apply to its upstream. */
  rate: RateState | null;
  refuse: (found: Problem) => Answer;
}

export function forward(
  { exchange, upgrade, authority, destination, rate, refuse }: ForwardedExchange,
  services: ForwardServices,
): null {
  const { request, response, connection, record } = exchange;
  const describe = (found: Problem): Problem => (rate === null ? found : withRate(found, rate));
  const context: UpstreamContext = {
    response,
    destination,
    from: {
      address: connection.address,
      scheme: connection.listener.scheme,
      port: connection.listener.port,
      authority,
      client: record.client,
    },
    rate,
    sendContinue: record.awaitsContinue ? () => sendContinue(exchange) : null,
    answer: (found) => services.onTargetAnswer(exchange, refuse(describe(found))),
    cut: () => cutExchange(exchange),
  };
  if (upgrade === null) {
    if (hasBody(request)) followBody(request, record, services.clock);
    services.targets.upstream.handle(request, context);
    return null;
  }
  const { socket, head } = upgrade;
  services.targets.upstream.upgrade(request as IncomingMessage, socket, head, {
    ...context,
    opened: (upstream, { headers }) => {
      record.tunnelled = true;
      record.rawStatus = 101;
      const { capture, startedMs } = record;
      if (capture !== null) {
        capture.firstByteMs = capture.monotonic();
        capture.head = headText(101, 'Switching Protocols', headers);
        if (headers.upgrade?.toLowerCase() === 'websocket') services.watchFrames(socket, upstream, capture, startedMs);
      }
      services.connections.countUpstream(upstream);
    },
  });
  return null;
}

function sendContinue({ response, record }: Exchange): void {
  record.awaitsContinue = false;
  if (!response.headersSent && !response.destroyed) response.writeContinue();
}

/** A long upload is not a slow client as long as data moves. */
function followBody(request: BodiedRequest, record: RunningRecord, clock: ForwardServices['clock']): void {
  request.on('data', () => {
    record.activeMs = clock.monotonic();
  });
}

/** The problem with the fields of the caller's rate. */
export const withRate = (found: Problem, rate: RateState): Problem => ({
  ...found,
  headers: [...found.headers, ...rateFields(rate)],
});
