import { createSecureContext, type SecureContext } from 'node:tls';
import type { ClockState } from '../base/clock.ts';
import { VivariumError } from '../contract/errors.ts';
import type { AttachedDomain, HeldLeaf } from './domain.ts';
import { isServed } from './hostname-machine.ts';
import type { CertificateIssuer } from './issue.ts';

/** One context takes about 35 kB outside the JavaScript heap; a thousand take 35 MB. */
export const DOMAIN_CONTEXTS_MAX = 1_000;

/** How long before its end on the wire a leaf is replaced, should the app's clock have stood still meanwhile. */
const WIRE_LEFT_MS = 86_400_000;

export interface ServedLeaves {
  /** The context to serve a custom domain with, by SNI; null when it has no certificate in force. */
  contextFor(hostname: string): SecureContext | null;
  /** To be called when the leaf of a hostname is another one, or gone. */
  drop(hostname: string): void;
  dropAll(): void;
}

/** What SNI is answered with for custom domains: the leaf that is stored, and none that was not decided upon. */
export function createServedLeaves(options: {
  find: (hostname: string) => AttachedDomain | null;
  leaf: (hostname: string) => HeldLeaf | null;
  /** Takes a leaf with other dates on the wire. */
  keepLeaf: (hostname: string, leaf: HeldLeaf) => void;
  issuer: Pick<CertificateIssuer, 'issue'>;
  clock: { state(): Pick<ClockState, 'realNow'> };
  contextsMax?: number;
}): ServedLeaves {
  const { find, clock, contextsMax = DOMAIN_CONTEXTS_MAX } = options;
  /** In order of use, the least recent first. */
  const held = new Map<string, { leaf: HeldLeaf; context: SecureContext }>();

  function hold(hostname: string): SecureContext | null {
    const known = held.get(hostname);
    const stored = known?.leaf ?? options.leaf(hostname);
    if (stored === null) return null;
    const leaf = onTheWire(hostname, stored);
    const context =
      known?.leaf === leaf
        ? known.context
        : createSecureContext({ key: leaf.privateKeyPem, cert: leaf.certificatePem });
    held.delete(hostname);
    held.set(hostname, { leaf, context });
    if (held.size > contextsMax) {
      const leastRecent = held.keys().next();
      if (leastRecent.done !== true) held.delete(leastRecent.value);
    }
    return context;
  }

  /** Real time goes on while the app's clock stands: what real clients see is renewed without the app's dates. */
  function onTheWire(hostname: string, leaf: HeldLeaf): HeldLeaf {
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
    drop: (hostname) => void held.delete(hostname),
    dropAll: () => held.clear(),
  };
}
