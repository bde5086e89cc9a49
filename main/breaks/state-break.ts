import type { BreakSelection, RunningBreak } from '../contract/breaks.ts';
import { VivariumError } from '../contract/errors.ts';
import type { KeptUndo } from '../model/fault.ts';

/**
 * An entry that edits state: records, certificates, settings. What undoes it is stored before the edit is made, so that
 * `kill -9` at any moment leaves a way back.
 */
export interface StateBreak {
  /**
   * Looks, and changes nothing: what would be edited, and what undoes that. `edits` names it, such as
   * `records shop.acme.test`; a second break of the same is refused.
   * @throws VivariumError when there is nothing to break, such as for a hostname that is not attached.
   */
  prepare(target: StateBreakTarget): KeptUndo | Promise<KeptUndo>;
  /** Makes the edit. Also called at each start of the engine while the break runs: does nothing where it is made. */
  apply(undo: KeptUndo, target: StateBreakTarget): void | Promise<void>;
  /**
   * Restores what was there, exactly. What has been changed since or removed meanwhile stays as it is. Harmless when
   * the edit was never made, or is undone already: after `kill -9`, the next start calls it again.
   * @param leave tells what stays because it was changed, such as `records shop.acme.test`
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
