import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/error-code.ts';
import { createTurns } from '../base/turns.ts';
import type { DoctorArea, DoctorCheck, DoctorReport, DoctorStatus } from '../contract/doctor.ts';
import { doctorArea } from '../contract/doctor.ts';
import { finding } from './finding.ts';

/** One thing to look at: gathers evidence, and judges it. May take its time, hang, or throw: the others go on. */
export interface Probe {
  area: DoctorArea;
  /** Unique in its area; of the check that stands for it when it fails. */
  name: string;
  /** What it looks at, as a title. */
  title: string;
  look(): DoctorCheck[] | Promise<DoctorCheck[]>;
}

/** Probes at work at a time, over all runs: sockets and a few programs, beside an engine that serves. */
const PROBES_AT_ONCE_MAX = 4;

/** Real milliseconds that one probe may take; trust stores that ask programs are the slowest. */
const PROBE_MS_MAX = 10_000;

/** Real milliseconds of a whole run; what has not been looked at by then says so. */
const RUN_MS_MAX = 25_000;

/** A line of commands that is one of Vivarium's own. */
const OWN_COMMAND = /^vivarium .*$/gm;

export interface DoctorOptions {
  clock: Pick<Clock, 'now' | 'monotonic' | 'realTimer'>;
  /** Asked at every run. */
  probes: () => readonly Probe[];
  /** Whether there is an engine to look at. */
  running: boolean;
  /** A command of Vivarium's own (`vivarium clock reset`) as it can be pasted here. */
  ownCommand: (command: string) => string;
}

export interface Doctor {
  /** Looks at all areas, or at some. The same question while one is being answered gets the same answer. */
  run(areas?: readonly DoctorArea[]): Promise<DoctorReport>;
}

/** The doctor over its probes. It starts nothing, writes nothing, and never rejects for what a probe does. */
export function createDoctor({ clock, probes, running, ownCommand }: DoctorOptions): Doctor {
  const turns = createTurns(PROBES_AT_ONCE_MAX);
  const underWay = new Map<string, Promise<DoctorReport>>();

  async function examine(areas: readonly DoctorArea[]): Promise<DoctorReport> {
    const examinedAt = new Date(clock.now()).toISOString();
    const begunMs = clock.monotonic();
    const chosen = probes().filter(({ area }) => areas.includes(area));
    const end = createDeadline(clock, RUN_MS_MAX);
    const found = await Promise.all(chosen.map((probe) => turns.take(() => lookAt(probe, clock, end))));
    end.cancel();
    const checks = found
      .flat()
      .sort((a, b) => orderOf(a) - orderOf(b))
      .map(pasteable);
    return { examinedAt, elapsedMs: Math.round(clock.monotonic() - begunMs), running, counts: count(checks), checks };
  }

  const pasteable = (check: DoctorCheck): DoctorCheck =>
    check.commands === undefined ? check : { ...check, commands: check.commands.replaceAll(OWN_COMMAND, ownCommand) };

  return {
    run(areas = doctorArea.options) {
      const key = [...new Set(areas)].sort().join();
      const joined = underWay.get(key);
      if (joined !== undefined) return joined;
      const report = examine(areas).finally(() => underWay.delete(key));
      underWay.set(key, report);
      return report;
    },
  };
}

export function count(checks: readonly DoctorCheck[]): DoctorReport['counts'] {
  const of = (status: DoctorStatus): number => checks.filter((check) => check.status === status).length;
  return { failed: of('failed'), warning: of('warning'), ok: of('ok'), skipped: of('skipped') };
}

const orderOf = ({ area }: DoctorCheck): number => doctorArea.options.indexOf(area);

async function lookAt(probe: Probe, clock: Pick<Clock, 'realTimer'>, run: Deadline): Promise<DoctorCheck[]> {
  const late = () => [unknown(probe, 'It took too long to look at; nothing is known of it.')];
  // A run that is over begins nothing new.
  if (run.isOver()) return late();
  const limit = createDeadline(clock, PROBE_MS_MAX);
  try {
    return await Promise.race([
      Promise.resolve().then(() => probe.look()),
      limit.passed.then(late),
      run.passed.then(late),
    ]);
  } catch (error) {
    return [unlooked(probe, error)];
  } finally {
    limit.cancel();
  }
}

const unknown = (probe: Probe, evidence: string): DoctorCheck =>
  finding(probe, 'warning', [evidence], {
    fix: 'Run the doctor again; if it stays so, look into the log.',
  });

/** What the system keeps from this user is told of with the folder's permissions. */
function unlooked(probe: Probe, error: unknown): DoctorCheck {
  const evidence = `It could not be looked at: ${error instanceof Error ? error.message : String(error)}`;
  const denied = codeOf(error) === 'EACCES';
  return denied ? finding(probe, 'skipped', [evidence, 'Permissions says what to do.']) : unknown(probe, evidence);
}

interface Deadline {
  passed: Promise<null>;
  isOver(): boolean;
  cancel(): void;
}

function createDeadline(clock: Pick<Clock, 'realTimer'>, ms: number): Deadline {
  const { promise, resolve } = Promise.withResolvers<null>();
  let over = false;
  const timer = clock.realTimer(ms, () => {
    over = true;
    resolve(null);
  });
  return { passed: promise, isOver: () => over, cancel: () => timer.cancel() };
}
