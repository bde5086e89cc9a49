import type { BreakSelection, RunningBreak } from '../contract/breaks.ts';
import { VivariumError } from '../contract/errors.ts';
import type { KeptUndo } from '../model/fault.ts';

/**
 * An entry that edits state: records, certificates, settings. Its inverse is stored before the edit is made, so the
 * edit can be undone even after `kill -9` at any moment.
 */
export interface StateBreak {
  /**
   * Determines the edit and its inverse without changing anything. `edits` names the edited state, such as
   * `records shop.acme.test`; a second break of the same state is refused.
   * @throws VivariumError when there is nothing to break, such as for a hostname that is not attached.
   */
  prepare(target: StateBreakTarget): KeptUndo | Promise<KeptUndo>;
  /** Makes the edit. Also called at each start of the engine while the break runs; does nothing if already made. */
  apply(undo: KeptUndo, target: StateBreakTarget): void | Promise<void>;
  /**
   * Restores the previous state exactly, except where it has been changed or removed since. Harmless if the edit was
   * never made, or is already undone: after `kill -9`, the next start calls it again.
   * @param leave reports state that is kept because it was changed, such as `records shop.acme.test`
   */
  undo(undo: KeptUndo, target: StateBreakTarget, leave: (what: string) => void): void | Promise<void>;
}

export interface StateBreakTarget {
  on: BreakSelection;
  parameters: RunningBreak['parameters'];
}

/** By entry id. */
export type StateBreaks = ReadonlyMap<string, StateBreak>;

/** Refuses to edit what a drill has edited. */
export const ofDrill = (what: string): VivariumError =>
  new VivariumError('conflict', `A drill has broken this (${what}). End it first: \`drills.stop\`.`);
