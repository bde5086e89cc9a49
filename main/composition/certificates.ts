import { homedir } from 'node:os';
import { join } from 'node:path';
import { isWithin } from '../base/text/hostname.ts';
import { environmentOutside } from '../base/system/program.ts';
import { openAuthority } from '../ca/authority.ts';
import {
  createRevocationList,
  LIST_LIFETIME_MS,
  createLeaf,
  createRequestedLeaf,
  createLeafContexts,
} from '../ca/leaf.ts';
import { describeRoot } from '../ca/root.ts';
import { describeSigner, type Signer } from '../ca/certificate.ts';
import { type KeyStorage, openKeyVault } from '../ca/root-folder.ts';
import { certificatePath, listPath, type Role } from '../ca/extensions.ts';
import { createBrokenHandshakes } from '../ca/broken-handshakes.ts';
import { permits, parseLeafName } from '../ca/names.ts';
import { machineStores, findProgram } from '../ca/stores/machine-stores.ts';
import { makeTrustStore } from '../ca/stores/truststore-nss.ts';
import { createRunCommand, type RunCommand } from '../ca/stores/run-command.ts';
import {
  createTrustStores,
  type TrustLedger,
  type TrustStores,
  type TrustStoresOptions,
} from '../ca/stores/truststores.ts';
import type { OwnRoots } from '../ca/stores/truststore.ts';
import type { Foundation } from './foundation.ts';
import { openMachineLedger, trustLedger } from './machine.ts';

export type Certificates = Awaited<ReturnType<typeof openCertificates>>;

/** The root, the leaves of the platform's own hostnames, and the trust stores of this machine. */
export async function openCertificates(foundation: Foundation) {
  const { config, stateDir, clock, log, sealer, settings, store, machineRoot } = foundation;
  const directory = join(stateDir, 'ca');
  const vault = await openKeyVault({ directory, sealer, log });
  // The files on disk win; they can differ from the database after either was restored.
  if (settings.current().caKey !== vault.storage()) settings.update({ caKey: vault.storage() });
  const urlAt = (httpPort: number) => `http://127.0.0.1:${httpPort}`;
  /** Null until the HTTP port is bound; it may be any free port. */
  let filesUrl = config.httpPort === 0 ? null : urlAt(config.httpPort);
  let httpsPort: number | null = null;
  const { sealedKeyPem } = vault;
  const authority = openAuthority({ directory, clock, log, sealedKeyPem, filesUrl: () => filesUrl });
  const platformLeaves = createLeafContexts({ ...authority, clock, filesUrl: () => filesUrl });
  const broken = createBrokenHandshakes({ ...authority, clock, filesUrl: () => filesUrl });
  const { platform } = process;
  const environment = environmentOutside(process.env);
  const run = createRunCommand({ clock, environment });
  const ledger = openMachineLedger(machineRoot);
  const trustStores = openTrustStores(
    run,
    () => ({ current: authority.root(), older: authority.older(), file: authority.certificateFile }),
    trustLedger(ledger, { dataDir: config.dataDir, now: () => clock.state().realNow }),
    () => (httpsPort === null ? null : { hostname: 'localhost', port: httpsPort }),
  );

  /** Both lists contain every revoked leaf: serial numbers are random, so additional entries do no harm. */
  function revocationList(signer: Signer): Buffer {
    const { realNow } = clock.state();
    const revoked = [...store.revocations.list(realNow - LIST_LIFETIME_MS), ...broken.revoked()];
    return createRevocationList(signer, realNow, revoked);
  }

  const filesOf = (role: Role, signer: () => Signer): [string, { contentType: string; read: () => Buffer }][] => [
    [listPath(role), { contentType: 'application/pkix-crl', read: () => revocationList(signer()) }],
    [certificatePath(role), { contentType: 'application/pkix-cert', read: () => signer().certificate.raw }],
  ];

  return {
    certificateFile: authority.certificateFile,
    root: {
      /** Identifies the root's key pair, which renewals and extensions keep. */
      identity: () => authority.root().keyIdentifier.toString('hex'),
      describe() {
        const intermediate = authority.intermediate();
        return {
          ...describeRoot(authority.root()),
          intermediate: intermediate === null ? null : describeSigner(intermediate),
          key: vault.describe(),
        };
      },
      moveKey: (to: KeyStorage) => vault.move(to),
      // Leaves of the former certificate are dropped by the caller.
      extend: authority.extend,
      retract: authority.retract,
      renew: authority.renew,
    },
    platformLeaves,
    brokenHandshake: broken.of,
    trustStores,
    ledger,
    /** Creates a trust store for one browser in a folder, with the root alone; null without NSS's `certutil`. */
    makeTrustStore() {
      const certutil = findProgram('certutil', environment, platform);
      if (certutil === null) return null;
      const { fingerprint } = authority.root();
      return (folder: string) =>
        makeTrustStore(folder, { run, certutil, root: { fingerprint, file: authority.certificateFile } });
    },
    /** Certificates that the HTTP port and the control port serve without a token: DER by path. */
    openFiles: new Map([
      ...filesOf('root', authority.root),
      // Without an intermediate, the root signs the leaves itself.
      ...filesOf('intermediate', authority.issuer),
    ]),
    /** Sets the addresses in future leaves, and the address of trial handshakes. */
    bound(ports: { http: number; https: number }) {
      filesUrl = urlAt(ports.http);
      httpsPort = ports.https;
    },
    /** Signs for the keys of ACME clients. */
    requested: {
      permits: (name: string) => permits(authority.root().constraints, parseLeafName(name)),
      notAfterMs: () => authority.issuer().notAfterMs,
      keyIdentifier: () => authority.issuer().keyIdentifier.toString('hex'),
      issue(request: Pick<Parameters<typeof createRequestedLeaf>[0], 'publicKey' | 'names' | 'dates'>) {
        const { certificatePem: pem, serial } = createRequestedLeaf({
          ...request,
          issuer: authority.issuer(),
          filesUrl,
        });
        return { pem, serial };
      },
      /** The chains of a leaf, in PEM: the default has the certificates that clients lack; the alternate also the root. */
      chains(pem: string): string[][] {
        const between = [...authority.chainOf(pem)];
        const whole = [...between, authority.root().certificatePem];
        return between.length === 0 ? [whole] : [between, whole];
      },
    },
    /** Signs the leaves of custom domains. */
    issuer: {
      chainOf: authority.chainOf,
      /**
       * The key identifiers of the root, which signed leaves before the intermediate did, and of the current issuer.
       */
      pems: () => [authority.root(), authority.issuer()].map(({ certificatePem }) => certificatePem),
      permits: (hostname: string) => authority.root().constraints.suffixes.some((suffix) => isWithin(hostname, suffix)),
      issue: (hostname: string) => createLeaf({ issuer: authority.issuer(), hostnames: [hostname], clock, filesUrl }),
    },
  };
}

export function openTrustStores(
  run: RunCommand,
  own: () => OwnRoots,
  ledger: TrustLedger,
  served: TrustStoresOptions['served'] = () => null,
): TrustStores {
  const { env: environment, platform } = process;
  const privileged = process.getuid?.() === 0;
  return createTrustStores({
    stores: () => machineStores({ platform, home: homedir(), environment, run, privileged }),
    own,
    run,
    platform,
    ledger,
    served,
  });
}
