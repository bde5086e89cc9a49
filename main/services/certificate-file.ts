import type { CertificateFile } from '../contract/certificates.ts';

/** What is left of the 255 octets that file systems give a name, with room for a suffix and a browser's " (1)". */
const BASE_NAME_LENGTH_MAX = 240;

/** One certificate as a file. */
export function certificateFile(name: string, pem: string, format: CertificateFile['format']): CertificateFile {
  const fileName = `${name.slice(0, BASE_NAME_LENGTH_MAX)}.${format}`;
  return format === 'pem' ? { format, fileName, text: pem } : { format, fileName, base64: octetsOf(pem) };
}

/** Between its first and last line, PEM is the base64 of DER (RFC 7468 §2). */
const octetsOf = (pem: string): string => pem.replace(/-----[^-]+-----|\s/g, '');
