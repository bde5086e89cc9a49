import type { ClientLink } from '@orpc/client';
import type { ContractRouterClient } from '@orpc/contract';
import type { Contract } from '../../main/contract/index.ts';

/** The whole contract as a typed client; type-only, so the bundle contains none of the contract's code. */
export type Client = ContractRouterClient<Contract>;

/** Calls carry only their input. */
export type CallLink = ClientLink<Record<never, never>>;

/** An open connection to the engine. */
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

/** The call was not sent or got no answer, because there is no connection to the engine. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';

  constructor() {
    super('There is no connection to Vivarium.');
  }
}
