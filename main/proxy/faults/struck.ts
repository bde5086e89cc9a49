import type { Clock, EpochMs } from '../../base/clock.ts';
import { isHttp2 } from '../../base/http/message.ts';
import type { Fault } from '../../model/fault.ts';
import type { Problem } from '../../model/problem.ts';
import type { RateState } from '../../model/rate-decision.ts';
import type { Answer } from '../../base/http/answer.ts';
import { cutExchange, type Exchange } from '../front/connection.ts';
import type { HeldAnswer } from './held-answer.ts';

/** A request that a running break has chosen. */
export interface Struck {
  exchange: Exchange;
  fault: Fault;
  /** The scheme and authority that the client requested. */
  origin: string;
  clock: Pick<Clock, 'monotonic' | 'realTimer'>;
  realNow: () => EpochMs;
  /** Null without limits. */
  rate: RateState | null;
  /** Answers in the format of the target. */
  refuse(problem: Problem, rate?: RateState): void;
  /** Sends the proxy's own answer. */
  answer(answer: Answer): void;
}

/** Answered instead of by the target, passed on to the target, or left unbroken because the fault does not fit. */
export type Outcome = 'answered' | 'passes' | 'unfit';

/** How an entry breaks a request: before the target gets it, or by changing its complete answer. */
export type Breaking =
  | { instead: (struck: Struck) => Outcome }
  /** Returns whether the fault fits the answer; if not, the answer passes unchanged. */
  | { afterwards: (struck: Struck, answer: HeldAnswer) => boolean };

/** A number among the parameters of the entry. */
export const numberOf = ({ fault }: Pick<Struck, 'fault'>, name: string): number => Number(fault.parameters[name]);

/** Writes the last bytes of an HTTP/1.x connection directly, then ends our side of it. */
export function endByHand({ exchange, clock }: Pick<Struck, 'exchange' | 'clock'>, bytes: Buffer | string): void {
  const { connection, request } = exchange;
  // Answers follow the order of requests, and these bytes would overtake earlier ones.
  if (isHttp2(request) || connection.exchanges[0] !== exchange || connection.http1 === null) {
    cutExchange(exchange);
    return;
  }
  connection.phase = 'closing';
  connection.sinceMs = clock.monotonic();
  connection.http1.end(bytes);
}
