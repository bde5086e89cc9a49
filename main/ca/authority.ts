import { X509Certificate } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../base/files.ts';
import { type Log, silentLog } from '../base/log.ts';
import { VivariumError } from '../contract/errors.ts';
import { fingerprint, fingerprintStart } from './certificate.ts';
import { createFile, readOwnFile } from './owned-files.ts';
import {
  CERTIFICATE_MODE,
  loadOrCreateRoot,
  type LoadOrCreateRootOptions,
  ROOT_CERTIFICATE_FILE,
  ROOT_FILE_BYTES_MAX,
} from './root-folder.ts';
import { extendRoot, readRootCertificate, type Root, renewRoot } from './root.ts';
import type { OwnRoots } from './vivarium-roots.ts';

/** The name of an earlier `root.pem`: `root-` and the first 8 digits of its fingerprint. */
const OLDER_FILE = /^root-[0-9a-f]{8}\.pem$/;

/** The maximum number of extensions; more files than this come from another program. */
const OLDER_ROOTS_MAX = 100;

/** The root of a data folder and its earlier certificates. */
export interface Authority {
  /** The current root. */
  root(): Root;
  /** Earlier certificates of the root, kept for removal from trust stores. */
  older(): readonly X509Certificate[];
  /** The file of the current certificate. */
  readonly certificateFile: string;
  /**
   * Gives the root a new certificate, on disk and in force when this returns, and keeps the old one beside it. @throws
   * VivariumError as `extendRoot`; unavailable when a file cannot be written, with nothing changed.
   */
  extend(suffix: string): Root;
  /** The same with the suffixes that it has. */
  renew(): Root;
}

/**
 * The root of a folder without its private key, to find it in trust stores; null when there is none. @throws VivariumError
 * unavailable when it cannot be read.
 */
export function readOwnRoots(directory: string): OwnRoots | null {
  const file = join(directory, ROOT_CERTIFICATE_FILE);
  const pem = readOwnFile(file, { mode: CERTIFICATE_MODE, bytesMax: ROOT_FILE_BYTES_MAX, log: silentLog });
  if (pem === null) return null;
  const current = readRootCertificate(pem, file);
  return { current, file, older: readOlder(directory, silentLog) };
}

/** Opens or creates the root of a folder. @throws VivariumError as `loadOrCreateRoot`. */
export function openAuthority(options: LoadOrCreateRootOptions): Authority {
  const { directory, clock, log = silentLog } = options;
  const certificateFile = join(directory, ROOT_CERTIFICATE_FILE);
  let root = loadOrCreateRoot(options);
  let older = readOlder(directory, log);

  function replaceBy(renewed: Root): Root {
    keepOlder(options, root);
    try {
      writeFileAtomically(certificateFile, renewed.certificatePem, CERTIFICATE_MODE);
    } catch (cause) {
      throw new VivariumError(
        'unavailable',
        `${certificateFile} could not be replaced; the root is unchanged. Use a folder that your user owns, on a disk with free space.`,
        { cause },
      );
    }
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
    root: () => root,
    certificateFile,
    older: () => older.filter((certificate) => fingerprint(certificate.raw) !== root.fingerprint),
    extend: (suffix) => replaceBy(extendRoot(root, suffix, clock.state().realNow)),
    renew: () => replaceBy(renewRoot(root, clock.state().realNow)),
  };
}

function keepOlder({ directory, log = silentLog }: LoadOrCreateRootOptions, root: Root): void {
  const file = join(directory, `root-${fingerprintStart(root.fingerprint)}.pem`);
  // It exists after an extension that was interrupted between the two files.
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
