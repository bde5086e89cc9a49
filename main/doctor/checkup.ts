import type { Clock } from '../base/clock.ts';
import { codeOf, messageOf } from '../base/error-code.ts';
import { createTurns } from '../base/turns.ts';
import { doctorArea } from '../contract/doctor.ts';
import type { DoctorArea, DoctorCheck, DoctorReport, DoctorStatus } from '../contract/doctor.ts';
import { brokenCheck, checkOf } from './finding.ts';
import { DAY_MS } from '../contract/duration.ts';
import { HOSTS_FILE, type SystemAnswer } from '../base/system/system-names.ts';
import type { StoreTrust } from '../contract/certificates.ts';
import { BROKEN_ON_PURPOSE } from '../model/dns-lookup.ts';
import { type Fault, type FaultSource, nameOf, NO_FAULTS } from '../model/fault.ts';
import type { CertificateReading } from './root.ts';

/** One check: gathers evidence and evaluates it. May be slow, hang or throw without delaying the others. */
export interface Probe {
  area: DoctorArea;
  /** Unique in its area; also names the check that reports the probe's failure. */
  name: string;
  title: string;
  look(find: Find): DoctorCheck[] | Promise<DoctorCheck[]>;
  /** The result in a run of all areas, for a probe that is too slow to be part of each of them. */
  skippedByDefault?: DoctorCheck;
  /** Real milliseconds for the probe; `PROBE_MS_MAX` by default. */
  realMsMax?: number;
}

export const probe = (
  area: DoctorArea,
  name: string,
  title: string,
  look: Probe['look'],
  more: Pick<Probe, 'skippedByDefault' | 'realMsMax'> = {},
): Probe => ({ area, name, title, look, ...more });

/** The most probes at a time, over all runs: bounds sockets and programs while the engine serves. */
const PROBES_AT_ONCE_MAX = 4;

/** Real milliseconds per probe; trust stores that run programs are the slowest. */
const PROBE_MS_MAX = 10_000;

/** Real milliseconds per run; checks that are not done by then report that. */
const RUN_MS_MAX = 25_000;

const OWN_COMMAND = /^vivarium .*$/gm;

interface DoctorOptions {
  clock: Pick<Clock, 'now' | 'monotonic' | 'realTimer'>;
  /** Called at every run. */
  probes: () => readonly Probe[];
  running: boolean;
  /** Turns `vivarium clock reset` into a pasteable command. */
  ownCommand: (command: string) => string;
  /** The running breaks that replace evidence; none without an engine. */
  faults?: Pick<FaultSource, 'named'>;
}

export type Doctor = ReturnType<typeof createDoctor>;

/** Creates a doctor from probes. It writes nothing, and never rejects because of a probe. */
export function createDoctor({ clock, probes, running, ownCommand, faults = NO_FAULTS }: DoctorOptions) {
  const turns = createTurns(PROBES_AT_ONCE_MAX);
  const underWay = new Map<string, Promise<DoctorReport>>();

  async function check(asked: readonly DoctorArea[] | undefined): Promise<DoctorReport> {
    const areas = asked ?? doctorArea.options;
    const checkedAt = new Date(clock.now()).toISOString();
    const begunMs = clock.monotonic();
    const chosen = probes().filter(({ area }) => areas.includes(area));
    const end = createDeadline(clock, RUN_MS_MAX);
    const found = await Promise.all(
      chosen.map((each) =>
        asked === undefined && each.skippedByDefault !== undefined
          ? [each.skippedByDefault]
          : turns.enqueue(() => runProbe(each, faults, clock, end)),
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
    /** Checks some or all areas. Concurrent identical requests share one run. */
    async run(areas?: readonly DoctorArea[]): Promise<DoctorReport> {
      const key = [...new Set(areas)].sort().join();
      const run = underWay.get(key) ?? check(areas).finally(() => underWay.delete(key));
      underWay.set(key, run);
      const report = await run;
      // Here, because callers who share a run may type commands differently.
      return { ...report, checks: report.checks.map(pasteable) };
    },
  };
}

function count(checks: readonly DoctorCheck[]): DoctorReport['counts'] {
  const of = (status: DoctorStatus): number => checks.filter((check) => check.status === status).length;
  return { failed: of('failed'), warning: of('warning'), ok: of('ok'), skipped: of('skipped') };
}

const orderOf = ({ area }: DoctorCheck): number => doctorArea.options.indexOf(area);

async function runProbe(
  asked: Probe,
  faults: Pick<FaultSource, 'named'>,
  clock: Pick<Clock, 'realTimer'>,
  run: Deadline,
): Promise<DoctorCheck[]> {
  const { area, name, title } = asked;
  const late = () => [checkOf(area, name, title).warning('The check took too long; the result is unknown.', TRY_AGAIN)];
  // A finished run starts no more probes.
  if (run.isOver()) return late();
  const limit = createDeadline(clock, asked.realMsMax ?? PROBE_MS_MAX);
  try {
    return await Promise.race([
      Promise.resolve().then(withBreaks(faults, asked.look)),
      limit.passed.then(late),
      run.passed.then(late),
    ]);
  } catch (error) {
    return [probeFailed(asked, error)];
  } finally {
    limit.cancel();
  }
}

const TRY_AGAIN = 'Run the doctor again; if that does not help, read the log.';

/** Missing permissions are reported with the folder's permissions. */
function probeFailed({ area, name, title }: Probe, error: unknown): DoctorCheck {
  const evidence = `The check failed: ${messageOf(error)}`;
  const { skipped, warning } = checkOf(area, name, title);
  return codeOf(error) === 'EACCES'
    ? skipped([evidence, 'The check Permissions says what to do.'])
    : warning(evidence, TRY_AGAIN);
}

type Deadline = ReturnType<typeof createDeadline>;

function createDeadline(clock: Pick<Clock, 'realTimer'>, ms: number) {
  const { promise, resolve } = Promise.withResolvers<null>();
  let over = false;
  const timer = clock.realTimer(ms, () => {
    over = true;
    resolve(null);
  });
  return { passed: promise, isOver: (): boolean => over, cancel: () => timer.cancel() };
}

/** Finds the running break of an entry, for the hostnames if the entry is limited to hostnames. */
export type Find = (entry: string, hostnames?: readonly string[]) => Fault | null;

/** A probe's `look` in which running breaks may replace evidence. Its findings then name the breaks. */
export const withBreaks =
  (faults: Pick<FaultSource, 'named'>, look: (find: Find) => DoctorCheck[] | Promise<DoctorCheck[]>) =>
  async (): Promise<DoctorCheck[]> => {
    const found = new Map<string, string>();
    const checks = await look((entry, hostnames = []) => {
      const fault = faults.named?.(entry, hostnames) ?? null;
      if (fault !== null) found.set(nameOf(fault).breakId, nameOf(fault).entry);
      return fault;
    });
    if (found.size === 0) return checks;
    const mark = `${BROKEN_ON_PURPOSE}: ${[...found.values()].join(', ')}. Nothing on this machine was changed.`;
    return checks.map((check) => brokenCheck(check, [mark], [...found.keys()]));
  };

/** The store that the probe sees; nothing on this machine is changed. */
export function storeSeen(find: Find, store: StoreTrust): StoreTrust {
  if (store.state !== 'trusted' || find('machine.root-gone') === null) return store;
  const { store: name, title } = store;
  return { ...store, store: name, title, state: 'untrusted', message: `${title} no longer has the root.` };
}

export function machineTimeSeen(find: Find, realNowMs: number): number {
  const fault = find('machine.clock-skewed');
  return fault === null ? realNowMs : realNowMs - Number(fault.parameters['days']) * DAY_MS;
}

/** The answer that the probe sees: a documentation address (RFC 5737), from a line that does not exist. */
export function systemSeen(find: Find, hostname: string, answer: SystemAnswer): SystemAnswer {
  if (find('machine.hosts-line', [hostname]) === null) return answer;
  const address = '192.0.2.1';
  return { addresses: [address], reason: null, hosts: { file: HOSTS_FILE, line: 1, address } };
}

export function rootSeen(find: Find, certificate: CertificateReading, realNowMs: number): CertificateReading {
  const fault = certificate.state === 'read' ? find('ca.root-ending') : null;
  if (fault === null || certificate.state !== 'read') return certificate;
  return { ...certificate, notAfterMs: realNowMs + Number(fault.parameters['days']) * DAY_MS };
}
