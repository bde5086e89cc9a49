import type { Clock } from '../base/clock.ts';
import { codeOf, messageOf } from '../base/error-code.ts';
import { createTurns } from '../base/turns.ts';
import type { DoctorArea, DoctorCheck, DoctorReport, DoctorStatus } from '../contract/doctor.ts';
import { doctorArea } from '../contract/doctor.ts';
import { finding } from './finding.ts';

/** One check: gathers evidence and evaluates it. May be slow, hang or throw without delaying the others. */
export interface Probe {
  area: DoctorArea;
  /** Unique in its area; also names the check that reports the probe's failure. */
  name: string;
  title: string;
  look(): DoctorCheck[] | Promise<DoctorCheck[]>;
  /** The result in a run of all areas, for a probe that is too slow to be part of each of them. */
  skippedByDefault?: DoctorCheck;
  /** Real milliseconds for the probe; `PROBE_MS_MAX` by default. */
  realMsMax?: number;
}

/** The most probes at a time, over all runs: bounds sockets and programs while the engine serves. */
const PROBES_AT_ONCE_MAX = 4;

/** Real milliseconds per probe; trust stores that run programs are the slowest. */
const PROBE_MS_MAX = 10_000;

/** Real milliseconds per run; checks that are not done by then report that. */
const RUN_MS_MAX = 25_000;

/** Matches a command line that starts with `vivarium`. */
const OWN_COMMAND = /^vivarium .*$/gm;

export interface DoctorOptions {
  clock: Pick<Clock, 'now' | 'monotonic' | 'realTimer'>;
  /** Called at every run. */
  probes: () => readonly Probe[];
  running: boolean;
  /** Turns `vivarium clock reset` into a pasteable command. */
  ownCommand: (command: string) => string;
}

export interface Doctor {
  /** Checks some or all areas. Concurrent identical requests share one run. */
  run(areas?: readonly DoctorArea[]): Promise<DoctorReport>;
}

/** Creates a doctor from probes. It writes nothing, and never rejects because of a probe. */
export function createDoctor({ clock, probes, running, ownCommand }: DoctorOptions): Doctor {
  const turns = createTurns(PROBES_AT_ONCE_MAX);
  const underWay = new Map<string, Promise<DoctorReport>>();

  async function check(asked: readonly DoctorArea[] | undefined): Promise<DoctorReport> {
    const areas = asked ?? doctorArea.options;
    const checkedAt = new Date(clock.now()).toISOString();
    const begunMs = clock.monotonic();
    const chosen = probes().filter(({ area }) => areas.includes(area));
    const end = createDeadline(clock, RUN_MS_MAX);
    const found = await Promise.all(
      chosen.map((probe) =>
        asked === undefined && probe.skippedByDefault !== undefined
          ? [probe.skippedByDefault]
          : turns.enqueue(() => runProbe(probe, clock, end)),
      ),
    );
    end.cancel();
    const checks = found.flat().sort((a, b) => orderOf(a) - orderOf(b));
    return { checkedAt, elapsedMs: Math.round(clock.monotonic() - begunMs), running, counts: count(checks), checks };
  }

  const pasteable = (check: DoctorCheck): DoctorCheck => {
    const own = (text: string): string => text.replaceAll(OWN_COMMAND, ownCommand);
    return {
      ...check,
      ...(check.commands !== undefined && { commands: own(check.commands) }),
      ...(check.otherwise !== undefined && { otherwise: own(check.otherwise) }),
    };
  };

  return {
    async run(areas) {
      const key = [...new Set(areas)].sort().join();
      const run = underWay.get(key) ?? check(areas).finally(() => underWay.delete(key));
      underWay.set(key, run);
      const report = await run;
      // Here, because callers who share a run may type commands differently.
      return { ...report, checks: report.checks.map(pasteable) };
    },
  };
}

export function count(checks: readonly DoctorCheck[]): DoctorReport['counts'] {
  const of = (status: DoctorStatus): number => checks.filter((check) => check.status === status).length;
  return { failed: of('failed'), warning: of('warning'), ok: of('ok'), skipped: of('skipped') };
}

const orderOf = ({ area }: DoctorCheck): number => doctorArea.options.indexOf(area);

async function runProbe(probe: Probe, clock: Pick<Clock, 'realTimer'>, run: Deadline): Promise<DoctorCheck[]> {
  const late = () => [unknown(probe, 'The check took too long; the result is unknown.')];
  // A finished run starts no more probes.
  if (run.isOver()) return late();
  const limit = createDeadline(clock, probe.realMsMax ?? PROBE_MS_MAX);
  try {
    return await Promise.race([
      Promise.resolve().then(() => probe.look()),
      limit.passed.then(late),
      run.passed.then(late),
    ]);
  } catch (error) {
    return [probeFailed(probe, error)];
  } finally {
    limit.cancel();
  }
}

const unknown = (probe: Probe, evidence: string): DoctorCheck =>
  finding(probe, 'warning', [evidence], {
    fix: 'Run the doctor again; if that does not help, read the log.',
  });

/** Missing permissions are reported with the folder's permissions. */
function probeFailed(probe: Probe, error: unknown): DoctorCheck {
  const evidence = `The check failed: ${messageOf(error)}`;
  const denied = codeOf(error) === 'EACCES';
  return denied
    ? finding(probe, 'skipped', [evidence, 'The check Permissions says what to do.'])
    : unknown(probe, evidence);
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
