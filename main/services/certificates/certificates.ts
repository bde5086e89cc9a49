import type { AdjustableClock } from '../../base/clock.ts';
import { mapInTurns } from '../../base/turns.ts';
import type { Certificate, CertificateFile } from '../../contract/certificates.ts';
import { VivariumError } from '../../contract/errors.ts';
import { mention } from '../../contract/calls.ts';
import type { Services } from '../../contract/index.ts';
import type { AttachedDomain } from '../../domains/domain-set.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import { describeLeaf, type Leaf } from '../../model/leaf.ts';
import type { Effects, RevocationRows } from '../dependencies.ts';

/** Leaves read from the store before yielding to other work: a few milliseconds. */
const LEAVES_PER_TURN = 100;

export function createCertificateServices(options: {
  lifecycle: Pick<Lifecycle, 'list' | 'get' | 'leaf' | 'renew'>;
  clock: Pick<AdjustableClock, 'state'>;
  revocations: Pick<RevocationRows, 'get' | 'insert'>;
  /** The certificates between a leaf and the root, in PEM. */
  chainOf: (leafPem: string) => readonly string[];
  emit: Effects['emit'];
}): Services['certificates'] {
  const { lifecycle, clock, revocations, chainOf, emit } = options;

  /** @throws VivariumError not_found */
  function leafOf(domain: AttachedDomain): Leaf {
    const leaf = lifecycle.leaf(domain.hostname);
    if (leaf !== null) return leaf;
    throw new VivariumError(
      'not_found',
      `There is no certificate for ${domain.hostname}: it is "${domain.certificate.state}". See why: ${mention('domains.get', { hostname: domain.hostname })}.`,
    );
  }

  function present({ hostname, certificate }: AttachedDomain, leaf: Leaf): Certificate {
    const revoked = revocations.get(leaf.serial);
    return {
      hostname,
      ...describeLeaf(leaf, chainOf(leaf.certificatePem)),
      state: certificate.state,
      ...(revoked !== null && { revoked: { at: new Date(revoked.atMs).toISOString(), reason: revoked.reason } }),
    };
  }

  const show = (domain: AttachedDomain): Certificate => present(domain, leafOf(domain));

  return {
    async list() {
      // Only these two states have a leaf in the store.
      const holders = lifecycle
        .list()
        .filter(({ certificate: { state } }) => state === 'issued' || state === 'expired');
      const shown = await mapInTurns(holders, LEAVES_PER_TURN, (domain) => {
        const leaf = lifecycle.leaf(domain.hostname);
        return leaf === null ? [] : [present(domain, leaf)];
      });
      return shown.flat();
    },
    get: ({ hostname }) => show(lifecycle.get(hostname)),
    export({ hostname, format }) {
      const domain = lifecycle.get(hostname);
      const { certificatePem } = leafOf(domain);
      // In the order that servers need, and as ACME sends it (RFC 8555 §9.1); DER holds one certificate.
      const text = format === 'pem' ? [certificatePem, ...chainOf(certificatePem)].join('') : certificatePem;
      return certificateFile(domain.hostname, text, format);
    },
    renew: async ({ hostname }) => show(await lifecycle.renew(hostname)),
    revoke({ hostname, reason }) {
      const domain = lifecycle.get(hostname);
      const { serial, wireNotAfterMs } = leafOf(domain);
      if (revocations.get(serial) !== null) {
        throw new VivariumError(
          'conflict',
          `The certificate of ${domain.hostname} is already revoked. Issue another one: ${mention('certificates.renew', { hostname: domain.hostname })}.`,
        );
      }
      const { now, realNow } = clock.state();
      revocations.insert({ serial, reason, atMs: now, wireAtMs: realNow, wireNotAfterMs });
      emit('certificates.changed', { projectId: domain.projectId });
      return show(domain);
    },
  };
}

/** File systems allow names of 255 octets; this leaves room for an extension and a browser's " (1)". */
const BASE_NAME_LENGTH_MAX = 240;

/** Certificates as a file; DER can hold only one. */
export function certificateFile(name: string, pem: string, format: CertificateFile['format']): CertificateFile {
  // Windows allows no asterisk in a name.
  const fileName = `${name.replace('*', '_').slice(0, BASE_NAME_LENGTH_MAX)}.${format}`;
  return format === 'pem' ? { format, fileName, text: pem } : { format, fileName, base64: octetsOf(pem) };
}

/** Between its first and last line, PEM is the base64 of DER (RFC 7468 §2). */
const octetsOf = (pem: string): string => pem.replace(/-----[^-]+-----|\s/g, '');
