import type { StoreTrust } from '../contract/certificates.ts';
import type { SignerDescription } from '../ca/signer.ts';
import type { Services } from '../contract/index.ts';
import { certificateFile } from './certificates.ts';
import type { Effects } from './dependencies.ts';

/** The contract's view of the root; dates are real ones, in ISO 8601. */
export interface RootView extends Omit<SignerDescription, 'serial'> {
  permittedSuffixes: string[];
  serversOnly: boolean;
  /** Null when the root signs leaves itself. */
  intermediate: SignerDescription | null;
  key: { storage: 'file' | 'keyring'; sealable: boolean; message: string };
}

export interface RootHolder {
  describe(): RootView;
  /** Permits the suffix for new leaves; resolves once the leaves that waited for it are issued. */
  extend(suffix: string): Promise<void>;
  /** Gives the root a new certificate with the same suffixes. */
  renew(): void;
}

/** The trust stores of this machine, read anew for every answer. */
export interface TrustStoreAccess {
  list(): Promise<StoreTrust[]>;
  trust(storeId: string): Promise<StoreTrust>;
  untrust(storeId: string, fingerprint?: string): Promise<StoreTrust>;
}

const EXTENDED =
  'The root has a new certificate, for the same key. Clients that trust only the old one accept the old suffixes ' +
  'but refuse the new one: list the stores with `ca.trustStatus`, add it to them again with `ca.trust`, and give root.pem to clients again.';

const RENEWED =
  'The root has a new certificate, for the same key and suffixes. Clients that trust the old one still accept what is ' +
  'served; to replace it, add the new one to their stores with ca.trust, which also removes the old one.';

const RENEWED_WITH_INTERMEDIATE =
  'The root has a new certificate, for the same key and suffixes, and an intermediate, which signs certificates from now ' +
  'on. Clients that trust only the old one refuse those: add the new one to their stores with ca.trust, which also ' +
  'removes the old one, and give root.pem to clients again.';

export function createCaServices(options: {
  root: RootHolder;
  stores: TrustStoreAccess;
  effects: Pick<Effects, 'emit'>;
}): Services['ca'] {
  const { root, stores, effects } = options;

  function present(): RootView {
    const { subject, fingerprint, pem, permittedSuffixes, serversOnly, notBefore, notAfter, intermediate, key } =
      root.describe();
    return { subject, fingerprint, pem, permittedSuffixes, serversOnly, notBefore, notAfter, intermediate, key };
  }

  async function changed(status: Promise<StoreTrust>): Promise<StoreTrust> {
    try {
      return await status;
    } finally {
      // Publishes after failures too: a change may have failed half-way.
      effects.emit('ca.changed');
    }
  }

  return {
    get: () => present(),
    export: (input) => certificateFile('vivarium-root', root.describe().pem, input?.format ?? 'pem'),
    async extend({ suffix }) {
      await root.extend(suffix);
      effects.emit('ca.changed');
      return { ...present(), message: EXTENDED };
    },
    renew() {
      const signedLeaves = root.describe().intermediate === null;
      root.renew();
      effects.emit('ca.changed');
      return { ...present(), message: signedLeaves ? RENEWED_WITH_INTERMEDIATE : RENEWED };
    },
    trustStatus: () => stores.list(),
    trust: ({ store }) => changed(stores.trust(store)),
    untrust: ({ store, fingerprint }) => changed(stores.untrust(store, fingerprint)),
  };
}
