import { join } from 'node:path';
import { VivariumError } from '../contract/errors.ts';
import type { MachineEntry, MachinePlan, MachineStatus, MachineUndone, PlannedChange } from '../contract/machine.ts';
import { mention } from '../contract/mentions.ts';
import { writeFileAtomically, OWNER_ONLY } from '../base/files.ts';
import { type Change, codeOf, type Look, type Wish } from './change.ts';
import { pasteFor, type Program, programFor, type Rights } from './elevation.ts';
import { type Entry, type Ledger, removeScript } from './ledger.ts';
import { planLinux } from './linux.ts';
import { isThere, lookAt, readText } from './look.ts';
import { planMacos } from './macos.ts';
import { renderPosixApply } from './script-posix.ts';
import { renderWindowsApply } from './script-windows.ts';
import { linesOf, stateOf, type Step, type StepState } from './step.ts';
import { planWindows } from './windows.ts';

export interface MachineOptions {
  ledger: Ledger;
  rights: Rights;
  /** A folder in place of the system's root, in tests; empty for the system's. */
  root: string;
  /** Whether this user may write there: no password is needed for what is their own. */
  mayWrite: (path: string) => boolean;
  windowsFolder: string;
  dataDir: string;
  /** In real time, in milliseconds. */
  now: () => number;
  run: (program: Program) => Promise<{ exitCode: number | null; stderr: string }>;
  /** Where this system leads a hostname; empty when it does not know it. */
  resolve: (hostname: string) => Promise<string[]>;
  /** Trust stores by id: whether they have the root, and taking it out. */
  trust: {
    present(): Promise<Map<string, boolean>>;
    untrust(store: string): Promise<{ isGone: boolean; message: string; command?: string }>;
  };
}

export interface Machine {
  plan(wish: Wish): Promise<MachinePlan>;
  /** @throws VivariumError conflict when the machine is not as it was planned for. */
  apply(wish: Wish, plan: string): Promise<MachineEntry>;
  /** Those with the ids, or all of this data folder, the last one first. @throws VivariumError not_found */
  undo(options: { ids?: readonly string[] | undefined; take: boolean }): Promise<MachineUndone>;
  status(): Promise<MachineStatus>;
  /** The ledger's text. */
  export(): string;
}

/** The changes of this machine: planned, written into the ledger, then done, and taken back. */
export function createMachine(options: MachineOptions): Machine {
  const { ledger, rights, root, dataDir, run } = options;
  const look = lookAt(root);

  function planned(wish: Wish, from: Look = look): Change[] {
    if (rights.platform === 'darwin') return planMacos(wish, from);
    if (rights.platform === 'win32') return planWindows(wish, from, options.windowsFolder);
    return planLinux(wish, from);
  }

  async function stateOfStep(step: Step): Promise<StepState> {
    if (step.kind !== 'command') return stateOf(step, readText(root + step.path));
    if (step.test === null) return 'unknown';
    const args = ['-NoProfile', '-Command', `if (${step.test}) { exit 0 } else { exit 1 }`];
    const program = { command: 'powershell.exe', args, explains: 'reads the system’s settings', asks: false };
    const { exitCode } = await run(program).catch(() => ({ exitCode: null }));
    return exitCode === 0 ? 'applied' : exitCode === 1 ? 'before' : 'unknown';
  }

  /** Null for what is as it was before. */
  async function observe(entry: Entry, stores: Map<string, boolean>): Promise<MachineEntry | null> {
    const { id, kind, title, at, store } = entry;
    const isPresent = store === undefined ? undefined : stores.get(store);
    const states: StepState[] =
      isPresent === undefined ? await Promise.all(entry.steps.map(stateOfStep)) : [isPresent ? 'applied' : 'before'];
    const settled = entryState(states);
    // A crash while a file was written: what is beside it may be all that there is of it.
    const state = settled === 'pending' && entry.steps.some(isWritten) ? 'partial' : settled;
    if (state === 'pending' && (entry.undoing === true || kind === 'trust')) return null;
    const script = scriptOf(entry);
    return {
      id,
      kind,
      title,
      at,
      dataDir: entry.dataDir,
      state,
      steps: entry.steps.map((step, index) => ({ ...present(step), state: states[index] ?? 'unknown' })),
      ...(state === 'pending' && isThere(script) && { command: pasteFor(script, [], rights) }),
    };
  }

  const scriptOf = ({ code }: Pick<Entry, 'code'>): string =>
    join(ledger.folder, `apply-${code}.${rights.platform === 'win32' ? 'ps1' : 'sh'}`);

  /** What trust stores say is needed only where the ledger has one. */
  const storesFor = (entries: readonly Entry[]): Promise<Map<string, boolean>> =>
    entries.some(({ store }) => store !== undefined) ? options.trust.present() : Promise.resolve(new Map());

  async function observeAll(entries: readonly Entry[]): Promise<MachineEntry[]> {
    const stores = await storesFor(entries);
    const observed = await Promise.all(entries.map((entry) => observe(entry, stores)));
    return observed.filter((entry) => entry !== null);
  }

  /** Runs a script where the system can ask, or returns the command to paste. */
  async function runScript(
    script: string,
    words: readonly string[],
    steps: readonly Step[],
  ): Promise<{ command?: string; message?: string }> {
    const command = pasteFor(script, words, rights);
    const isOwn = steps.every((step) => step.kind !== 'command' && options.mayWrite(root + step.path));
    const program = programFor(script, words, { ...rights, privileged: rights.privileged || isOwn });
    if (program === null) return { command };
    try {
      const { exitCode, stderr } = await run(program);
      if (exitCode === 0) return {};
      const message = stderr.trim().slice(0, 1_000);
      return { ...(message !== '' && { message }), ...(program.asks && { command }) };
    } catch (error) {
      return { message: error instanceof Error ? error.message : String(error), command };
    }
  }

  async function apply(wish: Wish, code: string): Promise<MachineEntry> {
    const change = planned(wish).find((one) => one.steps.length > 0 && codeOf(one) === code);
    const entries = ledger.read();
    if (change === undefined || entries.some(({ id }) => id === change.id)) {
      throw new VivariumError(
        'conflict',
        `No change planned for ${wish.hostname} has the code ${code}: the machine has changed, or the ledger has it already. Plan again: ${mention('machine.plan', { hostname: wish.hostname })}.`,
      );
    }
    const { id, kind, title, steps, afterApply, afterUndo } = change;
    const at = new Date(options.now()).toISOString();
    const entry: Entry = { id, kind, title, at, dataDir, steps, afterApply, afterUndo, code };
    ledger.write([...entries, entry]);
    const script = scriptOf(entry);
    const render = rights.platform === 'win32' ? renderWindowsApply : renderPosixApply;
    writeFileAtomically(script, render(change, root), OWNER_ONLY);
    const outcome = await runScript(script, [], steps);
    const observed = await observe(entry, new Map());
    if (observed === null) throw new Error('A new entry of the ledger is not being undone.');
    if (observed.state === 'applied') {
      removeScript(script);
      return observed;
    }
    return { ...observed, ...outcome };
  }

  /** A file that is being written, or was in a crash. */
  const isWritten = ({ path }: Step): boolean => isThere(`${root}${path}.vivarium-new`);

  /** What a crash left before the change itself. */
  const hasLeftovers = ({ steps }: Entry): boolean =>
    steps.some(
      (step) => isWritten(step) || (step.kind === 'file' && step.folders.some((folder) => isThere(root + folder))),
    );

  async function undoFiles(chosen: readonly Entry[], take: boolean): Promise<MachineUndone> {
    const ids = new Set(chosen.map(({ id }) => id));
    let entries = ledger.read();
    const isUndone = async (entry: Entry) =>
      (await Promise.all(entry.steps.map(stateOfStep))).every((state) => state === 'before');
    const touched: string[] = [];
    for (const entry of chosen) {
      if (entry.undoing === true || hasLeftovers(entry) || !(await isUndone(entry))) touched.push(entry.id);
    }
    let outcome: { command?: string; message?: string } = {};
    if (touched.length > 0) {
      entries = entries.map((entry) => (ids.has(entry.id) ? { ...entry, undoing: true } : entry));
      ledger.write(entries);
      const words = rights.platform === 'win32' ? (take ? ['-Take'] : []) : ['--files', ...(take ? ['--take'] : [])];
      const steps = chosen.filter(({ id }) => touched.includes(id)).flatMap((entry) => entry.steps);
      outcome = await runScript(ledger.undoScript, [...words, ...touched], steps);
    }
    const undone: MachineUndone = { undone: [], left: [] };
    for (const entry of chosen) {
      // A script that did not come to its end may have left a folder.
      const isDone = Object.keys(outcome).length === 0 || !hasLeftovers(entry);
      const observed = await observe({ ...entry, undoing: isDone ? true : undefined }, new Map());
      if (observed === null) undone.undone.push({ id: entry.id, title: entry.title });
      else undone.left.push({ ...observed, ...outcome });
    }
    const gone = new Set(undone.undone.map(({ id }) => id));
    ledger.write(entries.filter(({ id }) => !gone.has(id)));
    for (const entry of chosen) if (gone.has(entry.id)) removeScript(scriptOf(entry));
    return undone;
  }

  async function undoTrust(entry: Entry): Promise<MachineUndone> {
    const { id, title, store = '' } = entry;
    const { isGone, message, command } = await options.trust.untrust(store);
    if (isGone) return { undone: [{ id, title }], left: [] };
    const observed = await observe(entry, new Map([[store, true]]));
    const why = { message, ...(command !== undefined && { command }) };
    return { undone: [], left: observed === null ? [] : [{ ...observed, ...why }] };
  }

  return {
    async plan(wish) {
      const entries = ledger.read();
      const byId = new Map((await observeAll(entries)).map((entry) => [entry.id, entry]));
      const asBefore = withoutEntries(look, entries);
      return {
        hostname: wish.hostname,
        zone: wish.zone,
        resolvesTo: await options.resolve(wish.hostname),
        changes: planned(wish, asBefore).map((change) => {
          const made = entries.find(({ id }) => id === change.id);
          return presentChange(change, byId.get(change.id), made !== undefined && isForAnother(change, made));
        }),
        ledger: ledger.file,
      };
    },
    apply: (wish, code) => ledger.alone(() => apply(wish, code)),
    async undo({ ids, take }) {
      const entries = ledger.read();
      const unknown = ids?.find((id) => !entries.some((entry) => entry.id === id));
      if (unknown !== undefined) {
        throw new VivariumError(
          'not_found',
          `The ledger has no change ${unknown}; it may be undone already. These it has: ${mention('machine.status')}.`,
        );
      }
      const chosen = entries.filter((entry) =>
        ids === undefined ? entry.dataDir === dataDir : ids.includes(entry.id),
      );
      const all: MachineUndone = { undone: [], left: [] };
      const add = (part: MachineUndone) => {
        all.undone.push(...part.undone);
        all.left.push(...part.left);
      };
      for (const entry of chosen.filter(({ kind }) => kind === 'trust')) add(await undoTrust(entry));
      const ofFiles = chosen.filter(({ kind }) => kind !== 'trust');
      if (ofFiles.length > 0) add(await ledger.alone(() => undoFiles(ofFiles, take)));
      return all;
    },
    async status() {
      return { ledger: ledger.file, undoScript: ledger.undoScript, entries: await observeAll(ledger.read()) };
    },
    export: () => `${JSON.stringify(ledger.read(), null, 2)}\n`,
  };
}

function entryState(states: readonly StepState[]): MachineEntry['state'] {
  if (states.includes('changed')) return 'changed';
  if (states.includes('unknown')) return 'unknown';
  if (states.every((state) => state === 'applied')) return 'applied';
  return states.every((state) => state === 'before') ? 'pending' : 'partial';
}

function present(step: Step) {
  const existed = step.kind === 'value' || (step.kind === 'block' && step.was !== null);
  return { path: step.path, existed, ...linesOf(step) };
}

/** The machine as it would be without the changes of the ledger. */
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

/** Whether a change would be made with other lines today: another port, or another Vivarium's. */
function isForAnother(change: Change, { steps }: Entry): boolean {
  if (change.steps.length === 0) return false;
  const lines = (all: readonly Step[]): string => JSON.stringify(all.map((step) => [step.path, linesOf(step).adds]));
  return lines(change.steps) !== lines(steps);
}

function presentChange(change: Change, entry: MachineEntry | undefined, isOutdated: boolean): PlannedChange {
  const { id, kind, title, note, steps, afterApply, obstacle, instead } = change;
  // What is there already is no obstacle where the ledger has it.
  if (entry !== undefined) {
    const outdated = `It was made for other ports, by the Vivarium of ${entry.dataDir}. Undo it, and apply it again.`;
    return {
      id,
      kind,
      title: entry.title,
      note: isOutdated ? outdated : note,
      steps: entry.steps,
      runs: [],
      entry,
    };
  }
  return {
    id,
    kind,
    title,
    note,
    ...(steps.length > 0 && { plan: codeOf(change) }),
    steps: steps.map(present),
    runs: afterApply,
    ...(obstacle !== undefined && { obstacle }),
    ...(instead !== undefined && { instead }),
  };
}
