import type { DoctorCheck } from '../../../main/contract/doctor.ts';
import type { RunningBreak } from '../../../main/contract/breaks.ts';
import type { StateBadge } from '../domains/domain-badges.ts';
import { breaksMet } from '../domains/domain-summary.ts';

export interface ServingFacts {
  /** Whether the address is served. */
  served?: boolean;
  suspended?: boolean;
  /** Whether its DNS is wrong, though it is still served. */
  misconfigured?: boolean;
  /** Of them, those that its clients meet count. */
  breaks?: readonly Pick<RunningBreak, 'entry' | 'title'>[];
  /** Of its server; undefined without one, and until it is known. */
  check?: DoctorCheck | undefined;
}

/** The word for what an address, or a project, does now; `why`: what is behind it. */
export function servingState(facts: ServingFacts): StateBadge & { why?: string } {
  const { served = true, suspended = false, misconfigured = false, breaks = [], check } = facts;
  if (!served) return { tone: 'amber', icon: 'warning', text: 'not served' };
  if (suspended) return { tone: 'amber', icon: 'pause', text: 'domains suspended' };
  const striking = breaksMet(breaks);
  if (striking.length > 0)
    return {
      ...{ tone: 'amber', icon: 'breaks', text: 'broken on purpose' },
      why: striking.map(({ title }) => title).join(', '),
    };
  if (misconfigured) return { tone: 'amber', icon: 'warning', text: 'DNS is wrong' };
  if (check !== undefined && check.status !== 'ok')
    return { tone: 'brick', icon: 'failed', text: 'no answer', why: check.evidence.join(' ') };
  return { tone: 'moss', icon: 'ok', text: 'serving' };
}
