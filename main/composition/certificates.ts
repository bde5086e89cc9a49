import { X509Certificate } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isWithin } from '../base/hostname.ts';
import { environmentOutside } from '../base/program-folder.ts';
import { openAuthority } from '../ca/authority.ts';
import { describeRoot, createRevocationList, LIST_LIFETIME_MS } from '../ca/root.ts';
import { type KeyStorage, openKeyVault } from '../ca/key-vault.ts';
import { CERTIFICATE_PATH, CRL_PATH } from '../ca/extensions.ts';
import { createLeafContexts } from '../ca/leaf-contexts.ts';
import { createLeaf } from '../ca/leaf.ts';
import { machineStores, findProgram } from '../ca/machine-stores.ts';
import { makeTrustStore } from '../ca/nss-certutil.ts';
import { createRunCommand, type RunCommand } from '../ca/run-command.ts';
import { createTrustStores, type TrustLedger, type TrustStores, type TrustStoresOptions } from '../ca/truststores.ts';
import type { OwnRoots } from '../ca/vivarium-roots.ts';
import type { Foundation } from './foundation.ts';
import { openMachineLedger, trustLedger } from './machine.ts';

export type Certificates = Awaited<ReturnType<typeof openCertificates>>;

/** The root, the leaves of the platform's own hostnames, and the trust stores of this machine. */
export async function openCertificates(foundation: Foundation) {
  const { config, stateDir, clock, log, sealer, settings, store, machineRoot } = foundation;
  const directory = join(stateDir, 'ca');
  const vault = await openKeyVault({ directory, sealer, log });
  const authority = openAuthority({ directory, clock, log, sealedKeyPem: vault.sealedKeyPem });
  // The files on disk win; they can differ from the database after either was restored.
  if (settings.current().caKey !== vault.storage()) settings.update({ caKey: vault.storage() });
  const urlAt = (httpPort: number) => `http://127.0.0.1:${httpPort}`;
  /** Null until the HTTP port is bound, which may be any free one. */
  let filesUrl = config.httpPort === 0 ? null : urlAt(config.httpPort);
  let httpsPort: number | null = null;
  const platformLeaves = createLeafContexts({ root: authority.root, clock, filesUrl: () => filesUrl });
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

  return {
    certificateFile: authority.certificateFile,
    root: {
      /** Names the root's key pair, which its renewals and extensions keep. */
      identity: () => authority.root().keyIdentifier.toString('hex'),
      describe: () => ({ ...describeRoot(authority.root()), key: vault.describe() }),
      moveKey: (to: KeyStorage) => vault.move(to),
      extend(suffix: string) {
        authority.extend(suffix);
        platformLeaves.dropAll();
      },
      renew() {
        authority.renew();
        platformLeaves.dropAll();
      },
    },
    platformLeaves,
    trustStores,
    ledger,
    /** Makes a trust store for one browser in a folder, with the root alone; null where NSS's `certutil` is missing. */
    makeTrustStore() {
      const certutil = findProgram('certutil', environment, platform);
      if (certutil === null) return null;
      const { fingerprint } = authority.root();
      return (folder: string) =>
        makeTrustStore(folder, { run, certutil, root: { fingerprint, file: authority.certificateFile } });
    },
    /** What the HTTP port and the control port serve without a token: in DER, by path. */
    openFiles: new Map<string, { contentType: string; read: () => Buffer }>([
      [
        CRL_PATH,
        {
          contentType: 'application/pkix-crl',
          read() {
            const { realNow } = clock.state();
            return createRevocationList(authority.root(), realNow, store.revocations.list(realNow - LIST_LIFETIME_MS));
          },
        },
      ],
      [
        CERTIFICATE_PATH,
        { contentType: 'application/pkix-cert', read: () => new X509Certificate(authority.root().certificatePem).raw },
      ],
    ]),
    /** Sets the addresses in future leaves, and where a handshake is tried. */
    bound(ports: { http: number; https: number }) {
      filesUrl = urlAt(ports.http);
      httpsPort = ports.https;
    },
    /** Signs the leaves of custom domains. */
    issuer: {
      permits: (hostname: string) => authority.root().constraints.suffixes.some((suffix) => isWithin(hostname, suffix)),
      issue: (hostname: string) => createLeaf({ root: authority.root(), hostnames: [hostname], clock, filesUrl }),
    },
  };
}

/** The trust stores of this machine and user. */
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
