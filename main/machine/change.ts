import { hash } from 'node:crypto';
import type { Step } from './step.ts';

export type ChangeKind = 'resolver' | 'ports' | 'hosts' | 'browser';

/** A planned change of this machine. */
export interface Change {
  /** The id in the ledger: `resolver:acme.test`, `hosts:shop.acme.test`, `ports`. */
  id: string;
  kind: ChangeKind;
  what: string;
  /** If there is an obstacle: why the change is impossible or unnecessary, and what to do. */
  note: string;
  /** Empty if there is an obstacle. */
  steps: Step[];
  /** Commands that make programs reload the files, run after the steps and after their undo. */
  afterApply: string[];
  afterUndo: string[];
  /** Text for the system's own configuration, if the change belongs there. */
  instead?: string;
}

/** The input of a plan. */
export interface Wish {
  hostname: string;
  /** The suffix that Vivarium's DNS answers: the zone of the hostname, or the hostname itself. */
  zone: string;
  ports: { http: number; https: number; dns: number };
  /** The address of the PAC file. */
  pacUrl: string;
  /** The command that restarts this Vivarium; options may be appended. */
  start: string;
}

/** A file or folder of the machine. */
export interface Place {
  /** Null if there is no file. */
  text: string | null;
  /** The path without symbolic links. */
  path: string;
  /** Missing folders of the path, outermost first. */
  missingFolders: string[];
  /** Why not even the administrator can write it. */
  readOnly: boolean;
}

/** How a plan reads the machine. */
export interface Look {
  at(path: string): Place;
  has(path: string): boolean;
}

/** Identifies this change in this state of the machine. */
export const codeOf = ({
  id,
  steps,
  afterApply,
  afterUndo,
}: Pick<Change, 'id' | 'steps' | 'afterApply' | 'afterUndo'>): string =>
  hash('sha256', JSON.stringify([id, steps, afterApply, afterUndo]), 'hex').slice(0, 8);

/** A change that is prevented by the obstacle in its note. */
export const hindered = (change: Pick<Change, 'id' | 'kind' | 'what'>, note: string, instead?: string): Change => ({
  ...change,
  note,
  steps: [],
  afterApply: [],
  afterUndo: [],
  ...(instead !== undefined && { instead }),
});

/** The step for a file of Vivarium's own, or why it cannot be written. */
export function ownFile(look: Look, wanted: string, is: string): Extract<Step, { kind: 'file' }> | string {
  const { text, path, missingFolders, readOnly } = look.at(wanted);
  if (text !== null) {
    const whose = text === is ? 'It contains what Vivarium would write' : 'Vivarium did not write it';
    return `${path} exists already. ${whose}, and it is not in the ledger: move it away first.`;
  }
  if (readOnly) return `${path} cannot be created: the file system is read-only.`;
  return { kind: 'file', path, was: null, is, folders: missingFolders };
}
