import type { DoctorCheck } from '../contract/doctor.ts';
import { finding } from './finding.ts';

/** A project that leads to a server of its user's own. */
export interface UpstreamEvidence {
  project: { id: string; slug: string; name: string };
  url: string;
  /** Why requests do not get through to it, and what to do; null when a connection, and TLS where it is asked for, stands. */
  trouble: { status: number; what: string; remedy: string } | null;
}

/** An upstream that is not started is no fault of anything here, and what makes every answer a 502. */
export function judgeUpstream({ project, url, trouble }: UpstreamEvidence): DoctorCheck {
  const subject = {
    area: 'upstreams',
    name: project.slug,
    title: `Upstream of ${project.name}`,
    projectId: project.id,
  } as const;
  if (trouble === null) return finding(subject, 'ok', [`${url} accepts connections.`]);
  const { status, what, remedy } = trouble;
  return finding(subject, 'warning', [what, `Requests are answered with ${status}.`], {
    fix: remedy,
    commands: [`vivarium deploys create ${project.id}`],
  });
}
