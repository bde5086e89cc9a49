import type { Certificate } from '../contract/certificates.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import { describeLeaf, type Leaf } from '../model/leaf.ts';
import { certificateFile } from './certificate-file.ts';
import type { AttachedDomain } from '../domains/domain.ts';
import type { Lifecycle } from '../domains/lifecycle.ts';

export function createCertificateServices(
  lifecycle: Pick<Lifecycle, 'list' | 'get' | 'leaf' | 'renew'>,
): Services['certificates'] {
  /** @throws VivariumError not_found */
  function leafOf(domain: AttachedDomain): Leaf {
    const leaf = lifecycle.leaf(domain.hostname);
    if (leaf !== null) return leaf;
    throw new VivariumError(
      'not_found',
      `There is no certificate for ${domain.hostname}: it is "${domain.certificate.state}". domains.get says why.`,
    );
  }

  const show = (domain: AttachedDomain): Certificate => present(domain, leafOf(domain));

  return {
    list: () =>
      lifecycle.list().flatMap((domain) => {
        // Only these two states have a leaf that is worth reading from the store.
        const { state } = domain.certificate;
        const leaf = state === 'issued' || state === 'expired' ? lifecycle.leaf(domain.hostname) : null;
        return leaf === null ? [] : [present(domain, leaf)];
      }),
    get: ({ hostname }) => show(lifecycle.get(hostname)),
    export({ hostname, format }) {
      const domain = lifecycle.get(hostname);
      return certificateFile(domain.hostname, leafOf(domain).certificatePem, format);
    },
    renew: async ({ hostname }) => show(await lifecycle.renew(hostname)),
  };
}

const present = ({ hostname, certificate }: AttachedDomain, leaf: Leaf): Certificate => ({
  hostname,
  ...describeLeaf(leaf),
  state: certificate.state,
});
