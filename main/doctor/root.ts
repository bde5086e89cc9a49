import { orElse } from '../contract/errors.ts';
import { DAY_MS } from '../contract/duration.ts';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OWNER_ONLY } from '../base/system/files.ts';
import { posixWord, shellWord } from '../base/text/shell.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import { modeText, findExcessMode } from './data-folder.ts';
import { agoText, checkOf, isoText, type Remedy } from './finding.ts';
import { messageOf } from '../base/error-code.ts';
import type { StoreTrust } from '../contract/certificates.ts';
import { commandLine } from '../base/system/own-command.ts';

/** The root's files, as in `main/ca/README.md`. */
const CERTIFICATE_FILE = 'root.pem';
const KEY_FILE = 'root-key.pem';
const SEALED_FILE = 'root-key.sealed';
const FOLDER_MODE = 0o700;

export type CertificateReading =
  | { state: 'absent' }
  | { state: 'unreadable'; reason: string }
  | { state: 'read'; fingerprint: string; notBeforeMs: number; notAfterMs: number; isAuthority: boolean };

export interface RootEvidence {
  file: string;
  certificate: CertificateReading;
  /** Fingerprint of the root that the engine signs with; null without an engine. */
  usedFingerprint: string | null;
  realNowMs: number;
  platform: NodeJS.Platform;
}

/** With less time left, leaves cannot be valid for their full 90 days. */
const ENDING_MS = 90 * DAY_MS;

const NEW_ROOT =
  'Move its files to another folder and start Vivarium again: it creates a new root, which clients must be made to trust.';

export function evaluateRoot({ file, certificate, usedFingerprint, realNowMs, platform }: RootEvidence): DoctorCheck {
  const { ok, skipped, warning, failed } = checkOf('root', 'certificate', 'Root certificate');
  if (certificate.state === 'absent') {
    if (usedFingerprint === null) return skipped(`There is no ${file}; the first start creates it.`);
    return failed(
      `${file} is gone, but Vivarium still signs with it.`,
      'Export the root again before Vivarium stops, for example from the page Certificates: the next start would create another certificate.',
      [`vivarium ca export --output ${shellWord(file, platform)}`],
    );
  }
  if (certificate.state === 'unreadable') {
    return failed(`${file} can’t be read as a certificate: ${certificate.reason}.`, NEW_ROOT);
  }
  const { fingerprint, notBeforeMs, notAfterMs, isAuthority } = certificate;
  const evidence = [`${file}: valid from ${isoText(notBeforeMs)} to ${isoText(notAfterMs)}.`, `SHA-256 ${fingerprint}`];
  if (!isAuthority) return failed([...evidence, 'It is not a self-signed CA certificate.'], NEW_ROOT);
  if (usedFingerprint !== null && usedFingerprint !== fingerprint) {
    return failed(
      [...evidence, 'Vivarium signs with another certificate: the file was changed while it ran.'],
      'Start Vivarium again. Replace the other certificate with this file in clients that trust it.',
    );
  }
  if (realNowMs >= notAfterMs) return failed([...evidence, 'It has expired.'], NEW_ROOT);
  if (realNowMs < notBeforeMs) {
    return failed(
      [...evidence, 'It is not valid yet: the machine’s clock is behind.'],
      'Set the date of this machine.',
    );
  }
  if (notAfterMs - realNowMs < ENDING_MS) {
    return warning([...evidence, `It expires in ${agoText(notAfterMs - realNowMs)}.`], NEW_ROOT);
  }
  return ok(evidence);
}

export interface RootKeyEvidence {
  folder: string;
  file: string;
  storage: 'file' | 'keyring' | 'absent';
  /** The folder and the file, if their modes are too open. */
  open: readonly { path: string; mode: number; wanted: number }[];
  /** Whether the key belongs to the certificate; null if unknown. */
  fits: boolean | null;
  /** Whether there is a certificate that needs the key. */
  needed: boolean;
}

export function evaluateRootKey({ folder, file, storage, open, fits, needed }: RootKeyEvidence): DoctorCheck {
  const { ok, skipped, failed } = checkOf('root', 'key', 'Root private key');
  if (storage === 'absent') {
    if (!needed) return skipped('There is no root yet.');
    return failed(
      `${file} is missing: nothing can be signed after the next start.`,
      `Restore it from a copy of ${folder}. If there is none, make a new root. ${NEW_ROOT}`,
    );
  }
  if (open.length > 0) {
    return failed(
      open.map(
        ({ path, mode, wanted }) =>
          `${path} has mode ${modeText(mode)}; it should have ${modeText(wanted)}. A user who has read the key can sign for every name that the root permits.`,
      ),
      `Restrict it to its owner. If others use this machine, also make a new root. ${NEW_ROOT}`,
      open.map(({ path, wanted }) => `chmod ${modeText(wanted).slice(1)} ${posixWord(path)}`),
    );
  }
  if (fits === false) {
    return failed(
      `${file} is not the key of the root’s certificate.`,
      `Restore both from one copy of ${folder}. If there is none, make a new root. ${NEW_ROOT}`,
    );
  }
  return ok(
    storage === 'keyring'
      ? 'It is sealed with this system’s keyring; only the desktop app can open it.'
      : `Only its owner can read ${file}${fits === true ? ', and it is the key of the certificate' : ''}.`,
  );
}

/** Reads both files. The only fact returned about the key's content is whether it matches. */
export function readRoot(
  folder: string,
  platform: NodeJS.Platform,
): { root: Pick<RootEvidence, 'file' | 'certificate'>; key: RootKeyEvidence } {
  const file = join(folder, CERTIFICATE_FILE);
  const keyFile = join(folder, KEY_FILE);
  const read = readCertificate(file);
  const storage = existsSync(keyFile) ? 'file' : existsSync(join(folder, SEALED_FILE)) ? 'keyring' : 'absent';
  const open =
    platform === 'win32' ? [] : [...findExcessMode(folder, FOLDER_MODE), ...findExcessMode(keyFile, OWNER_ONLY)];
  return {
    root: { file, certificate: read.reading },
    key: {
      folder,
      file: keyFile,
      storage,
      open,
      fits: storage === 'file' && read.certificate !== null ? fitsKey(read.certificate, keyFile) : null,
      needed: read.reading.state !== 'absent',
    },
  };
}

function readCertificate(file: string): { reading: CertificateReading; certificate: X509Certificate | null } {
  if (!existsSync(file)) return { reading: { state: 'absent' }, certificate: null };
  try {
    const certificate = new X509Certificate(readFileSync(file));
    const reading: CertificateReading = {
      state: 'read',
      fingerprint: certificate.fingerprint256,
      notBeforeMs: certificate.validFromDate.getTime(),
      notAfterMs: certificate.validToDate.getTime(),
      isAuthority: certificate.ca && certificate.verify(certificate.publicKey),
    };
    return { reading, certificate };
  } catch (error) {
    return {
      reading: { state: 'unreadable', reason: messageOf(error) },
      certificate: null,
    };
  }
}

/** Also false for text that is not a key. */
const fitsKey = (certificate: X509Certificate, keyFile: string): boolean =>
  orElse(() => certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile))), false);

export function evaluateStore(store: StoreTrust, platform: NodeJS.Platform): DoctorCheck {
  const { ok, skipped, warning } = checkOf('trust', store.store, store.title);
  switch (store.state) {
    case 'trusted':
      return [store.superseded, store.wider, store.otherRoots].every((found) => found === undefined)
        ? ok(store.message)
        : warning(store.message, remedyOf(store, platform));
    case 'unavailable':
      return skipped(store.message, remedyOf(store, platform));
    case 'untrusted':
    case 'other_root':
      return warning(store.message, remedyOf(store, platform));
  }
}

function remedyOf(
  { store, state, handshake, needs, command, otherRoots, superseded, wider }: StoreTrust,
  platform: NodeJS.Platform,
): Remedy {
  if (command !== undefined) {
    return {
      fix: `Paste the command${needs === undefined ? '' : `; it needs ${needs}`}.`,
      commands: command.split('\n'),
    };
  }
  if (state === 'unavailable') return { fix: needs === undefined ? 'No action is needed.' : `It needs ${needs}.` };
  if (state === 'trusted' && superseded === undefined && wider !== undefined)
    return {
      fix: 'Remove the older certificate with the store’s own tool: Vivarium cannot change the file that it is in.',
    };
  if (state === 'trusted' && superseded === undefined && otherRoots !== undefined) {
    return {
      fix: 'Remove the root of the other Vivarium if it is no longer used.',
      commands: otherRoots.map(
        ({ fingerprint }) =>
          `vivarium ca untrust ${shellWord(store, platform)} --fingerprint ${shellWord(fingerprint, platform)}`,
      ),
    };
  }
  const trust = `vivarium ca trust ${shellWord(store, platform)}`;
  if (handshake === 'refused') {
    return {
      fix: 'Remove the root from the store and add it again.',
      commands: [`vivarium ca untrust ${shellWord(store, platform)}`, trust],
    };
  }
  return {
    fix: 'Trust the root there, so that programs that use this store open your hostnames without a warning.',
    commands: [trust],
  };
}

export const evaluateNoStores = (): DoctorCheck =>
  checkOf('trust', 'none', 'Trust stores').skipped(
    'None was found on this machine.',
    'Give clients the root’s file: curl --cacert, NODE_EXTRA_CA_CERTS.',
  );

/** The result of opening a hostname in an installed browser as the user has set it up. */
export interface BrowserEvidence {
  name: string;
  kind: 'chromium' | 'firefox';
  hostname: string;
  result: { opened: true } | { opened: false; said: string };
}

const NO_BROWSER = checkOf('browsers', 'all', 'Browsers');

/** Opening a page in each browser takes seconds, so a run of all areas skips it. */
export const SKIPPED_BROWSERS: DoctorCheck = NO_BROWSER.skipped(
  'No page was opened in them: this takes some seconds, so it is done only on request.',
  'Open a hostname in each installed browser.',
  ['vivarium doctor --areas browsers'],
);

export const evaluateNoBrowser = (reason: string): DoctorCheck => NO_BROWSER.skipped(reason);

export function evaluateBrowser({ name, kind, hostname, result }: BrowserEvidence): DoctorCheck {
  const { ok, warning } = checkOf('browsers', name.toLowerCase(), name);
  const url = `https://${hostname}/`;
  if (result.opened) return ok(`It opened ${url} with its current setup, and verified the certificate.`);
  const said = result.said === '' ? [] : [`It said: ${result.said}`];
  return warning(
    [`It did not open ${url} with its current setup.`, ...said],
    kind === 'firefox'
      ? 'Trust the root in Firefox, and set its DNS over HTTPS (docs/reach-a-hostname.md), or open the hostname in a separate profile.'
      : 'Trust the root, and set the PAC file (docs/reach-a-hostname.md), or open the hostname in a separate profile.',
    [commandLine`vivarium open ${hostname} --browser ${kind}`],
  );
}
