import { X509Certificate } from 'node:crypto';

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const DAY_MS = 86_400_000;
/** Below the 398 days of public certificates and Apple's 825. */
const VALIDITY_DAYS_MAX = 397;

/** Faults that browsers refuse and `openssl verify -x509_strict` accepts; empty if the leaf has none. */
export function lintLeaf(pem: string): string[] {
  const leaf = new X509Certificate(pem);
  const days = (leaf.validToDate.getTime() - leaf.validFromDate.getTime()) / DAY_MS;
  const rules: [boolean, string][] = [
    [/^[0-9A-F]{32}$/.test(leaf.serialNumber), `serial ${leaf.serialNumber} has not 16 octets or is negative`],
    [/^[4-7]/.test(leaf.serialNumber), 'serial does not begin with the bits 01'],
    [leaf.keyUsage?.length === 1 && leaf.keyUsage[0] === SERVER_AUTH, 'extended key usage is not serverAuth alone'],
    [leaf.subjectAltName !== undefined, 'no alternative names'],
    [days <= VALIDITY_DAYS_MAX, `valid for ${days} days, more than ${VALIDITY_DAYS_MAX}`],
    [!leaf.ca, 'is a certificate authority'],
    [leaf.publicKey.asymmetricKeyDetails?.namedCurve === 'prime256v1', 'the key is not P-256'],
    [leaf.signatureAlgorithm === 'ecdsa-with-SHA256', `signed with ${leaf.signatureAlgorithm ?? 'nothing'}`],
  ];
  return rules.filter(([holds]) => !holds).map(([, fault]) => fault);
}
