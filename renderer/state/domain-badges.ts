import type { Domain, DomainState } from '../../main/contract/domains.ts';
import type { IconName } from '../components/shared/icons.ts';
import type { Tone } from '../components/shared/tone.ts';

/** A state as it is drawn: tone, picture and words, any of which is enough by itself. */
export interface StateBadge {
  tone: Tone;
  icon: IconName;
  text: string;
}

/** Amber waits for somebody to do something; brick is wrong. */
const HOSTNAME: Record<DomainState, StateBadge> = {
  pending: { tone: 'amber', icon: 'pending', text: 'pending' },
  verified: { tone: 'moss', icon: 'ok', text: 'verified' },
  misconfigured: { tone: 'brick', icon: 'failed', text: 'misconfigured' },
  suspended: { tone: 'amber', icon: 'pause', text: 'suspended' },
};

/** Where the hostname stands. */
export const hostnameBadge = (state: DomainState): StateBadge => HOSTNAME[state];

/** Where its certificate stands. A pending one that was refused wants attention; one that is merely on its way does not. */
export function certificateBadge({ state, reason }: Domain['certificate']): StateBadge {
  switch (state) {
    case 'none':
      return { tone: 'neutral', icon: 'unlocked', text: 'no certificate' };
    case 'pending':
      return reason === undefined || reason === 'issuance_pending'
        ? { tone: 'water', icon: 'waiting', text: 'certificate pending' }
        : { tone: 'amber', icon: 'refused', text: 'certificate refused' };
    case 'issued':
      // A certificate that still holds while its renewal is refused.
      return reason === undefined
        ? { tone: 'moss', icon: 'lock', text: 'certificate issued' }
        : { tone: 'amber', icon: 'lock', text: 'renewal refused' };
    case 'failed':
      return { tone: 'brick', icon: 'refused', text: 'certificate failed' };
    case 'expired':
      return { tone: 'brick', icon: 'refused', text: 'certificate expired' };
  }
}
