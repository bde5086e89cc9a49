import { join } from 'node:path';
import { conflict, notFound } from '../contract/errors.ts';
import type { MachineChange, MachineChanges, MachinePlan, MachineStatus, MachineStep } from '../contract/machine.ts';
import { mention } from '../contract/calls.ts';
import { writeFileAtomically, OWNER_ONLY } from '../base/system/files.ts';
import { commandLine } from '../base/system/own-command.ts';
import { shellWord } from '../base/text/shell.ts';
import { type Change, codeOf, type Look, type Wish, linesOf, stateOf, type Step, type StepState } from './change.ts';
import { pasteFor, type Program, programFor, type Rights } from './elevation.ts';
import { type Entry, type Ledger, removeScript } from './ledger.ts';
import { isThere, lookAt, readText } from './look.ts';
import { planLinux, planMacos, planWindows } from './plans.ts';
import { renderPosixApply, renderWindowsApply } from './scripts.ts';
import { messageOf } from '../base/error-code.ts';

export interface MachineOptions {
  ledger: Ledger;
  rights: Rights;
  /** A folder in place of the system's root, in tests; empty for the system's. */
  root: string;
  /** Whether this user may write there; then no password is needed. */
  mayWrite: (path: string) => boolean;
  windowsFolder: string;
  dataDir: string;
  /** Formats a command of this Vivarium for a terminal. */
  ownCommand: (command: string) => string;
  /** In real time, in milliseconds. */
  now: () => number;
  run: (program: Program) => Promise<{ exitCode: number | null; stderr: string }>;
  /** The addresses to which this system resolves a hostname; empty if unknown. */
  resolve: (hostname: string) => Promise<readonly string[]>;
  /** Trust stores by id: whether they contain the root, and how to remove it. */
  trust: {
    present(): Promise<Map<string, boolean>>;
    untrust(store: string): Promise<{ isGone: boolean; message: string; command?: string }>;
  };
}

export type Machine = ReturnType<typeof createMachine>;

/** Plans changes of this machine, writes them into the ledger, makes them and undoes them. */
export function createMachine(options: MachineOptions) {
  const { ledger, rights, root, dataDir } = options;
  const look = lookAt(root);

  function planned(wish: Wish, from: Look = look): Change[] {
    if (rights.platform === 'darwin') return planMacos(wish, from);
    if (rights.platform === 'win32') return planWindows(wish, from, options.windowsFolder);
    return planLinux(wish, from);
  }

  async function apply(wish: Wish, code: string): Promise<MachineChange> {
    const change = planned(wish).find((one) => one.steps.length > 0 && codeOf(one) === code);
    const entries = ledger.read();
    if (change === undefined || entries.some(({ id }) => id === change.id)) {
      throw conflict(
        `No change planned for ${wish.hostname} has the code ${code}: the machine has changed, or the ledger has it already. Plan again: ${mention('machine.plan', { hostname: wish.hostname })}.`,
      );
    }
    const { id, kind, what, steps, afterApply, afterUndo } = change;
    const at = new Date(options.now()).toISOString();
    const entry: Entry = { id, kind, what, at, dataDir, steps, afterApply, afterUndo, code };
    ledger.write([...entries, entry]);
    const script = scriptOf(options, entry);
    const render = rights.platform === 'win32' ? renderWindowsApply : renderPosixApply;
    writeFileAtomically(script, render(change, root), OWNER_ONLY);
    const { message } = await runScript(options, script, [], steps);
    const observed = await observe(options, entry, new Map());
    if (observed.state === 'applied') removeScript(script);
    else if (message !== undefined) return { ...observed, message };
    return observed;
  }

  async function undoFiles(chosen: readonly Entry[], take: boolean): Promise<MachineChange[]> {
    const ids = new Set(chosen.map(({ id }) => id));
    let entries = ledger.read();
    const isUndone = async (entry: Entry) =>
      (await Promise.all(entry.steps.map((step) => stateOfStep(options, step)))).every((state) => state === 'before');
    const touched: string[] = [];
    for (const entry of chosen) {
      if (entry.undoing === true || hasLeftovers(options, entry) || !(await isUndone(entry))) touched.push(entry.id);
    }
    let outcome: Outcome = {};
    if (touched.length > 0) {
      entries = entries.map((entry) => (ids.has(entry.id) ? { ...entry, undoing: true } : entry));
      ledger.write(entries);
      const words = rights.platform === 'win32' ? (take ? ['-Take'] : []) : ['--files', ...(take ? ['--take'] : [])];
      const steps = chosen.filter(({ id }) => touched.includes(id)).flatMap((entry) => entry.steps);
      outcome = await runScript(options, ledger.undoScript, [...words, ...touched], steps);
    }
    const changes: MachineChange[] = [];
    for (const entry of chosen) {
      // An interrupted script may have left a folder.
      const isDone = Object.keys(outcome).length === 0 || !hasLeftovers(options, entry);
      const observed = await observe(options, { ...entry, undoing: isDone ? true : undefined }, new Map());
      changes.push(observed.state === 'undone' ? observed : { ...observed, ...whyLeft(observed, outcome) });
    }
    const gone = new Set(changes.filter(({ state }) => state === 'undone').map(({ id }) => id));
    ledger.write(entries.filter(({ id }) => !gone.has(id)));
    for (const entry of chosen) if (gone.has(entry.id)) removeScript(scriptOf(options, entry));
    return changes;
  }

  async function undoTrust(entry: Entry): Promise<MachineChange> {
    const { store = '' } = entry;
    const { isGone, message, command } = await options.trust.untrust(store);
    const observed = await observe(options, entry, new Map([[store, !isGone]]));
    return isGone ? observed : { ...observed, message, ...(command !== undefined && { command }) };
  }

  return {
    async plan(wish: Wish): Promise<MachinePlan> {
      const entries = ledger.read();
      const byId = new Map((await observeAll(options, entries)).map((entry) => [entry.id, entry]));
      const asBefore = withoutEntries(look, entries);
      return {
        hostname: wish.hostname,
        zone: wish.zone,
        resolvesTo: [...(await options.resolve(wish.hostname))],
        changes: planned(wish, asBefore).map((change) => {
          const made = byId.get(change.id);
          return made === undefined ? presentPlanned(options, change, wish) : { ...made, ...noteFor(change, made) };
        }),
        ledger: ledger.file,
      };
    },
    /** @throws VivariumError conflict if the machine has changed since the plan. */
    apply: (wish: Wish, code: string): Promise<MachineChanges> =>
      ledger.alone(async () => ({ changes: [await apply(wish, code)] })),
    /** Undoes the changes with these ids, or all of this data folder, last first. @throws VivariumError not_found */
    async undo({ ids, take }: { ids?: readonly string[] | undefined; take: boolean }): Promise<MachineChanges> {
      const entries = ledger.read();
      const unknown = ids?.find((id) => !entries.some((entry) => entry.id === id));
      if (unknown !== undefined) {
        throw notFound(
          `The ledger has no change ${unknown}; it may be undone already. To list its changes: ${mention('machine.status')}.`,
        );
      }
      const chosen = entries.filter((entry) =>
        ids === undefined ? entry.dataDir === dataDir : ids.includes(entry.id),
      );
      const changes: MachineChange[] = [];
      for (const entry of chosen.filter(({ kind }) => kind === 'trust')) changes.push(await undoTrust(entry));
      const ofFiles = chosen.filter(({ kind }) => kind !== 'trust');
      if (ofFiles.length > 0) changes.push(...(await ledger.alone(() => undoFiles(ofFiles, take))));
      return { changes };
    },
    async status(): Promise<MachineStatus> {
      return { ledger: ledger.file, undoScript: ledger.undoScript, changes: await observeAll(options, ledger.read()) };
    },
    export: (): string => `${JSON.stringify(ledger.read(), null, 2)}\n`,
  };
}

async function stateOfStep({ root, run }: MachineOptions, step: Step): Promise<StepState> {
  if (step.kind !== 'command') return stateOf(step, readText(root + step.path));
  if (step.test === null) return 'unknown';
  const args = ['-NoProfile', '-Command', `if (${step.test}) { exit 0 } else { exit 1 }`];
  const program = { command: 'powershell.exe', args, explains: 'reads the system’s settings', asks: false };
  const { exitCode } = await run(program).catch(() => ({ exitCode: null }));
  return exitCode === 0 ? 'applied' : exitCode === 1 ? 'before' : 'unknown';
}

async function observe(options: MachineOptions, entry: Entry, stores: Map<string, boolean>): Promise<MachineChange> {
  const { id, kind, what, at, store } = entry;
  const isPresent = store === undefined ? undefined : stores.get(store);
  const states: StepState[] =
    isPresent === undefined
      ? await Promise.all(entry.steps.map((step) => stateOfStep(options, step)))
      : [isPresent ? 'applied' : 'before'];
  const settled = entryState(states);
  // After a crash during a write, the file beside it may be the only copy.
  const isTorn = settled === 'pending' && entry.steps.some((step) => isWritten(options, step));
  const isUndone = settled === 'pending' && !isTorn && (entry.undoing === true || kind === 'trust');
  const state = isTorn ? 'partial' : isUndone ? 'undone' : settled;
  const command = nextFor(options, entry, state);
  return {
    ...{ id, kind, what, at, dataDir: entry.dataDir, state, runs: entry.afterApply, ...beforeOf(entry.steps) },
    steps: entry.steps.map((step, index) => ({ ...present(step), state: states[index] ?? 'unknown' })),
    ...(command !== undefined && { command }),
  };
}

function presentPlanned(
  { ownCommand }: MachineOptions,
  { id, kind, what, note, steps, afterApply, afterUndo, instead }: Change,
  { hostname }: Wish,
): MachineChange {
  const common = { id, kind, what, note, ...beforeOf(steps), steps: steps.map(present), runs: afterApply };
  if (steps.length === 0) return { ...common, state: 'obstacle', ...(instead !== undefined && { instead }) };
  const plan = codeOf({ id, steps, afterApply, afterUndo });
  const command = ownCommand(commandLine`vivarium machine apply ${hostname} ${plan}`);
  return { ...common, state: 'planned', plan, command };
}

function nextFor(options: MachineOptions, entry: Entry, state: MachineChange['state']): string | undefined {
  const { rights, ownCommand } = options;
  const script = scriptOf(options, entry);
  // The script is missing if a crash came before it was written.
  if (state === 'pending') return isThere(script) ? pasteFor(script, [], rights) : undefined;
  if (state === 'undone') return undefined;
  const id = shellWord(entry.id, rights.platform);
  return ownCommand(`vivarium machine undo --ids ${id}${state === 'changed' ? ' --take' : ''}`);
}

const scriptOf = ({ ledger, rights }: MachineOptions, { code }: Pick<Entry, 'code'>): string =>
  join(ledger.folder, `apply-${code}.${rights.platform === 'win32' ? 'ps1' : 'sh'}`);

/** Reads the trust stores only if the ledger contains one. */
async function observeAll(options: MachineOptions, entries: readonly Entry[]): Promise<MachineChange[]> {
  const stores = entries.some(({ store }) => store !== undefined)
    ? await options.trust.present()
    : new Map<string, boolean>();
  const observed = await Promise.all(entries.map((entry) => observe(options, entry, stores)));
  return observed.filter(({ state }) => state !== 'undone');
}

/** Runs a script if the system can prompt, otherwise returns the command to paste. */
async function runScript(
  { rights, root, mayWrite, run }: MachineOptions,
  script: string,
  words: readonly string[],
  steps: readonly Step[],
): Promise<Outcome> {
  const command = pasteFor(script, words, rights);
  const isOwn = steps.every((step) => step.kind !== 'command' && mayWrite(root + step.path));
  const program = programFor(script, words, { ...rights, privileged: rights.privileged || isOwn });
  if (program === null) return { command };
  try {
    const { exitCode, stderr } = await run(program);
    if (exitCode === 0) return {};
    const message = stderr.trim().slice(0, 1_000);
    return { ...(message !== '' && { message }), ...(program.asks && { command }) };
  } catch (error) {
    return { message: messageOf(error), command };
  }
}

/** The temporary file of a write. */
const isWritten = ({ root }: MachineOptions, { path }: Step): boolean => isThere(`${root}${path}.vivarium-new`);

/** The remains of a crash before the change. */
const hasLeftovers = (options: MachineOptions, { steps }: Entry): boolean =>
  steps.some(
    (step) =>
      isWritten(options, step) ||
      (step.kind === 'file' && step.folders.some((folder) => isThere(options.root + folder))),
  );

function entryState(states: readonly StepState[]): Exclude<StepState, 'before'> | 'pending' | 'partial' {
  if (states.includes('changed')) return 'changed';
  if (states.includes('unknown')) return 'unknown';
  if (states.every((state) => state === 'applied')) return 'applied';
  return states.every((state) => state === 'before') ? 'pending' : 'partial';
}

function present(step: Step) {
  const existed = step.kind === 'value' || (step.kind === 'block' && step.was !== null);
  return { path: step.path, existed, ...linesOf(step) };
}

/** Reads the machine as if the changes of the ledger had not been made. */
function withoutEntries(look: Look, entries: readonly Entry[]): Look {
  const steps = entries.flatMap((entry) => entry.steps);
  const hidden = (path: string): Step | undefined => steps.find((step) => step.kind !== 'block' && step.path === path);
  return {
    has: look.has,
    at(path) {
      const place = look.at(path);
      const step = hidden(place.path);
      return step === undefined || step.kind === 'command' ? place : { ...place, text: step.was };
    },
  };
}

/** Contents are Latin-1: one character per octet. */
function beforeOf(steps: readonly Step[]): { before?: string } {
  const texts = steps.flatMap((step) => (step.kind === 'command' || step.was === null ? [] : [step.was]));
  return texts.length === 0 ? {} : { before: Buffer.from(texts.join('\n'), 'latin1').toString('utf8') };
}

/** Adjusts the plan of a change in the ledger, which may differ today: another port, or another Vivarium. */
function noteFor(change: Change, made: MachineChange): { note?: string } {
  // A change in the ledger is not an obstacle.
  if (change.steps.length === 0) return {};
  const lines = (steps: readonly Pick<MachineStep, 'path' | 'adds'>[]): string =>
    JSON.stringify(steps.map(({ path, adds }) => [path, adds]));
  const isOutdated = lines(change.steps.map(present)) !== lines(made.steps);
  const outdated = `It was made for other ports, by the Vivarium of ${made.dataDir}. Undo it, and apply it again.`;
  return { note: isOutdated ? outdated : change.note };
}

interface Outcome {
  command?: string;
  message?: string;
}

/** Whether a repeated undo would again leave contents alone that others changed. */
const whyLeft = ({ state }: MachineChange, { command, message }: Outcome): Outcome => ({
  ...(message !== undefined && { message }),
  ...(command !== undefined && state !== 'changed' && { command }),
});
