import { X509Certificate } from 'node:crypto';
import type { RevocationReason } from '../contract/certificates.ts';
import type { AcmeAccount, AcmeCertificate } from '../model/acme.ts';
import { type PublicJwk, thumbprintOf } from './jws.ts';
import type { AcmeParts } from './parts.ts';
import { AcmeError, malformed } from './problem.ts';
import { askAgainSeconds, findCertificate, type Window, wireWindow } from './renewal-info.ts';

/** RFC 5280 §5.3.1: the codes that a client may give. */
const REASONS: ReadonlyMap<unknown, RevocationReason> = new Map([
  [0, 'unspecified'],
  [1, 'keyCompromise'],
  [3, 'affiliationChanged'],
  [4, 'superseded'],
  [5, 'cessationOfOperation'],
]);

export interface Certificates {
  /** The leaf and the certificates above it, in PEM; chain 0 is the default. Null if the leaf has no such chain. */
  chain(certificate: AcmeCertificate, chain: number): string | null;
  /** The number of chains. */
  chains(certificate: AcmeCertificate): number;
  /** Requires the ordering account, one with authorizations for all names, or the leaf's key. @throws AcmeError */
  revoke(der: Buffer, reason: unknown, by: { account: AcmeAccount } | { jwk: PublicJwk }): Promise<void>;
  /** The renewal window in real time, and the seconds until clients ask again. @throws AcmeError malformed */
  renewalInfo(id: string): Window & { askAgain: number };
}

export function createCertificates({ clock, rows, issuer, faults, revocations, onChanged }: AcmeParts): Certificates {
  const holdsAll = (account: AcmeAccount, { identifiers }: AcmeCertificate): boolean => {
    const { now } = clock.state();
    return identifiers.every(({ value }) => (rows.lastValid(account.id, value)?.expiresAtMs ?? 0) > now);
  };

  /** @throws AcmeError malformed */
  function find(der: Buffer): { certificate: AcmeCertificate; parsed: X509Certificate } {
    let parsed: X509Certificate;
    try {
      parsed = new X509Certificate(der);
    } catch {
      throw malformed('"certificate" is not a DER-encoded certificate.');
    }
    const certificate = rows.certificate(parsed.serialNumber);
    if (certificate !== null && new X509Certificate(certificate.pem).raw.equals(der)) return { certificate, parsed };
    throw new AcmeError('malformed', 'This ACME server did not issue the certificate.', { status: 404 });
  }

  return {
    chain({ pem }, chain) {
      const after = issuer.chains(pem)[chain];
      return after === undefined ? null : [pem, ...after].join('');
    },
    chains: ({ pem }) => issuer.chains(pem).length,
    async revoke(der, code, by) {
      const { certificate, parsed } = find(der);
      const reason = REASONS.get(code ?? 0);
      if (reason === undefined) {
        throw new AcmeError('badRevocationReason', `The reason must be one of ${[...REASONS.keys()].join(', ')}.`);
      }
      const { serial, accountId, wireNotAfterMs } = certificate;
      const isAllowed =
        'account' in by
          ? by.account.id === accountId || holdsAll(by.account, certificate)
          : (await thumbprintOf(parsed.publicKey.export({ format: 'jwk' }) as PublicJwk)) ===
            (await thumbprintOf(by.jwk));
      if (!isAllowed) {
        throw new AcmeError(
          'unauthorized',
          'The request is signed neither by the account that ordered the certificate, nor by one with valid authorizations for all its names, nor by its key.',
        );
      }
      if (revocations.get(serial) !== null)
        throw new AcmeError('alreadyRevoked', 'The certificate is already revoked.');
      const { now, realNow } = clock.state();
      revocations.insert({ serial, reason, atMs: now, wireAtMs: realNow, wireNotAfterMs });
      onChanged();
    },
    renewalInfo(text) {
      const certificate = findCertificate(rows, text);
      if (certificate === null) {
        throw new AcmeError('malformed', 'No certificate has this identifier.', { status: 404 });
      }
      const state = clock.state();
      const names = certificate.identifiers.map(({ value }) => value);
      const revokedAtMs = revocations.get(certificate.serial)?.wireAtMs ?? null;
      const window = faults.renewalWindow(names, state.realNow) ?? wireWindow(certificate, state, revokedAtMs);
      return { ...window, askAgain: askAgainSeconds(certificate) };
    },
  };
}
