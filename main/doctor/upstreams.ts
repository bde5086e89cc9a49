import type { DoctorCheck } from '../contract/doctor.ts';
import { finding } from './finding.ts';

/** A project that leads to a server of its user's own. */
export interface UpstreamEvidence {
  project: { id: string; slug: string; name: string };
  url: string;
  /** Whether somebody accepts connections there. */
  listening: boolean;
}

/** An upstream that is not started is no fault of anything here, and what makes every answer a 502. */
export function judgeUpstream({ project, url, listening }: UpstreamEvidence): DoctorCheck {
  const subject = { area: 'upstreams', name: project.slug, title: project.name, projectId: project.id } as const;
  if (listening) return finding(subject, 'ok', [`${url} accepts connections.`]);
  return finding(subject, 'warning', [`${url} accepts no connections: requests are answered with 502.`], {
    fix: 'Start that server, or let the project lead elsewhere.',
  });
}

/** Where to connect to for a URL. */
export function placeOfUpstream(url: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(url);
  const standard = protocol === 'https:' ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? standard : Number(port) };
}
