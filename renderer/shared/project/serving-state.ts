import type { DoctorCheck } from '../../../main/contract/doctor.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import type { RunningBreak } from '../../../main/contract/breaks.ts';
import type { StateBadge } from '../domains/domain-badges.ts';
import { breaksMet, TARGET_DOWN } from '../../../main/contract/break-words.ts';

export interface ServingFacts {
  /** The custom domain that is the main address; undefined for the platform's hostname. */
  domain?: Pick<Domain, 'serving' | 'state'> | undefined;
  /** All of the project's. */
  domains?: readonly Pick<Domain, 'state'>[];
  /** Of the main address; of them, those that its clients meet count. */
  breaks?: readonly Pick<RunningBreak, 'entry' | 'title'>[];
  /** Of its server; undefined without one, and until it is known. */
  check?: DoctorCheck | undefined;
}

/** The word for what the main address of a project does now, the worst first; `why`: what is behind it. */
export function servingState({
  domain,
  domains = [],
  breaks = [],
  check,
}: ServingFacts): StateBadge & { why?: string } {
  if (domain?.serving.http === false && !domain.serving.https)
    return { tone: 'amber', icon: 'warning', text: 'not served' };
  if (check !== undefined && check.status !== 'ok' && !breaks.some(({ entry }) => entry === TARGET_DOWN))
    return { tone: 'brick', icon: 'failed', text: 'no answer', why: check.evidence.join(' ') };
  const striking = breaksMet(breaks);
  if (striking.length > 0)
    return {
      ...{ tone: 'amber', icon: 'breaks', text: 'broken on purpose' },
      why: striking.map(({ title }) => title).join(', '),
    };
  if (domain?.state === 'misconfigured') return { tone: 'amber', icon: 'warning', text: 'DNS is wrong' };
  if (domains.some(({ state }) => state === 'suspended'))
    return { tone: 'amber', icon: 'pause', text: 'domains suspended' };
  return { tone: 'moss', icon: 'ok', text: 'serving' };
}
