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
  | 'fault'
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
  subject.fault?.breakId === exchange.fault?.breakId &&
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
  fault: exchange.fault,
  decided: exchange.decision !== null,
  refusal: refusalOf(exchange),
});

const refusalOf = ({ decision }: RecordedExchange): Refusal | null => (decision === null ? null : decision.refusal);

/** Clients repeat a handful of requests; comparing with more would not pay off. */
const RECENT_MAX = 8;

/** A small cache of recent values, searched linearly. */
export class Recent<Kept> {
  readonly #kept: Kept[] = [];
  /** The index of the value found or added last, which is the most likely match. */
  #latest = 0;
  #oldest = 0;

  find<Key>(key: Key, isSame: (kept: Kept, key: Key) => boolean): Kept | null {
    const kept = this.#kept;
    const likely = kept[this.#latest];
    if (likely === undefined) return null;
    if (isSame(likely, key)) return likely;
    for (let index = 0; index < kept.length; index++) {
      const other = kept[index] as Kept;
      if (!isSame(other, key)) continue;
      this.#latest = index;
      return other;
    }
    return null;
  }

  add(made: Kept): Kept {
    this.#latest = this.#oldest;
    this.#kept[this.#oldest] = made;
    this.#oldest = (this.#oldest + 1) % RECENT_MAX;
    return made;
  }

  forget(): void {
    this.#kept.length = 0;
    this.#latest = 0;
    this.#oldest = 0;
  }
}
