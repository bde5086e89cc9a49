import type { Project } from '../../main/contract/projects.ts';
import type { Environment } from '../../main/contract/values.ts';

export interface FirstRequestOptions {
  project: Pick<Project, 'baseUrl' | 'secureBaseUrl'>;
  environment: Environment;
  secure: boolean;
  /** The folder that holds `ca/root.pem`, for HTTPS. */
  dataDir: string;
  /** The secret to send; `$VIVARIUM_KEY` when left out. */
  secret?: string;
}

/** A request that works when pasted into a shell; in which `$VIVARIUM_KEY` is set, unless it brings the secret along. */
export function firstRequest({
  project,
  environment,
  secure,
  dataDir,
  secret = '$VIVARIUM_KEY',
}: FirstRequestOptions): string {
  const base = (secure ? project.secureBaseUrl : project.baseUrl)[environment];
  const lines = [
    'curl',
    ...(secure ? [`--cacert ${quote(rootFile(dataDir))}`] : []),
    `-H "Authorization: Bearer ${secret}"`,
    quote(`${base}/pets?limit=5`),
  ];
  return lines.join(' \\\n  ').replace('curl \\\n  ', 'curl ');
}

/** The root certificate's file, with the separator that the data folder's path has. */
export function rootFile(dataDir: string): string {
  const separator = /^[A-Za-z]:\\|^\\\\/.test(dataDir) ? '\\' : '/';
  return [dataDir.replace(/[\\/]+$/, ''), 'ca', 'root.pem'].join(separator);
}

/** One word of a POSIX shell. */
export function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The command for scripts with JSON input, as one line to paste in the project's folder. */
export function callCommand(procedure: string, input: Record<string, unknown>): string {
  return `npm run -s vivarium -- call ${procedure} ${quote(JSON.stringify(input))}`;
}
