import { hash } from 'node:crypto';
import { foreignOf, hostsLines } from '../base/system/system-names.ts';
import { z } from 'zod';

type ChangeKind = 'resolver' | 'ports' | 'hosts' | 'browser';

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
  pacUrl: string;
  /** The command that restarts this Vivarium; options may be appended. */
  start: string;
}

interface Place {
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

type About = Pick<Change, 'id' | 'kind' | 'what'>;

/** A change that is prevented by the obstacle in its note. */
export const hindered = (about: About, note: string, instead?: string): Change => ({
  ...{ ...about, note, steps: [], afterApply: [], afterUndo: [] },
  ...(instead !== undefined && { instead }),
});

/** A change that writes files of Vivarium's own, unless something is in the way of one; `instead` is for that case. */
export function ofFiles(
  about: About,
  look: Look,
  change: Pick<Change, 'note' | 'instead'> & {
    files: readonly (readonly [path: string, text: string])[];
    /** What follows the files. */
    more?: Step[];
    afterApply?: string[];
    /** That of `afterApply` without it. */
    afterUndo?: string[];
  },
): Change {
  const { note, files, more = [], afterApply = [], afterUndo = afterApply, instead } = change;
  const steps: Step[] = [];
  for (const [path, text] of files) {
    const step = ownFile(look, path, text);
    if (typeof step === 'string') return hindered(about, step, instead);
    steps.push(step);
  }
  return { ...about, note, steps: [...steps, ...more], afterApply, afterUndo };
}

/** The step for a file of Vivarium's own, or why it cannot be written. */
function ownFile(look: Look, wanted: string, is: string): Step | string {
  const { text, path, missingFolders, readOnly } = look.at(wanted);
  if (text !== null) {
    const whose = text === is ? 'It contains what Vivarium would write' : 'Vivarium did not write it';
    return `${path} exists already. ${whose}, and it is not in the ledger: move it away first.`;
  }
  if (readOnly) return `${path} cannot be created: the file system is read-only.`;
  return { kind: 'file', path, was: null, is, folders: missingFolders };
}

export const resolverOf = ({ zone }: Wish) =>
  ({ id: `resolver:${zone}`, kind: 'resolver', what: `Vivarium’s DNS for ${zone}` }) as const;
export const portsBy = (means = '') =>
  ({ id: 'ports', kind: 'ports', what: `Ports 80 and 443 for Vivarium${means}` }) as const;
export const asLongAs = ({ zone }: Wish): string => `For every name under ${zone}, as long as Vivarium has that zone.`;

/** Larger files, such as those of ad blockers, would be stored twice in the ledger. */
const HOSTS_LENGTH_MAX = 1_048_576;

/** Two lines in the hosts file, which every program of the machine reads. */
export function planHosts(
  hostname: string,
  look: Look,
  { file, afterwards = [] }: { file: string; afterwards?: string[] },
): Change {
  const about = { id: `hosts:${hostname}`, kind: 'hosts', what: `${hostname} in ${file}` } as const;
  if (hostname.startsWith('*.')) return hindered(about, 'A hosts file has no wildcards. Plan for a hostname below it.');
  const { text, path, readOnly } = look.at(file);
  if (readOnly) return hindered(about, `${path} cannot be changed: the file system is read-only.`);
  if ((text?.length ?? 0) > HOSTS_LENGTH_MAX) {
    return hindered(about, `${path} is larger than 1 MiB, which Vivarium does not keep. Add the lines yourself.`);
  }
  const [present] = hostsLines(hostname, text ?? '');
  if (present !== undefined) {
    return hindered(
      about,
      foreignOf([present.address]).length === 0
        ? `Line ${present.line} of ${path} leads ${hostname} to this machine already.`
        : `Line ${present.line} of ${path} leads ${hostname} to ${present.address}, and the first line counts. Remove it first.`,
    );
  }
  const lines = [`127.0.0.1 ${hostname}`, `::1 ${hostname}`];
  return {
    ...about,
    note: 'Every program of this machine reads it. It names one hostname, without those below it.',
    steps: [{ kind: 'block', path, was: text, is: withBlock(text, hostname, lines), mark: hostname, lines }],
    afterApply: afterwards,
    afterUndo: afterwards,
  };
}

/**
 * One change of one place of the machine, as data. File contents are Latin-1: every octet is one character, so a file
 * in any encoding survives the way through the ledger.
 */
export const step = z.discriminatedUnion('kind', [
  /** A file of Vivarium's own; `folders` are created for it, outermost first. */
  z.object({ kind: z.literal('file'), path: z.string(), was: z.null(), is: z.string(), folders: z.array(z.string()) }),
  /** Lines between two marks in a shared file. `was` and `is` are the whole file; null for no file. */
  z.object({
    kind: z.literal('block'),
    path: z.string(),
    was: z.string().nullable(),
    is: z.string(),
    mark: z.string(),
    lines: z.array(z.string()),
  }),
  /** A value of the kernel, written in place. */
  z.object({ kind: z.literal('value'), path: z.string(), was: z.string(), is: z.string() }),
  /** A change without a file. `test` exits with 0 while it is in place; null if only another part can tell. */
  z.object({
    kind: z.literal('command'),
    path: z.string(),
    apply: z.string(),
    undo: z.string(),
    test: z.string().nullable(),
  }),
]);
export type Step = z.infer<typeof step>;
export type BlockStep = Extract<Step, { kind: 'block' }>;
export type CommandStep = Extract<Step, { kind: 'command' }>;

/** `before`: the previous content; `changed`: neither that nor what Vivarium wrote. */
export type StepState = 'before' | 'applied' | 'changed' | 'unknown';

/** The first and the last line of a block; nothing else in the file is Vivarium's. */
export const markLines = (mark: string): [begin: string, end: string] => [
  `# Vivarium begin: ${mark}`,
  `# Vivarium end: ${mark}`,
];

/** Appends a block to a file; removing the block restores the file exactly. */
export function withBlock(was: string | null, mark: string, lines: readonly string[]): string {
  const [begin, end] = markLines(mark);
  const eol = was?.includes('\r\n') === true ? '\r\n' : '\n';
  const gap = was === null || was === '' || was.endsWith('\n') ? '' : eol;
  return `${was ?? ''}${gap}${[begin, ...lines, end, ''].join(eol)}`;
}

/** The state of a step with this current content; null for no file. */
export function stateOf(step: Exclude<Step, CommandStep>, now: string | null): StepState {
  if (step.kind === 'value') {
    const value = now?.trim();
    return value === step.is ? 'applied' : value === step.was ? 'before' : 'changed';
  }
  if (now === step.is) return 'applied';
  if (now === step.was) return 'before';
  return step.kind === 'block' ? stateOfBlock(step, now ?? '') : 'changed';
}

/** The rest of the file may have been edited. */
function stateOfBlock({ mark, lines }: BlockStep, now: string): StepState {
  const [begin, end] = markLines(mark);
  const all = now.split(/\r?\n/);
  const from = all.indexOf(begin);
  if (from < 0) return 'before';
  const inner = all.slice(from + 1, all.indexOf(end, from));
  const isWhole = all.includes(end, from) && inner.join('\n') === lines.join('\n');
  return isWhole && !all.includes(begin, from + 1) ? 'applied' : 'changed';
}

export function linesOf(step: Step): { removes: string[]; adds: string[] } {
  switch (step.kind) {
    case 'file':
      return { removes: [], adds: step.is.trimEnd().split('\n') };
    case 'block': {
      const [begin, end] = markLines(step.mark);
      return { removes: [], adds: [begin, ...step.lines, end] };
    }
    case 'value':
      return { removes: [step.was], adds: [step.is] };
    case 'command':
      return { removes: [], adds: step.apply.split('\n') };
  }
}
