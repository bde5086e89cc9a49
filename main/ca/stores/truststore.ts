import { orElse } from '../../contract/errors.ts';
import type { Command } from './run-command.ts';
import { type X509Certificate, hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { fingerprint, parseCertificate } from '../certificate.ts';
import type { Root } from '../root.ts';

/** The root to trust, and its earlier certificates. */
export interface OwnRoots {
  readonly current: Pick<Root, 'certificate' | 'fingerprint' | 'constraints'>;
  /** The file of `current`, for commands. */
  readonly file: string;
  readonly older: readonly X509Certificate[];
}

/** `current` and `older` are this Vivarium's own; `other` belongs to another one, or to a deleted data folder. */
export type Identity = 'current' | 'older' | 'other';

export interface VivariumRoot {
  identity: Identity;
  /** SHA-256, `AB:CD:…`; SHA-1 on Windows, whose stores use it. */
  fingerprint: string;
  /** The common name, which identifies the owner: `Vivarium root (anna@laptop 3f2a91)`. */
  name: string;
}

/** A part of every Vivarium root's subject that is quick to find in a store of hundreds. */
const MARK = 'Vivarium root (';

/** The common name that `createRoot` sets: the last six digits begin the key identifier. */
export const ROOT_NAME = /Vivarium root \(.{0,64} [0-9a-f]{6}\)/;

/**
 * The owner of a root; null for a certificate that Vivarium did not make, which is never touched. A root is ours if its
 * fingerprint matches or our key signed it: only our key can do that, even for a certificate whose file is lost.
 */
export function identify(der: Buffer, own: OwnRoots): VivariumRoot | null {
  if (!der.includes(MARK)) return null;
  const certificate = parseCertificate(der);
  const name = ROOT_NAME.exec(certificate?.subject ?? '')?.[0];
  if (certificate === null || name === undefined || !isSelfSigned(certificate)) return null;
  const print = fingerprint(der);
  return { identity: identityOf(certificate, print, own), fingerprint: print, name };
}

function identityOf(certificate: X509Certificate, print: string, { current, older }: OwnRoots): Identity {
  if (print === current.fingerprint) return 'current';
  const isOlder =
    certificate.publicKey.equals(current.certificate.publicKey) ||
    older.some((known) => fingerprint(known.raw) === print);
  return isOlder ? 'older' : 'other';
}

const isSelfSigned = (certificate: X509Certificate): boolean =>
  certificate.ca && certificate.subject === certificate.issuer && certificate.verify(certificate.publicKey);

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/** The DER of every certificate in a text, in order. */
export const certificatesIn = (text: string): Buffer[] =>
  [...text.matchAll(PEM_BLOCK)].map((match) => Buffer.from(match[1] ?? '', 'base64'));

/**
 * The id that `security` and `certutil.exe` use for certificates: SHA-1, 40 upper-case digits. An identifier, not a
 * proof.
 */
export const sha1Of = (der: Uint8Array): string => hash('sha1', der, 'hex').toUpperCase();

export interface FoundRoot extends VivariumRoot {
  /** Whether clients of the store accept its leaves; a store can contain a root without trusting it. */
  trusted: boolean;
  /** Its id in the store's own commands; null when it cannot be removed without affecting others. */
  handle: string | null;
}

/** Why a store cannot be read or changed, and the fix. */
export interface Unavailable {
  available: false;
  message: string;
  needs: string;
  command?: string;
}

export type StoreReading = { available: true; roots: FoundRoot[] } | Unavailable;

/** Where Vivarium serves a certificate by the root. */
export interface Served {
  hostname: string;
  port: number;
}

/**
 * One trust store. It reads itself and returns the commands for a change; truststores.ts decides whether to run,
 * display or refuse them, and checks the result.
 */
export interface TrustStore {
  /** `system`, `nss:user`, `nss:firefox:<profile>`. */
  readonly id: string;
  readonly title: string;
  /** Always reads the store itself. Does not throw for a missing or damaged store. */
  read(own: OwnRoots): Promise<StoreReading>;
  /** Adds the current root and removes `superseded`. */
  trust(own: OwnRoots, superseded: readonly FoundRoot[]): Command[];
  /** Removes `targets`, all of which have a handle. */
  untrust(targets: readonly FoundRoot[]): Command[];
  /** The id in the store's own commands that the current root has once it is trusted. */
  handleOf(own: OwnRoots): string;
  /**
   * A client's handshake that trusts this store only: exits with 0 when it has verified the certificate. Null without
   * such a client.
   */
  handshake(served: Served): Command | null;
  /** The meaning of a command's failure, when the store can tell more than the command's output. */
  explainFailure?(output: string): string | null;
  /** What makes a client notice a change: "Restart the browser". */
  readonly afterwards?: string;
}

/** The text of a file of at most `bytesMax`; empty if it is larger or cannot be read. */
export const readSmall = (file: string, bytesMax: number): string =>
  orElse(() => (statSync(file).size > bytesMax ? '' : readFileSync(file, 'utf8')), '');
