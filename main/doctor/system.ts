import { readdirSync } from 'node:fs';
import type { DoctorCheck } from '../contract/doctor.ts';
import { finding } from './finding.ts';

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

export function evaluateOpenFiles({
  max,
  open,
  connections,
  connectionsWanted,
  platform,
}: OpenFilesEvidence): DoctorCheck {
  const subject = { area: 'system', name: 'open-files', title: 'Open files' } as const;
  if (max === null) return finding(subject, 'skipped', ['The system does not report how many files may be open.']);
  const evidence = [
    `A process may have ${count(max)} files and sockets open${open === null ? '' : `; ${count(open)} are`}.`,
    `The proxy accepts ${count(connections)} connections at a time.`,
  ];
  if (connections >= connectionsWanted) return finding(subject, 'ok', evidence);
  return finding(subject, connections < CONNECTIONS_ENOUGH ? 'failed' : 'warning', evidence, {
    fix: `Raise the limit to ${count(2 * connectionsWanted)} in the shell that starts Vivarium${platform === 'linux' ? ' (in a systemd unit: LimitNOFILE)' : ''}.`,
    commands: [`ulimit -n ${2 * connectionsWanted}`],
  });
}

const count = (value: number): string => value.toLocaleString('en');

/** How many files this process has open; null if unknown. */
export function countOpenFiles(folder = '/proc/self/fd'): number | null {
  try {
    return readdirSync(folder).length;
  } catch {
    return null;
  }
}

export interface VersionEvidence {
  vivarium: string;
  /** `process.versions`. */
  versions: Readonly<Record<string, string | undefined>>;
  sqlite: string;
  platform: string;
  release: string;
  arch: string;
}

export function evaluateVersions({
  vivarium,
  versions,
  sqlite,
  platform,
  release,
  arch,
}: VersionEvidence): DoctorCheck {
  const parts = [
    ['Node', versions['node']],
    ['Electron', versions['electron']],
    // Electron reports this version for BoringSSL.
    ['OpenSSL', versions['openssl'] === '0.0.0' ? undefined : versions['openssl']],
    ['SQLite', sqlite],
  ].flatMap(([name, version]) => (version === undefined ? [] : [`${name} ${version}`]));
  return finding({ area: 'system', name: 'versions', title: 'Versions' }, 'ok', [
    `Vivarium ${vivarium}, ${parts.join(', ')}.`,
    `${platform} ${release}, ${arch}.`,
  ]);
}
