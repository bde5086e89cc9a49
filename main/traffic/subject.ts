import type { Refusal } from '../model/rate-decision.ts';
import type { RecordedExchange } from '../model/exchange-record.ts';

type SharedFields = Pick<
  RecordedExchange,
  | 'authority'
  | 'route'
  | 'keyId'
  | 'stage'
  | 'scheme'
  | 'httpVersion'
  | 'method'
  | 'target'
  | 'address'
  | 'aborted'
  | 'byProxy'
>;

/** The non-numeric facts of an exchange. Immutable, because equal entries share one. */
export interface Subject extends Readonly<SharedFields> {
  readonly decided: boolean;
  readonly refusal: Refusal | null;
}

/** Compares the most variable fields first. */
export const hasSubject = (subject: Subject, exchange: RecordedExchange): boolean =>
  subject.target === exchange.target &&
  subject.method === exchange.method &&
  subject.authority === exchange.authority &&
  subject.keyId === exchange.keyId &&
  subject.route === exchange.route &&
  subject.decided === (exchange.decision !== null) &&
  subject.refusal === refusalOf(exchange) &&
  subject.address === exchange.address &&
  subject.aborted === exchange.aborted &&
  subject.byProxy === exchange.byProxy &&
  subject.stage === exchange.stage &&
  subject.scheme === exchange.scheme &&
  subject.httpVersion === exchange.httpVersion;

export const subjectOf = (exchange: RecordedExchange): Subject => ({
  authority: exchange.authority,
  route: exchange.route,
  keyId: exchange.keyId,
  stage: exchange.stage,
  scheme: exchange.scheme,
  httpVersion: exchange.httpVersion,
  method: exchange.method,
  target: exchange.target,
  address: exchange.address,
  aborted: exchange.aborted,
  byProxy: exchange.byProxy,
  decided: exchange.decision !== null,
  refusal: refusalOf(exchange),
});

const refusalOf = ({ decision }: RecordedExchange): Refusal | null => (decision === null ? null : decision.refusal);
