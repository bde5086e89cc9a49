import type { AdjustableClock } from '../../base/clock.ts';
import { mapInTurns } from '../../base/turns.ts';
import type { Certificate, CertificateFile, StoreTrust } from '../../contract/certificates.ts';
import { conflict, invalidRequest, notFound, VivariumError } from '../../contract/errors.ts';
import { mention } from '../../contract/calls.ts';
import type { ResultOf, Services } from '../../contract/index.ts';
import type { AttachedDomain } from '../../domains/domain-set.ts';
import type { Lifecycle } from '../../domains/lifecycle.ts';
import { describeLeaf, type Leaf } from '../../model/leaf.ts';
import type { Effects, RevocationRows } from '../dependencies.ts';
import { publicSuffixAbove, readNewSuffix } from '../../ca/suffixes.ts';
import type { TrustStores } from '../../ca/stores/truststores.ts';

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
    throw notFound(
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
        throw conflict(
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

interface RootHolder {
  describe(): ResultOf<'ca.get'>;
  /** Permits the suffix for new leaves; resolves once the leaves that waited for it are issued. */
  extend(suffix: string): Promise<void>;
  /** Permits it no longer; resolves once domains below it have lost their leaves. */
  retract(suffix: string): Promise<void>;
  /** Gives the root a new certificate with the same suffixes. */
  renew(): void;
}

const EXTENDED =
  'The root has a new certificate, for the same key. Clients that trust only the old one accept the old suffixes ' +
  'but refuse the new one: list the stores with `ca.trustStatus`, add it to them again with `ca.trust`, and give root.pem to clients again.';

const RETRACTED =
  'The root has a new certificate without the suffix, for the same key, and certificates below the suffix are gone. Programs ' +
  'that were given root.pem by hand accept the suffix until they get the new file.';

const RENEWED =
  'The root has a new certificate, for the same key and suffixes. Clients that trust the old one still accept what is ' +
  'served; to replace it, add the new one to their stores with ca.trust, which also removes the old one.';

const RENEWED_WITH_INTERMEDIATE =
  'The root has a new certificate, for the same key and suffixes, and an intermediate, which signs certificates from now ' +
  'on. Clients that trust only the old one refuse those: add the new one to their stores with ca.trust, which also ' +
  'removes the old one, and give root.pem to clients again.';

function needsConfirmation(suffix: string, above: string): VivariumError {
  const meaning =
    `${suffix} is a name of the public DNS, below "${above}", and may belong to others. A thief of the root’s key could then ` +
    'impersonate it, and every name below it, to each program that trusts the root.';
  return invalidRequest(
    `${meaning} To extend the root all the same: ${mention('ca.extend', { suffix, confirm: true })}.`,
    { issues: [{ path: 'confirm', message: meaning }] },
  );
}

export function createCaServices(options: {
  root: RootHolder;
  stores: TrustStores;
  effects: Pick<Effects, 'emit'>;
}): Services['ca'] {
  const { root, stores, effects } = options;

  async function changed(status: Promise<StoreTrust>): Promise<StoreTrust> {
    try {
      return await status;
    } finally {
      // Publishes after failures too: a change may have failed half-way.
      effects.emit('ca.changed');
    }
  }

  /** Replaces the root in a store; the store if it still has a wider certificate, null if not. */
  async function replaceIn({ message: _before, ...status }: StoreTrust): Promise<StoreTrust | null> {
    try {
      const now = await stores.trust(status.store);
      return now.wider === undefined ? null : now;
    } catch (error) {
      if (!(error instanceof VivariumError)) throw error;
      return { ...status, message: error.message };
    }
  }

  return {
    get: () => root.describe(),
    export: (input) => certificateFile('vivarium-root', root.describe().pem, input?.format ?? 'pem'),
    async extend({ suffix, confirm }) {
      const added = readNewSuffix(suffix, root.describe().permittedSuffixes);
      const above = confirm ? null : publicSuffixAbove(added);
      if (above !== null) throw needsConfirmation(added, above);
      await root.extend(added);
      effects.emit('ca.changed');
      return { ...root.describe(), message: EXTENDED };
    },
    async retract({ suffix }) {
      await root.retract(suffix);
      const left: StoreTrust[] = [];
      for (const store of await stores.list()) {
        const kept = store.wider === undefined ? null : await replaceIn(store);
        if (kept !== null) left.push(kept);
      }
      effects.emit('ca.changed');
      return { ...root.describe(), message: RETRACTED, left };
    },
    renew() {
      const signedLeaves = root.describe().intermediate === null;
      root.renew();
      effects.emit('ca.changed');
      return { ...root.describe(), message: signedLeaves ? RENEWED_WITH_INTERMEDIATE : RENEWED };
    },
    trustStatus: () => stores.list(),
    trust: ({ store }) => changed(stores.trust(store)),
    untrust: ({ store, fingerprint }) => changed(stores.untrust(store, fingerprint)),
  };
}
