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

/** The badge of a certificate: `text` says what its `word` is of, where no heading does. */
export interface CertificateBadge extends StateBadge {
  what: 'certificate' | 'renewal';
  word: string;
}

/** A refused pending one needs attention; one merely in progress does not. */
export function certificateBadge(certificate: Domain['certificate']): CertificateBadge {
  const word = certificateWord(certificate);
  const of = { what: 'certificate', word, text: `certificate ${word}` } as const;
  switch (word) {
    case 'none':
      return { ...of, tone: 'neutral', icon: 'unlocked', text: 'no certificate' };
    case 'pending':
      return { ...of, tone: 'water', icon: 'waiting' };
    case 'issued':
      // The certificate is still valid although its renewal is refused.
      return certificate.reason === undefined
        ? { ...of, tone: 'moss', icon: 'lock' }
        : { tone: 'amber', icon: 'lock', what: 'renewal', word: 'refused', text: 'renewal refused' };
    default:
      return { ...of, tone: certificateFails(certificate) ? 'brick' : 'amber', icon: 'refused' };
  }
}
