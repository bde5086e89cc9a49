import type { StoreTrust } from '../../contract/certificates.ts';
import { publicSuffixAbove, readNewSuffix } from '../../ca/suffixes.ts';
import type { SignerDescription } from '../../ca/certificate.ts';
import type { TrustStores } from '../../ca/stores/truststores.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import { mention } from '../../contract/calls.ts';
import { certificateFile } from './certificates.ts';
import type { Effects } from '../dependencies.ts';

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
  return new VivariumError(
    'invalid_request',
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
    get: () => present(),
    export: (input) => certificateFile('vivarium-root', root.describe().pem, input?.format ?? 'pem'),
    async extend({ suffix, confirm }) {
      const added = readNewSuffix(suffix, root.describe().permittedSuffixes);
      const above = confirm ? null : publicSuffixAbove(added);
      if (above !== null) throw needsConfirmation(added, above);
      await root.extend(added);
      effects.emit('ca.changed');
      return { ...present(), message: EXTENDED };
    },
    async retract({ suffix }) {
      await root.retract(suffix);
      const left: StoreTrust[] = [];
      for (const store of await stores.list()) {
        const kept = store.wider === undefined ? null : await replaceIn(store);
        if (kept !== null) left.push(kept);
      }
      effects.emit('ca.changed');
      return { ...present(), message: RETRACTED, left };
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
