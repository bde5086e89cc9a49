import type { ClientLink } from '@orpc/client';
import type { ContractRouterClient } from '@orpc/contract';
import type { Contract } from '../../main/contract/index.ts';

/** Everything that may be asked of a Vivarium, typed by its contract; nothing of the contract itself is in the bundle. */
export type Client = ContractRouterClient<Contract>;

/** Calls carry nothing but their input. */
export type CallLink = ClientLink<Record<never, never>>;

/** One open way to the engine. */
export interface OpenLink {
  readonly link: CallLink;
  /** Resolves when it has closed, for whatever reason. */
  readonly closed: Promise<void>;
  close(): void;
}

/** How the page reaches the engine: a WebSocket in the browser, a MessagePort in the desktop's window. */
export interface Transport {
  /**
   * @throws SignInRefusedError when the engine answered and does not take the credentials; anything else it rejects
   * with means that the engine was not reached, and that trying again makes sense.
   */
  open(): Promise<OpenLink>;
}

export class SignInRefusedError extends Error {
  override readonly name = 'SignInRefusedError';
}

/** The call could not be made, or its answer never came, because there is no connection to the engine. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';

  constructor() {
    super('There is no connection to Vivarium.');
  }
}
