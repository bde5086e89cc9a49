import type { ClientLink } from '@orpc/client';
import type { ContractRouterClient } from '@orpc/contract';
import type { Contract } from '../../main/contract/index.ts';

/** The whole contract as a typed client; type-only, so the bundle contains none of the contract's code. */
export type Client = ContractRouterClient<Contract>;

/** What a call carries besides its input. */
export interface CallContext {
  /** The key of a call that changes something: sent again under the same key, it is executed once. */
  idempotencyKey?: string;
}

export type CallLink = ClientLink<CallContext>;

/** The headers of a call, for every transport's link. */
export const headersOf = ({ context }: { context: CallContext }): Record<string, string> =>
  context.idempotencyKey === undefined ? {} : { 'idempotency-key': context.idempotencyKey };

export interface OpenLink {
  readonly link: CallLink;
  /** Resolves when the link has closed, for any reason. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Opens links to the engine: over a WebSocket in the browser, over a MessagePort in the desktop window. */
export interface Transport {
  /**
   * @throws SignInRefusedError when the engine rejects the credentials. Any other error means that the engine was not
   * reached, and a retry makes sense.
   */
  open(): Promise<OpenLink>;
}

export class SignInRefusedError extends Error {
  override readonly name = 'SignInRefusedError';
}

/** The call was not sent, because there is no connection to the engine, or it was only a read. */
export class ConnectionLostError extends Error {
  override readonly name: string = 'ConnectionLostError';

  constructor(message = 'There is no connection to Vivarium. Try again when it is back.') {
    super(message);
  }
}

const UNKNOWN = 'The outcome is unknown: the connection broke before Vivarium answered. Check before you try again.';

/** The call was sent, and its answer was lost. */
export class OutcomeUnknownError extends ConnectionLostError {
  override readonly name = 'OutcomeUnknownError';

  constructor() {
    super(UNKNOWN);
  }
}

export const isUnknown = (message: string): boolean => message === UNKNOWN;
