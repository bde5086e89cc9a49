import { asCurl, posixWord } from '../../../main/base/text/shell.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { Environment } from '../../../main/contract/values.ts';
import { limitsHold } from './project-target.ts';

export interface FirstRequestOptions {
  project: Pick<Project, 'baseUrl' | 'secureBaseUrl' | 'target'>;
  environment: Environment;
  secure: boolean;
  /** A custom hostname to ask instead of the platform's. */
  hostname?: string;
  /** The folder that contains `ca/root.pem`, for HTTPS. */
  dataDir: string;
  /** The secret to send; `$VIVARIUM_KEY` when undefined. */
  secret?: string;
}

/**
 * A request for a shell, with `$VIVARIUM_KEY` set unless the secret is included. Adds the address of a hostname that
 * the system can't resolve.
 */
export function firstRequest(of: FirstRequestOptions): string {
  const { project, secure, dataDir, secret } = of;
  const url = firstUrl(of);
  const { hostname, port } = new URL(url);
  // An upstream does its own authorization; the key only selects the rate limits.
  const authorized = limitsHold(project);
  const options = [
    // The limits are in the head.
    ...(authorized ? ['-i'] : []),
    ...(resolvesByDefault(hostname)
      ? []
      : [`--resolve ${posixWord(`${hostname}:${port || (secure ? 443 : 80)}:127.0.0.1`)}`]),
    ...(secure ? [`--cacert ${posixWord(rootFile(dataDir))}`] : []),
  ];
  return asCurl({ method: 'GET', url, headers: [], body: undefined, authorized, secret }, options);
}

/** Its address. */
export function firstUrl({
  project,
  environment,
  secure,
  hostname,
}: Omit<FirstRequestOptions, 'dataDir' | 'secret'>): string {
  const base = new URL((secure ? project.secureBaseUrl : project.baseUrl)[environment]);
  if (hostname !== undefined) base.hostname = hostname;
  const { href } = base;
  return `${href.replace(/\/$/, '')}${project.target.kind === 'api' ? '/pets?limit=5' : '/'}`;
}

/** Whether systems resolve a hostname without configuration (RFC 6761, section 6.3). */
export const resolvesByDefault = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost');

/** The root certificate's file, with the path separator of the data folder. */
export const rootFile = (dataDir: string): string => pathIn(dataDir, 'ca', 'root.pem');

/** Whether the engine, which owns this data folder, runs on Windows. */
export const isWindowsPath = (dataDir: string): boolean => /^[A-Za-z]:\\|^\\\\/.test(dataDir);

/** A path in the data folder, with the separator of its system. */
export function pathIn(dataDir: string, ...names: readonly string[]): string {
  const separator = isWindowsPath(dataDir) ? '\\' : '/';
  return [dataDir.replace(/[\\/]+$/, ''), ...names].join(separator);
}
