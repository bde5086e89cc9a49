import type { DoctorCheck } from '../contract/doctor.ts';
import { checkOf } from './finding.ts';
import type { DesktopFacts } from '../base/system/desktop.ts';

const SUBJECT = ['engine', 'process', 'Process'] as const;

interface RunningEvidence {
  pid: number;
  version: string;
  dataDir: string;
  ephemeral: boolean;
}

export function evaluateRunning({ pid, version, dataDir, ephemeral }: RunningEvidence): DoctorCheck {
  const { ok } = checkOf(...SUBJECT);
  return ok(`Vivarium ${version} runs as process ${pid} on ${dataDir}${ephemeral ? ' and stores nothing' : ''}.`);
}

/** Vivarium's own warnings: a failed backup, a file that could not be written. */
export function evaluateWarnings(warnings: readonly string[]): DoctorCheck {
  const { ok, warning } = checkOf('engine', 'warnings', 'Warnings');
  if (warnings.length === 0) return ok('None since the start.');
  return warning(warnings, 'Each says what to do; the log has details.');
}

/** Data folder of an engine that does not answer or does not run. */
export interface AbsenceEvidence {
  dataDir: string;
  runtimeFile: string;
  /** The content of `runtimeFile`; `alive`: whether the process exists. */
  runtime:
    | { state: 'absent' }
    | { state: 'unreadable'; reason: string }
    | { state: 'read'; pid: number; alive: boolean; url: string };
  /** Whether the folder's lock is held; null if unknown. */
  locked: boolean | null;
  /** Why the call to the control port failed, if one was made. */
  silence: string | null;
}

/** Why no engine answered. A stopped engine is not a fault. */
export function evaluateAbsence({ dataDir, runtimeFile, runtime, locked, silence }: AbsenceEvidence): DoctorCheck {
  const { skipped, warning, failed } = checkOf(...SUBJECT);
  const start = { fix: 'Start it if it should run.', commands: ['vivarium start'] };
  const lock = locked === true ? ['A Vivarium holds the folder’s lock.'] : [];
  if (runtime.state === 'unreadable') {
    return failed(
      [`${runtimeFile} can’t be read: ${runtime.reason}.`, ...lock],
      locked === true || runtime.reason === 'EACCES'
        ? 'Run the doctor as the user that runs Vivarium, or choose another folder with --data-dir.'
        : 'Start Vivarium: it replaces the file. If the file belongs to another user, choose another --data-dir.',
    );
  }
  if (runtime.state === 'absent') {
    if (locked !== true) return skipped(`No Vivarium is running on ${dataDir}.`, start);
    return warning(['A Vivarium is starting or stopping.', ...lock], 'Run the doctor again in a few seconds.');
  }
  const { pid, alive, url } = runtime;
  if (!alive || locked === false) {
    const why = !alive ? `process ${pid} ended without removing it` : `process ${pid} is now another program`;
    return warning(
      `${runtimeFile} was left behind: ${why}.`,
      'Start Vivarium: it recovers from the crash and replaces the file.',
      start.commands,
    );
  }
  return failed(
    [`Process ${pid} runs, but ${url} gives no report: ${silence ?? 'no request was sent'}.`, ...lock],
    'It hangs or is an older version. End the process and start Vivarium again; acknowledged changes are safe.',
    [`kill ${pid}`, 'vivarium start'],
  );
}

/** Facts for bug reports about the window, and the settings that keep the window secure. */
export const evaluateDesktop = (facts: DesktopFacts): DoctorCheck[] => [
  evaluateRuntime(facts),
  evaluateSandbox(facts),
  evaluateKeyring(facts),
  evaluateTray(facts),
];

function evaluateRuntime({ electron, chromium, cryptography, session, gpu }: DesktopFacts): DoctorCheck {
  return checkOf('desktop', 'runtime', 'Electron').ok([
    `Electron ${electron}, Chromium ${chromium}, cryptography by ${cryptography}.`,
    `Session: ${session}. GPU acceleration, as Chromium reports it: ${gpu}.`,
  ]);
}

function evaluateSandbox({ sandboxed }: DesktopFacts): DoctorCheck {
  const { ok, failed } = checkOf('desktop', 'sandbox', 'Sandbox');
  if (sandboxed) return ok('Chromium runs pages in its sandbox.');
  return failed(
    'Chromium was started with --no-sandbox, so a page could do anything that you can.',
    'Start Vivarium without --no-sandbox; an AppImage adds it where the system denies user namespaces, and the Debian package does not need it.',
  );
}

function evaluateKeyring({ keyring }: DesktopFacts): DoctorCheck {
  const { ok, skipped, warning } = checkOf('desktop', 'keyring', 'Keyring');
  switch (keyring.state) {
    case 'sealed':
      return ok('The keyring has sealed or opened the root’s key since the start.');
    case 'refused':
      return warning(
        keyring.reason,
        'The root’s key stays in its file, which only you can read; start a keyring if you want it sealed.',
      );
    case 'untried':
      return skipped('Nothing has been sealed since the start; the setting caKey would try it.');
  }
}

function evaluateTray({ tray }: DesktopFacts): DoctorCheck {
  const { ok, skipped } = checkOf('desktop', 'tray', 'Tray');
  if (!tray) return skipped('The app has no icon in the tray yet.');
  return ok(
    'The app has an icon in the tray. GNOME shows none without an extension; starting Vivarium again brings its window back.',
  );
}
