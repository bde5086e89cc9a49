import type { SecureContext } from 'node:tls';
import type { ClockState } from '../base/clock.ts';
import { DAY_MS } from '../contract/duration.ts';
import { createSecureContexts } from '../base/secure-contexts.ts';
import { VivariumError } from '../contract/errors.ts';
import { wildcardOver } from '../contract/hostnames.ts';
import type { AttachedDomain } from './domain-set.ts';
import type { Leaf } from '../model/leaf.ts';
import { isServed } from './hostname-machine.ts';
import type { CertificateIssuer } from './issue.ts';

/** How long before its wire expiry a leaf is replaced when the app's clock has not advanced. */
const WIRE_LEFT_MS = DAY_MS;

/** The TLS contexts of custom domains: only leaves that were issued and stored. */
export function createServedLeaves(options: {
  find: (hostname: string) => AttachedDomain | null;
  leaf: (hostname: string) => Leaf | null;
  /** Stores a leaf with new wire dates. */
  keepLeaf: (hostname: string, leaf: Leaf) => void;
  issuer: Pick<CertificateIssuer, 'issue'>;
  /** As in `createSecureContexts`. */
  chainOf?: (certificatePem: string) => readonly string[];
  clock: { state(): Pick<ClockState, 'realNow'> };
}) {
  const { find, chainOf, clock } = options;
  const contexts = createSecureContexts<Leaf>({ clock, chainOf });

  function hold(hostname: string): SecureContext | null {
    const leaf = contexts.leafOf(hostname) ?? options.leaf(hostname);
    return leaf === null ? null : contexts.contextFor(hostname, onTheWire(hostname, leaf));
  }

  /** Real time advances while the app's clock is frozen: renews the wire dates without the app's dates. */
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

  /** A hostname's own domain takes precedence over a wildcard. */
  const servedAt = (hostname: string): AttachedDomain | undefined =>
    [hostname, wildcardOver(hostname)].map(find).find((domain) => domain !== null && isServed(domain)) ?? undefined;

  return {
    /** The TLS context for a custom domain, by SNI; null without a valid certificate. */
    contextFor(hostname: string): SecureContext | null {
      const domain = servedAt(hostname);
      return domain?.certificate.state === 'issued' ? hold(domain.hostname) : null;
    },
    /** The stored leaf of the domain whose certificate is used for `hostname`. */
    held: (hostname: string): Leaf | null => options.leaf(servedAt(hostname)?.hostname ?? hostname),
    drop: contexts.drop,
    dropAll: contexts.clear,
  };
}
