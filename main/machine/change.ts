import { hash } from 'node:crypto';
import type { Step } from './step.ts';

export type ChangeKind = 'resolver' | 'ports' | 'hosts' | 'browser';

/** One change of this machine, before it is done. */
export interface Change {
  /** `resolver:acme.test`, `hosts:shop.acme.test`, `ports`: what the ledger calls it. */
  id: string;
  kind: ChangeKind;
  what: string;
  /** With an obstacle: why it cannot or need not be done, and what to do. */
  note: string;
  /** Empty when there is an obstacle. */
  steps: Step[];
  /** Commands that make programs read the files again, as they run after the steps, and after their undo. */
  afterApply: string[];
  afterUndo: string[];
  /** What to put where, when the system's own configuration is the place. */
  instead?: string;
}

/** What a plan is made for. */
export interface Wish {
  hostname: string;
  /** Suffix that Vivarium's DNS answers: the zone of the hostname, or the hostname itself. */
  zone: string;
  ports: { http: number; https: number; dns: number };
  /** The address of the PAC file. */
  pacUrl: string;
  /** Command that starts this Vivarium again; options may be appended. */
  start: string;
}

/** A file or folder of the machine. */
export interface Place {
  /** Null when there is no file. */
  text: string | null;
  /** The path without symbolic links. */
  path: string;
  /** Folders on the way that are missing, outermost first. */
  missingFolders: string[];
  /** Why it cannot be written, not even by the administrator. */
  readOnly: boolean;
}

/** How a plan reads the machine. */
export interface Look {
  at(path: string): Place;
  has(path: string): boolean;
}

/** Names exactly this change of exactly this state of the machine. */
export const codeOf = ({
  id,
  steps,
  afterApply,
  afterUndo,
}: Pick<Change, 'id' | 'steps' | 'afterApply' | 'afterUndo'>): string =>
  hash('sha256', JSON.stringify([id, steps, afterApply, afterUndo]), 'hex').slice(0, 8);

/** A change that an obstacle prevents, which the note describes. */
export const hindered = (change: Pick<Change, 'id' | 'kind' | 'what'>, note: string, instead?: string): Change => ({
  ...change,
  note,
  steps: [],
  afterApply: [],
  afterUndo: [],
  ...(instead !== undefined && { instead }),
});

/** A file of Vivarium's own, or why it cannot be made. */
export function ownFile(look: Look, wanted: string, is: string): Extract<Step, { kind: 'file' }> | string {
  const { text, path, missingFolders, readOnly } = look.at(wanted);
  if (text !== null) {
    const whose = text === is ? 'It has what Vivarium would write' : 'Vivarium did not write it';
    return `${path} exists already. ${whose}, and the ledger does not know it: move it away first.`;
  }
  if (readOnly) return `${path} cannot be made: the file system is read-only.`;
  return { kind: 'file', path, was: null, is, folders: missingFolders };
}
