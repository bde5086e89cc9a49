import { X509Certificate, createECDH, createPrivateKey, hkdfSync, type KeyObject } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../base/system/files.ts';
import { type Log, silentLog } from '../base/log.ts';
import {
  fingerprint,
  fingerprintStart,
  namesKey,
  distinguishedName,
  type Extension,
  keyIdentifier,
  type KeyPair,
  keyPairOf,
  randomSerial,
  readCertificate,
  signCertificate,
  type Signer,
  readSigner,
  parseCertificate,
} from './certificate.ts';
import { createFile, readOwnFile, replaceFile } from './stores/owned-files.ts';
import { CERTIFICATE_MODE, loadOrCreateRoot, ROOT_CERTIFICATE_FILE, ROOT_FILE_BYTES_MAX } from './root-folder.ts';
import type { LoadOrCreateRootOptions } from './root-folder.ts';
import { extendRoot, readRootCertificate, type Root, renewRoot, retractRoot } from './root.ts';
import type { OwnRoots } from './stores/truststore.ts';
import { intermediateExtensions } from './extensions.ts';

/** The order of P-256 (NIST SP 800-186 §3.2.1.3). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** 64 bits more than the order, so the remainder is not biased (FIPS 186-5 §A.2.1). */
const SEED_BYTES = 40;
const COORDINATE_BYTES = 32;
/** Distinguishes this use of the root's key (RFC 5869 §3.2). */
const PURPOSE = 'Vivarium intermediate 1';

/**
 * The intermediate of `root`: `pem` if it is up to date, else a new certificate. Its key is derived from the root's, so
 * it survives every replacement of either certificate, and there is no second secret to keep or lose.
 */
export function intermediateOf(root: Root, filesUrl: string | null, pem: string | null): Signer {
  const { privateKey, point } = deriveKeys(root.privateKey);
  const known = pem === null ? null : parseCertificate(pem);
  const wanted = signIntermediate(root, { privateKey, point }, filesUrl);
  const certificate = known !== null && isSame(known, wanted, root) ? known : wanted;
  return { ...readSigner(certificate), role: 'intermediate', privateKey };
}

/** Lasts as long as the root, within its constraints. */
function signIntermediate(root: Root, { point }: KeyPair, filesUrl: string | null): X509Certificate {
  const subjectKey = keyIdentifier(point);
  const id = root.keyIdentifier.toString('hex').slice(0, 6);
  const der = signCertificate(
    {
      serial: randomSerial(),
      issuer: root.subject,
      subject: distinguishedName({ organization: 'Vivarium', commonName: `Vivarium intermediate (${id})` }),
      notBeforeMs: root.notBeforeMs,
      notAfterMs: root.notAfterMs,
      point,
      extensions: intermediateExtensions(subjectKey, root.constraints, { issuer: root, filesUrl }),
    },
    root.privateKey,
  );
  return new X509Certificate(der);
}

/** Whether everything except the serial number and the signature is equal. */
function isSame(known: X509Certificate, wanted: X509Certificate, root: Root): boolean {
  return (
    known.checkIssued(root.certificate) &&
    known.verify(root.certificate.publicKey) &&
    known.subject === wanted.subject &&
    known.validFrom === wanted.validFrom &&
    known.validTo === wanted.validTo &&
    known.publicKey.equals(wanted.publicKey) &&
    extensionsOf(known) === extensionsOf(wanted)
  );
}

const extensionsOf = (certificate: X509Certificate): string =>
  [...readCertificate(certificate.raw).extensions].map(([id, extension]) => `${id} ${textOf(extension)}`).join('\n');

const textOf = ({ critical, value }: Extension): string => `${critical ? '!' : ''}${value.toString('hex')}`;

/** A key pair by HKDF from a P-256 key (RFC 5869). */
function deriveKeys(from: KeyObject): KeyPair {
  const { d = '' } = from.export({ format: 'jwk' });
  const seed = hkdfSync('sha256', Buffer.from(d, 'base64url'), Buffer.alloc(0), PURPOSE, SEED_BYTES);
  const scalar = (BigInt(`0x${Buffer.from(seed).toString('hex')}`) % (ORDER - 1n)) + 1n;
  const secret = Buffer.from(scalar.toString(16).padStart(2 * COORDINATE_BYTES, '0'), 'hex');
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(secret);
  // The uncompressed point: 0x04, x, y.
  const point = curve.getPublicKey();
  const text = (start: number) => point.subarray(start, start + COORDINATE_BYTES).toString('base64url');
  const key = { kty: 'EC', crv: 'P-256', d: secret.toString('base64url'), x: text(1), y: text(1 + COORDINATE_BYTES) };
  return keyPairOf(createPrivateKey({ format: 'jwk', key }));
}

/** The name of an earlier `root.pem`: `root-` and the first 8 digits of its fingerprint. */
const OLDER_FILE = /^root-[0-9a-f]{8}\.pem$/;

/** The maximum number of extensions; more files than this come from another program. */
const OLDER_ROOTS_MAX = 100;

/** The certificate of the intermediate, in the root's folder; it can be recreated at any time. */
export const INTERMEDIATE_FILE = 'intermediate.pem';

/**
 * The root of a folder without its private key, to find it in trust stores; null when there is none. @throws
 * VivariumError unavailable when it cannot be read.
 */
export function readOwnRoots(directory: string): OwnRoots | null {
  const file = join(directory, ROOT_CERTIFICATE_FILE);
  const pem = readOwnFile(file, { mode: CERTIFICATE_MODE, bytesMax: ROOT_FILE_BYTES_MAX, log: silentLog });
  if (pem === null) return null;
  const current = readRootCertificate(pem, file);
  return { current, file, older: readOlder(directory, silentLog) };
}

export interface AuthorityOptions extends LoadOrCreateRootOptions {
  /** As in `createLeaf`, for the intermediate; called at every use, because a change replaces the certificate. */
  filesUrl?: () => string | null;
}

/** Opens or creates the root of a folder. @throws VivariumError as `loadOrCreateRoot`. */
export function openAuthority(options: AuthorityOptions) {
  const { directory, clock, log = silentLog, filesUrl = () => null } = options;
  const certificateFile = join(directory, ROOT_CERTIFICATE_FILE);
  let root = loadOrCreateRoot(options);
  let older = readOlder(directory, log);
  let held: { intermediate: Signer; root: Root; filesUrl: string | null } | null = null;

  function intermediate(): Signer | null {
    if (root.leavesOnly) return null;
    const url = filesUrl();
    if (held?.root !== root || held.filesUrl !== url) {
      held = { intermediate: keepIntermediate(directory, log, root, url), root, filesUrl: url };
    }
    return held.intermediate;
  }

  function replaceBy(renewed: Root): Root {
    keepOlder(options, root);
    replaceFile(
      certificateFile,
      renewed.certificatePem,
      CERTIFICATE_MODE,
      'replaced; the root is unchanged. Use a folder that your user owns, on a disk with free space',
    );
    log.info('The root has a new certificate.', {
      file: certificateFile,
      fingerprint: renewed.fingerprint,
      suffixes: renewed.constraints.suffixes,
    });
    older = readOlder(directory, log);
    root = renewed;
    return root;
  }

  return {
    root: (): Root => root,
    /** Its intermediate, created on first use; null if the root permits none. */
    intermediate,
    /** The signer of leaves: the intermediate, or a root without one. */
    issuer: (): Signer => intermediate() ?? root,
    /** The certificates between a leaf and the root, in PEM: none for a leaf signed by the root, even an earlier one. */
    chainOf(leafPem: string): readonly string[] {
      const between = intermediate();
      return between !== null && namesKey(leafPem, between.keyIdentifier) ? [between.certificatePem] : [];
    },
    certificateFile,
    /** Earlier certificates of the root, kept for removal from trust stores. */
    older: (): readonly X509Certificate[] =>
      older.filter((certificate) => fingerprint(certificate.raw) !== root.fingerprint),
    /**
     * Gives the root a new certificate, on disk and in force when this returns, and keeps the old one beside it. @throws
     * VivariumError as `extendRoot`; unavailable when a file cannot be written, with nothing changed.
     */
    extend: (suffix: string): Root => replaceBy(extendRoot(root, suffix, clock.state().realNow)),
    /** The same without a suffix. @throws VivariumError as `retractRoot`. */
    retract: (suffix: string): Root => replaceBy(retractRoot(root, suffix, clock.state().realNow)),
    /** The same with the current suffixes. */
    renew: (): Root => replaceBy(renewRoot(root, clock.state().realNow)),
  };
}

/** The intermediate of the root's folder, written there when it is new. */
function keepIntermediate(directory: string, log: Log, root: Root, filesUrl: string | null): Signer {
  const file = join(directory, INTERMEDIATE_FILE);
  try {
    const pem = readOwnFile(file, { mode: CERTIFICATE_MODE, bytesMax: ROOT_FILE_BYTES_MAX, log });
    const intermediate = intermediateOf(root, filesUrl, pem);
    if (intermediate.certificatePem === pem) return intermediate;
    writeFileAtomically(file, intermediate.certificatePem, CERTIFICATE_MODE);
    log.info('The root has signed an intermediate.', { file, fingerprint: intermediate.fingerprint });
    return intermediate;
  } catch (error) {
    log.warn('The file of the intermediate cannot be used; every start creates another intermediate.', { file, error });
    return intermediateOf(root, filesUrl, null);
  }
}

function keepOlder({ directory, log = silentLog }: LoadOrCreateRootOptions, root: Root): void {
  const file = join(directory, `root-${fingerprintStart(root.fingerprint)}.pem`);
  // It exists if an extension was interrupted between the two files.
  const existing = readOwnFile(file, { mode: CERTIFICATE_MODE, bytesMax: ROOT_FILE_BYTES_MAX, log });
  if (existing === null) createFile(file, root.certificatePem, CERTIFICATE_MODE);
}

function readOlder(directory: string, log: Log): X509Certificate[] {
  const names = readdirSync(directory).filter((name) => OLDER_FILE.test(name));
  return names.slice(0, OLDER_ROOTS_MAX).flatMap((name) => {
    const file = join(directory, name);
    try {
      const pem = readOwnFile(file, { mode: CERTIFICATE_MODE, bytesMax: ROOT_FILE_BYTES_MAX, log });
      return pem === null ? [] : [new X509Certificate(pem)];
    } catch (error) {
      log.warn('An earlier certificate of the root cannot be read; trust stores that have it may keep it.', {
        file,
        error,
      });
      return [];
    }
  });
}
