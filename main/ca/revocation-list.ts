import { DAY_MS } from '../contract/duration.ts';
import type { Revocation } from '../model/leaf.ts';
import { signed } from './certificate.ts';
import { integer, type Node, sequence, tagged, time } from './der.ts';
import { entryExtensions, listExtensions } from './extensions.ts';
import { BACKDATE_MS } from './root.ts';
import { type Signer } from './signer.ts';

/** How long clients may cache a list; each request gets a new one. */
export const LIST_LIFETIME_MS = 7 * DAY_MS;

/**
 * The revocation list that an authority's certificates point to (RFC 5280 §5), in DER. Some clients, such as curl on
 * Windows, refuse a certificate whose revocation they cannot check.
 */
export const createRevocationList = (
  signer: Pick<Signer, 'privateKey' | 'subject' | 'keyIdentifier'>,
  realNowMs: number,
  revoked: readonly Revocation[] = [],
): Buffer =>
  signed(signer.privateKey, 'sha256', (algorithm) =>
    sequence(
      integer(Buffer.of(1)),
      algorithm,
      signer.subject,
      time(realNowMs - BACKDATE_MS),
      time(realNowMs + LIST_LIFETIME_MS),
      // RFC 5280 §5.1.2.6: absent when no certificate is revoked.
      ...(revoked.length === 0 ? [] : [sequence(...revoked.map(listEntry))]),
      tagged(0, sequence(...listExtensions(signer.keyIdentifier, realNowMs))),
    ),
  );

const listEntry = ({ serial, wireAtMs, reason }: Revocation): Node =>
  sequence(integer(Buffer.from(serial, 'hex')), time(wireAtMs), ...entryExtensions(reason));
