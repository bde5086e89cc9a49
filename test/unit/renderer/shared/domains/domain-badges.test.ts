import { describe, expect, it } from 'vitest';
import { certificateState, domainState, type Domain } from '../../../../../main/contract/domains.ts';
import { certificateBadge, hostnameBadge } from '../../../../../renderer/shared/domains/domain-badges.ts';

describe('the two badges of a domain', () => {
  it.each([
    ['pending', 'amber'],
    ['verified', 'moss'],
    ['misconfigured', 'brick'],
    ['suspended', 'amber'],
  ] as const)('shows a hostname that is %s in %s', (state, tone) => {
    expect(hostnameBadge(state)).toMatchObject({ tone, text: state });
  });

  it.each<[Domain['certificate'], string, string]>([
    [{ state: 'none' }, 'neutral', 'no certificate'],
    [{ state: 'pending', reason: 'issuance_pending' }, 'water', 'certificate pending'],
    [{ state: 'pending', reason: 'caa_forbids' }, 'brick', 'certificate refused'],
    [{ state: 'pending', reason: 'caa_lookup_failed' }, 'amber', 'certificate refused'],
    [{ state: 'issued' }, 'moss', 'certificate issued'],
    [{ state: 'issued', reason: 'caa_forbids' }, 'amber', 'renewal refused'],
    [{ state: 'failed', reason: 'timed_out' }, 'brick', 'certificate failed'],
    [{ state: 'expired' }, 'brick', 'certificate expired'],
  ])('shows the certificate %o in %s as “%s”', (certificate, tone, text) => {
    expect(certificateBadge(certificate)).toMatchObject({ tone, text });
  });

  it('has distinct words for every state', () => {
    const texts = [
      ...domainState.options.map((state) => hostnameBadge(state).text),
      ...certificateState.options.map((state) => certificateBadge({ state }).text),
    ];
    expect(new Set(texts).size).toBe(texts.length);
  });
});
