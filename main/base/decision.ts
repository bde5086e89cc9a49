/**
 * What the limiter says of one request; made in `main/ratelimit`, carried through the proxy, shown by the target.
 * The three rate values describe one rate window: the one that runs out first or, of a refusal, the one to wait for.
 */
export interface Decision {
  /** Null when the request may go on. */
  refusal: Refusal | null;
  rate: RateState;
}

export interface RateState {
  /** Requests that the rate window allows. */
  limit: number;
  /** Requests left in the rate window, this one counted already. */
  remaining: number;
  /** Unix time in whole seconds, rounded up, at which the rate window ends. */
  resetSeconds: number;
}

export interface Refusal {
  code: 'rate_limit_exceeded' | 'api_key_banned';
  /** Whole seconds, at least 1, after which the client may ask again; the client MUST wait (`Retry-After`, RFC 9110 §10.2.3). */
  retryAfterSeconds: number;
  /** A sentence for the Error body: which limit, until when, what to do. */
  message: string;
}
