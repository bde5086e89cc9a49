import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { DEFAULT_LEAF, DEMO, SHOP } from './proxy-harness.ts';

export type TestCertificates = ReturnType<typeof createTestCertificates>;

/**
 * A self-signed certificate per hostname, made with openssl, and all of them in one trust file, in the temporary folder
 * of the test file.
 */
export function createTestCertificates(hostnames: readonly string[] = [DEMO, SHOP, DEFAULT_LEAF]) {
  const directory = mkdtempSync(join(tmpdir(), 'vivarium-proxy-test-'));
  const contexts = new Map<string, SecureContext>();
  const certificates: string[] = [];
  for (const hostname of hostnames) {
    const keyFile = join(directory, `${hostname}.key`);
    const certificateFile = join(directory, `${hostname}.pem`);
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'],
        ...['-subj', '/CN=vivarium test', '-addext', `subjectAltName=DNS:${hostname}`],
        ...['-keyout', keyFile, '-out', certificateFile],
      ],
      { stdio: 'ignore' },
    );
    const certificate = readFileSync(certificateFile, 'utf8');
    certificates.push(certificate);
    contexts.set(hostname, createSecureContext({ key: readFileSync(keyFile), cert: certificate }));
  }
  const trusted = certificates.join('');
  const trustFile = join(directory, 'trusted.pem');
  writeFileSync(trustFile, trusted);
  return {
    contextFor: (hostname: string) => contexts.get(hostname) ?? null,
    /** PEM of everything to trust. */
    trusted,
    /** The same as a file, for `curl --cacert`. */
    trustFile,
  };
}
