import { z } from 'zod';

/**
 * One change of one place of the machine, as data. File contents are Latin-1: every octet is one character, so a file
 * in any encoding survives the way through the ledger.
 */
export const step = z.discriminatedUnion('kind', [
  /** A file of Vivarium's own; `folders` are created for it, outermost first. */
  z.object({
    kind: z.literal('file'),
    path: z.string(),
    was: z.null(),
    is: z.string(),
    folders: z.array(z.string()),
  }),
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
