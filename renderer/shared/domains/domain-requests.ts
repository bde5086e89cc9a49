import { posixWord } from '../../../main/base/text/shell.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { StatusReport } from '../../../main/contract/status.ts';
import { rootFile } from '../project/first-request.ts';
import { limitsHold } from '../project/project-target.ts';

/** A domain's URL at this machine's listeners, without default ports. */
export function domainUrl(hostname: string, secure: boolean, ports: StatusReport['ports']): string {
  const port = secure ? ports.https : ports.http;
  const usual = port === (secure ? 443 : 80);
  return `${secure ? 'https' : 'http'}://${hostname}${usual ? '' : `:${port}`}`;
}

export interface DomainRequestOptions {
  hostname: string;
  secure: boolean;
  status: Pick<StatusReport, 'ports' | 'dataDir'>;
  project: Pick<Project, 'target'>;
}

/**
 * A request to a domain, for a shell with `$VIVARIUM_KEY` set. It works with any system DNS and trust store:
 * `--resolve` supplies the address, `--cacert` the root.
 */
export function domainRequest({ hostname, secure, status: { ports, dataDir }, project }: DomainRequestOptions): string {
  const port = secure ? ports.https : ports.http;
  const lines = [
    `curl --resolve ${posixWord(`${hostname}:${port}:127.0.0.1`)}`,
    ...(secure ? [`--cacert ${posixWord(rootFile(dataDir))}`] : []),
    ...(limitsHold(project) ? ['-H "Authorization: Bearer $VIVARIUM_KEY"'] : []),
    posixWord(`${domainUrl(hostname, secure, ports)}${project.target.kind === 'api' ? '/v1/pets?limit=5' : '/'}`),
  ];
  return lines.join(' \\\n  ');
}

/** The first query of verification, to Vivarium's own DNS server; undefined while that has no port. */
export const digCommand = (hostname: string, type: string, { dns }: StatusReport['ports']): string | undefined =>
  dns === undefined ? undefined : `dig @127.0.0.1 -p ${dns} ${posixWord(hostname)} ${posixWord(type)}`;
