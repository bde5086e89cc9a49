import { X509Certificate } from 'node:crypto';
import { readCertificate } from './certificate.ts';
import { content, decode } from './der.ts';

/** The extension acmeIdentifier (RFC 8737 §3). */
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';

/** The names and the digest of a certificate that answers tls-alpn-01; neither, if it cannot be read. */
export function readChallengeCertificate(der: Buffer): { names: string; digest: string | null } {
  try {
    const certificate = new X509Certificate(der);
    const extension = readCertificate(der).extensions.get(ACME_IDENTIFIER);
    const digest = extension?.critical === true ? content(decode(extension.value)).toString('hex') : null;
    return { names: certificate.subjectAltName ?? '', digest };
  } catch {
    return { names: '', digest: null };
  }
}
