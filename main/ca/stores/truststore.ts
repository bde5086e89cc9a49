import type { Command } from './run-command.ts';
import type { OwnRoots, VivariumRoot } from './vivarium-roots.ts';

export interface FoundRoot extends VivariumRoot {
  /** Whether clients of the store accept its leaves; a store can contain a root without trusting it. */
  trusted: boolean;
  /** Its id in the store's own commands; null when it cannot be removed without affecting others. */
  handle: string | null;
}

/** Why a store cannot be read or changed, and the fix. */
export interface Unavailable {
  available: false;
  message: string;
  needs: string;
  command?: string;
}

export type StoreReading = { available: true; roots: FoundRoot[] } | Unavailable;

/** Where Vivarium serves a certificate by the root. */
export interface Served {
  hostname: string;
  port: number;
}

/**
 * One trust store. It reads itself and returns the commands for a change; truststores.ts decides whether to run,
 * display or refuse them, and checks the result.
 */
export interface TrustStore {
  /** `system`, `nss:user`, `nss:firefox:<profile>`. */
  readonly id: string;
  readonly title: string;
  /** Always reads the store itself. Does not throw for a missing or damaged store. */
  read(own: OwnRoots): Promise<StoreReading>;
  /** Adds the current root and removes `superseded`. */
  trust(own: OwnRoots, superseded: readonly FoundRoot[]): Command[];
  /** Removes `targets`, all of which have a handle. */
  untrust(targets: readonly FoundRoot[]): Command[];
  /** The id in the store's own commands that the current root has once it is trusted. */
  handleOf(own: OwnRoots): string;
  /**
   * A client's handshake that trusts this store only: exits with 0 when it has verified the certificate. Null without
   * such a client.
   */
  handshake(served: Served): Command | null;
  /** The meaning of a command's failure, when the store can tell more than the command's output. */
  explainFailure?(output: string): string | null;
  /** What makes a client notice a change: "Restart the browser". */
  readonly afterwards?: string;
}
