import type { SecureContext } from 'node:tls';
import type { ClockState } from '../base/clock.ts';
import { DAY_MS } from '../base/duration.ts';
import { createSecureContexts } from '../base/secure-contexts.ts';
import { VivariumError } from '../contract/errors.ts';
import type { AttachedDomain } from './domain-set.ts';
import type { Leaf } from '../model/leaf.ts';
import { isServed } from './hostname-machine.ts';
import type { CertificateIssuer } from './issue.ts';

/** How long before its end on the wire a leaf is replaced, should the app's clock have stood still meanwhile. */
const WIRE_LEFT_MS = DAY_MS;

export interface ServedLeaves {
  /** The context to serve a custom domain with, by SNI; null when it has no certificate in force. */
  contextFor(hostname: string): SecureContext | null;
  /** To be called when the leaf of a hostname is another one, or gone. */
  drop(hostname: string): void;
}

/** What SNI is answered with for custom domains: the leaf that is stored, and none that was not decided upon. */
export function createServedLeaves(options: {
  find: (hostname: string) => AttachedDomain | null;
  leaf: (hostname: string) => Leaf | null;
  /** Takes a leaf with other dates on the wire. */
  keepLeaf: (hostname: string, leaf: Leaf) => void;
  issuer: Pick<CertificateIssuer, 'issue'>;
  clock: { state(): Pick<ClockState, 'realNow'> };
}): ServedLeaves {
  const { find, clock } = options;
  const contexts = createSecureContexts<Leaf>({ clock });

  function hold(hostname: string): SecureContext | null {
    const leaf = contexts.leafOf(hostname) ?? options.leaf(hostname);
    return leaf === null ? null : contexts.contextFor(hostname, onTheWire(hostname, leaf));
  }

  /** Real time goes on while the app's clock stands: what real clients see is renewed without the app's dates. */
  function onTheWire(hostname: string, leaf: Leaf): Leaf {
    const { realNow } = clock.state();
    if (realNow >= leaf.wireNotBeforeMs && realNow < leaf.wireNotAfterMs - WIRE_LEFT_MS) return leaf;
    try {
      const { notBeforeMs, notAfterMs } = leaf;
      const renewed = { ...options.issuer.issue(hostname), notBeforeMs, notAfterMs };
      options.keepLeaf(hostname, renewed);
      return renewed;
    } catch (error) {
      if (!(error instanceof VivariumError)) throw error;
      return leaf;
    }
  }

  return {
    contextFor(hostname) {
      const domain = find(hostname);
      return domain !== null && isServed(domain) && domain.certificate.state === 'issued' ? hold(hostname) : null;
    },
    drop: contexts.drop,
  };
}
