import type { Certificate } from '../contract/certificates.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import { certificateFile } from './certificate-file.ts';
import type { AttachedDomain, HeldLeaf, Lifecycle } from '../domains/index.ts';

export function createCertificateServices(
  lifecycle: Pick<Lifecycle, 'list' | 'get' | 'leaf' | 'renew'>,
): Services['certificates'] {
  /** @throws VivariumError not_found */
  function leafOf(domain: AttachedDomain): HeldLeaf {
    const leaf = lifecycle.leaf(domain.hostname);
    if (leaf !== null) return leaf;
    throw new VivariumError(
      'not_found',
      `There is no certificate for ${domain.hostname}: it is "${domain.certificate.state}". domains.get says why.`,
    );
  }

  const show = (domain: AttachedDomain): Certificate => presentCertificate(domain, leafOf(domain));

  return {
    list: () =>
      lifecycle.list().flatMap((domain) => {
        // Only these two states have a leaf that is worth reading from the store.
        const { state } = domain.certificate;
        const leaf = state === 'issued' || state === 'expired' ? lifecycle.leaf(domain.hostname) : null;
        return leaf === null ? [] : [presentCertificate(domain, leaf)];
      }),
    get: ({ hostname }) => show(lifecycle.get(hostname)),
    export({ hostname, format }) {
      const domain = lifecycle.get(hostname);
      return certificateFile(domain.hostname, leafOf(domain).certificatePem, format);
    },
    renew: async ({ hostname }) => show(await lifecycle.renew(hostname)),
  };
}

function presentCertificate({ hostname, certificate }: AttachedDomain, leaf: HeldLeaf): Certificate {
  return {
    hostname,
    serial: leaf.serial,
    sans: [...leaf.sans],
    notBefore: iso(leaf.notBeforeMs),
    notAfter: iso(leaf.notAfterMs),
    wireNotBefore: iso(leaf.wireNotBeforeMs),
    wireNotAfter: iso(leaf.wireNotAfterMs),
    fingerprint: leaf.fingerprint,
    pem: leaf.certificatePem,
    chain: [],
    state: certificate.state,
  };
}

const iso = (epochMs: number): string => new Date(epochMs).toISOString();
