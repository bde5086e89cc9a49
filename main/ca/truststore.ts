import type { Command } from './command.ts';
import type { OwnRoots, VivariumRoot } from './vivarium-roots.ts';

/** A root of some Vivarium in a trust store. */
export interface FoundRoot extends VivariumRoot {
  /** Whether clients of the store accept what it signs; it can be there without. */
  trusted: boolean;
  /** What the store's own commands call it; null when it cannot be taken out without touching something else. */
  handle: string | null;
}

/** Why a store cannot be read or changed, and what mends that. */
export interface Unavailable {
  available: false;
  message: string;
  needs: string;
  command?: string;
}

export type StoreReading = { available: true; roots: FoundRoot[] } | Unavailable;

/**
 * One trust store. It reads and it says what would change it; whether that is run, shown or refused, and whether it
 * has worked, is decided for all of them in truststores.ts.
 */
export interface TrustStore {
  /** `system`, `nss:user`, `nss:firefox:<profile>`. */
  readonly id: string;
  readonly title: string;
  /** Reads the store itself, never a note of what was done. Never throws for a store that is missing or damaged. */
  read(own: OwnRoots): Promise<StoreReading>;
  /** Puts the current root in, and takes `superseded` out. */
  trust(own: OwnRoots, superseded: readonly FoundRoot[]): Command[];
  /** Takes `targets`, which all have a handle, out. */
  untrust(targets: readonly FoundRoot[]): Command[];
  /** What an own failure of a command means here, where the store knows better than the command's text. */
  explainFailure?(output: string): string | null;
  /** What a client must do to notice a change: "Restart the browser". */
  readonly afterwards?: string;
}
