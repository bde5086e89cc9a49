import { certificateFails, certificateWord } from '../../../main/contract/check-codes.ts';
import type { Domain, DomainState } from '../../../main/contract/domains.ts';
import type { IconName } from '../display/icons.ts';
import type { Tone } from '../display/tone.ts';

/** A state for display: tone, icon and words, each sufficient alone. */
export interface StateBadge {
  tone: Tone;
  icon: IconName;
  text: string;
}

/** Amber means action needed; brick means failure. */
const HOSTNAME: Record<DomainState, StateBadge> = {
  pending: { tone: 'amber', icon: 'pending', text: 'pending' },
  verified: { tone: 'moss', icon: 'ok', text: 'verified' },
  misconfigured: { tone: 'brick', icon: 'failed', text: 'misconfigured' },
  suspended: { tone: 'amber', icon: 'pause', text: 'suspended' },
};

export const hostnameBadge = (state: DomainState): StateBadge => HOSTNAME[state];

/** The badge of the certificate. A refused pending one needs attention; one merely in progress does not. */
export function certificateBadge(certificate: Domain['certificate']): StateBadge {
  const { state, reason } = certificate;
  switch (state) {
    case 'none':
      return { tone: 'neutral', icon: 'unlocked', text: 'no certificate' };
    case 'pending':
      return certificateWord(certificate) === 'pending'
        ? { tone: 'water', icon: 'waiting', text: 'certificate pending' }
        : { tone: certificateFails(certificate) ? 'brick' : 'amber', icon: 'refused', text: 'certificate refused' };
    case 'issued':
      // The certificate is still valid although its renewal is refused.
      return reason === undefined
        ? { tone: 'moss', icon: 'lock', text: 'certificate issued' }
        : { tone: 'amber', icon: 'lock', text: 'renewal refused' };
    case 'failed':
      return { tone: 'brick', icon: 'refused', text: 'certificate failed' };
    case 'expired':
      return { tone: 'brick', icon: 'refused', text: 'certificate expired' };
  }
}
