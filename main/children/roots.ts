import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { realTime } from '../base/clock.ts';
import { OWNER_ONLY, writeFileAtomically } from '../base/system/files.ts';
import { joinCertificates } from './extra-roots.mjs';
import type { Environment } from './proxies-before.ts';

/** Variables that add to the roots of a program, and those that replace them. */
const ADDING = 'NODE_EXTRA_CA_CERTS';
const REPLACING = ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'AWS_CA_BUNDLE'] as const;

/** Where distributions keep the roots of the system, in one file. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** How often the root's file is looked at. */
const LOOK_MS = 250;

export interface RootsOptions {
  /** Private; its owner removes it. */
  folder: string;
  caFile: string;
  env: Environment;
}

/**
 * Writes files by which programs trust Vivarium's root besides the roots that they trusted before, and again when the
 * root changes.
 */
export function openRoots({ folder, caFile, env }: RootsOptions) {
  const extra = join(folder, 'extra.pem');
  const all = join(folder, 'roots.pem');
  const php = join(folder, 'php');
  const before = [...REPLACING, ADDING].map((name) => readBefore(env[name]));
  const system = systemRoots();
  let context: SecureContext | null = null;
  let written = '';
  const write = (): void => {
    const root = readBefore(caFile);
    // None is there between two versions.
    if (root === '' || root === written) return;
    writeFileAtomically(extra, joinCertificates([root, readBefore(env[ADDING])]), OWNER_ONLY);
    writeFileAtomically(all, joinCertificates([root, ...before, system]), OWNER_ONLY);
    context = null;
    written = root;
  };
  const follow = (): void => {
    try {
      write();
    } catch {
      // The next look tries again, when the disk has space.
    }
    timer = realTime.schedule(LOOK_MS, follow);
  };
  mkdirSync(php, { recursive: true, mode: 0o700 });
  // PHP has no variable for the roots of curl, but one for further settings.
  writeFileAtomically(join(php, 'vivarium.ini'), `curl.cainfo="${all}"\nopenssl.cafile="${all}"\n`, OWNER_ONLY);
  write();
  let timer = realTime.schedule(LOOK_MS, follow);
  return {
    variables: {
      [ADDING]: extra,
      ...Object.fromEntries(REPLACING.map((name) => [name, all])),
      PHP_INI_SCAN_DIR: `${env['PHP_INI_SCAN_DIR'] ?? ''}${delimiter}${php}`,
    },
    trust: (): SecureContext => (context ??= createSecureContext({ ca: readFileSync(all) })),
    close: () => timer.cancel(),
  };
}

function readBefore(file: string | undefined): string {
  try {
    return file === undefined ? '' : readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** The roots of this system; Mozilla's, where it has none. */
function systemRoots(): string {
  const hasFile = process.platform !== 'win32' && process.platform !== 'darwin';
  const file = hasFile ? SYSTEM_FILES.find((path) => existsSync(path)) : undefined;
  if (file !== undefined) return readBefore(file);
  const found = getCACertificates('system');
  return (found.length > 0 ? found : getCACertificates('bundled')).join('\n');
}
