import { readdirSync } from 'node:fs';
import { orElse } from '../contract/errors.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { checkOf, agoText, isoText } from './finding.ts';
import type { ClockState } from '../base/clock.ts';

export interface OpenFilesEvidence {
  /** Files and sockets that this process may have open; null if the system does not report it. */
  max: number | null;
  /** The number open now; null if unknown. */
  open: number | null;
  /** The most connections that the proxy accepts, under that limit and its own. */
  connections: number;
  connectionsWanted: number;
  platform: NodeJS.Platform;
}

/** With fewer, a browser with a few tabs and a simultaneous load test would be refused. */
const CONNECTIONS_ENOUGH = 256;

export function evaluateOpenFiles(options: OpenFilesEvidence): DoctorCheck {
  const { max, open, connections, connectionsWanted, platform } = options;
  const { ok, skipped, warning, failed } = checkOf('system', 'open-files', 'Open files');
  if (max === null) return skipped('The system does not report how many files may be open.');
  const evidence = [
    `A process may have ${count(max)} files and sockets open${open === null ? '' : `; ${count(open)} are`}.`,
    `The proxy accepts ${count(connections)} connections at a time.`,
  ];
  if (connections >= connectionsWanted) return ok(evidence);
  return (connections < CONNECTIONS_ENOUGH ? failed : warning)(
    evidence,
    `Raise the limit to ${count(2 * connectionsWanted)} in the shell that starts Vivarium${platform === 'linux' ? ' (in a systemd unit: LimitNOFILE)' : ''}.`,
    [`ulimit -n ${2 * connectionsWanted}`],
  );
}

const count = (value: number): string => value.toLocaleString('en');

/** How many files this process has open; null if unknown. */
export const countOpenFiles = (folder = '/proc/self/fd'): number | null =>
  orElse(() => readdirSync(folder).length, null);

interface VersionEvidence {
  vivarium: string;
  /** `process.versions`. */
  versions: Readonly<Record<string, string | undefined>>;
  sqlite: string;
  platform: string;
  release: string;
  arch: string;
}

export function evaluateVersions(options: VersionEvidence): DoctorCheck {
  const { vivarium, versions, sqlite, platform, release, arch } = options;
  const parts = [
    ['Node', versions['node']],
    ['Electron', versions['electron']],
    // Electron reports this version for BoringSSL.
    ['OpenSSL', versions['openssl'] === '0.0.0' ? undefined : versions['openssl']],
    ['SQLite', sqlite],
  ].flatMap(([name, version]) => (version === undefined ? [] : [`${name} ${version}`]));
  return checkOf('system', 'versions', 'Versions').ok([
    `Vivarium ${vivarium}, ${parts.join(', ')}.`,
    `${platform} ${release}, ${arch}.`,
  ]);
}

/** Whether the app's clock shows the real time. Moving it is legitimate; the warning is for users who forgot. */
export function evaluateAppClock({ now, realNow, offsetMs, frozen }: ClockState): DoctorCheck {
  const { ok, warning } = checkOf('clock', 'app', 'The simulated clock');
  if (!frozen && offsetMs === 0) return ok('It shows the real time.');
  const distance = `${agoText(Math.abs(offsetMs))} ${offsetMs < 0 ? 'behind' : 'ahead of'} the real time`;
  const evidence = [
    `It is ${frozen ? 'frozen' : 'moved'}: ${isoText(now)}, ${distance}, ${isoText(realNow)}.`,
    'Rate windows, bans, certificates and propagation follow it.',
  ];
  return warning(evidence, 'If that is not intended, reset it.', ['vivarium clock reset']);
}

/** The machine's clock, and past times to compare it with. */
interface MachineClockEvidence {
  realNowMs: number;
  /** Events that certainly happened: "the root was made". */
  past: readonly { what: string; atMs: number }[];
}

/** File times and the current time may differ slightly on one machine. */
const TOLERANCE_MS = 120_000;

/** Whether the machine's own clock can be right: it is wrong if a past event lies in its future. */
export function evaluateMachineClock({ realNowMs, past }: MachineClockEvidence): DoctorCheck {
  const { ok, failed } = checkOf('clock', 'machine', 'The machine’s clock');
  const now = `It shows ${isoText(realNowMs)}.`;
  const future = past.filter(({ atMs }) => atMs > realNowMs + TOLERANCE_MS);
  if (future.length === 0) return ok(now);
  return failed(
    [now, ...future.map(({ what, atMs }) => `But ${what} at ${isoText(atMs)}, which is in the future.`)],
    'Set the date of this machine and turn on network time; clients refuse certificates otherwise.',
  );
}
