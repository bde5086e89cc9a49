import { DAY_MS } from '../base/duration.ts';
import { signed } from './certificate.ts';
import { integer, sequence, tagged, time } from './der.ts';
import { listExtensions } from './extensions.ts';
import { BACKDATE_MS, type Root } from './root.ts';

/** How long clients may keep a list; a new one is made for everybody who asks. */
const LIST_LIFETIME_MS = 7 * DAY_MS;

/**
 * The list of revoked certificates that leaves point to (RFC 5280 §5), in DER. Nothing is ever on it: what is removed is
 * not served any more, and its key has never left this machine. It is there for clients that refuse a certificate when
 * they cannot ask about its revocation, as curl does on Windows.
 */
export const createRevocationList = (root: Root, realNowMs: number): Buffer =>
  signed(root.privateKey, (algorithm) =>
    sequence(
      integer(Buffer.of(1)),
      algorithm,
      root.subject,
      time(realNowMs - BACKDATE_MS),
      time(realNowMs + LIST_LIFETIME_MS),
      tagged(0, sequence(...listExtensions(root.keyIdentifier, realNowMs))),
    ),
  );
