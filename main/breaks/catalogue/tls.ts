import type { BreakEntry } from '../../contract/breaks.ts';
import { entryOf, everywhere } from './entry.ts';

/** The symptom of a client that accepts the fault. */
export const ACCEPTED = 'accepts it';

/** Symptoms of a certificate without the hostname. */
const NO_SUCH_NAME: BreakEntry['symptoms'] = {
  curl: 'curl: (60) SSL: no alternative certificate subject name matches target host name',
  node: 'ERR_TLS_CERT_ALTNAME_INVALID',
  python: 'certificate verify failed: Hostname mismatch',
  go: 'x509: certificate is valid for',
  java: 'No subject alternative DNS name matching',
  chromium: 'net::ERR_CERT_COMMON_NAME_INVALID',
  firefox: 'SSL_ERROR_BAD_CERT_DOMAIN',
};

const EVERY_CLIENT_ACCEPTS: BreakEntry['symptoms'] = {
  ...everywhere(ACCEPTED),
  ...{ java: ACCEPTED, chromium: ACCEPTED, firefox: ACCEPTED },
};

type Written = Pick<BreakEntry, 'title' | 'cause' | 'symptoms' | 'remedy'>;

/** The texts and symptoms of each entry, by name. */
const WRITTEN: Readonly<Record<string, Written>> = {
  expired: {
    title: 'Expired certificate',
    cause: 'The certificate expired ten days ago: a renewal failed, or the server was not reloaded afterwards.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: certificate has expired',
      node: 'CERT_HAS_EXPIRED',
      python: 'certificate verify failed: certificate has expired',
      go: 'x509: certificate has expired or is not yet valid',
      java: 'validity check failed',
      chromium: 'net::ERR_CERT_DATE_INVALID',
      firefox: 'SEC_ERROR_EXPIRED_CERTIFICATE',
    },
    remedy: 'Renew the certificate, reload the server, and monitor the dates that clients see, not those on disk.',
  },
  'not-yet-valid': {
    title: 'Certificate from the future',
    cause: 'The certificate is valid from 30 days in the future: the issuer’s clock is fast, or the client’s is slow.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: certificate is not yet valid',
      node: 'CERT_NOT_YET_VALID',
      python: 'certificate verify failed: certificate is not yet valid',
      go: 'x509: certificate has expired or is not yet valid',
      java: 'validity check failed',
      chromium: 'net::ERR_CERT_DATE_INVALID',
      firefox: 'MOZILLA_PKIX_ERROR_NOT_YET_VALID_CERTIFICATE',
    },
    remedy: 'Compare both clocks with the correct time, and issue the certificate again.',
  },
  'wrong-host': {
    title: 'Certificate for another hostname',
    cause:
      'The server sends the certificate of another hostname: its default, because none is configured for this one.',
    symptoms: NO_SUCH_NAME,
    remedy: 'Issue a certificate with this hostname among its alternative names, and configure it for this hostname.',
  },
  'self-signed': {
    title: 'Self-signed certificate',
    cause: 'The certificate is signed with its own key, like those that devices and servers generate at installation.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: self-signed certificate',
      node: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      python: 'certificate verify failed: self-signed certificate',
      go: 'x509: certificate signed by unknown authority',
      java: 'unable to find valid certification path to requested target',
      chromium: 'net::ERR_CERT_AUTHORITY_INVALID',
      firefox: 'MOZILLA_PKIX_ERROR_SELF_SIGNED_CERT',
    },
    remedy: 'Use a certificate from an authority that the client trusts. Do not disable verification.',
  },
  'untrusted-root': {
    title: 'Unknown root',
    cause:
      'The chain ends at a root that the client does not trust: a company’s proxy, or a root that was not installed.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: self-signed certificate in certificate chain',
      node: 'SELF_SIGNED_CERT_IN_CHAIN',
      python: 'certificate verify failed: self-signed certificate in certificate chain',
      go: 'x509: certificate signed by unknown authority',
      java: 'unable to find valid certification path to requested target',
      chromium: 'net::ERR_CERT_AUTHORITY_INVALID',
      firefox: 'SEC_ERROR_UNKNOWN_ISSUER',
    },
    remedy: 'Add the root to the store that this client reads: many programs have their own store.',
  },
  'incomplete-chain': {
    title: 'Missing intermediate',
    cause: 'The server sends its certificate without the intermediate: cert.pem instead of fullchain.pem.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: unable to get local issuer certificate',
      node: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      python: 'certificate verify failed: unable to get local issuer certificate',
      go: 'x509: certificate signed by unknown authority',
      java: 'unable to find valid certification path to requested target',
      chromium: ACCEPTED,
      firefox: 'SEC_ERROR_UNKNOWN_ISSUER',
    },
    remedy: 'Send the whole chain. A browser that opens the page is no proof: browsers fetch missing intermediates.',
  },
  'reversed-chain': {
    title: 'Chain in the wrong order',
    cause: 'The root comes before the intermediate: files were joined in the wrong order.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy:
      'Put the certificate first, then what signed it, and so on. Only strict or old clients refuse another order.',
  },
  revoked: {
    title: 'Revoked certificate',
    cause: 'The certificate is on its issuer’s revocation list, as after the theft of its key.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy:
      'Issue another certificate with another key. Few clients read the list by themselves: see curl’s --crlfile.',
  },
  'no-common-name': {
    title: 'Subject without a common name',
    cause: 'The subject has no common name; the hostname is among the alternative names only.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Nothing is wrong with the certificate. A client that refuses it reads the common name, which is obsolete.',
  },
  'no-subject': {
    title: 'Empty subject',
    cause: 'The subject is empty, as in short-lived public certificates; the alternative names are critical.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Nothing is wrong with the certificate. Fix clients and tools that display or compare the subject.',
  },
  '1000-sans': {
    title: '1,000 alternative names',
    cause: 'The certificate has 1,000 hostnames, like those that content delivery networks share.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Nothing is wrong with it, but every handshake carries 30 kB. Split the certificate.',
  },
  '10000-sans': {
    title: '10,000 alternative names',
    cause: 'The certificate has 10,000 hostnames and more octets than most clients take.',
    symptoms: {
      curl: 'SSL routines::excessive message size',
      node: 'excessive message size',
      python: 'EXCESSIVE_MESSAGE_SIZE',
      go: 'exceeds maximum of 65536 bytes',
      java: 'exceeds the maximum allowed size',
      chromium: 'net::ERR_SSL_PROTOCOL_ERROR',
      firefox: 'SSL_ERROR_RX_MALFORMED_HANDSHAKE',
    },
    remedy: 'Split the certificate: every client limits the size of a handshake, each differently.',
  },
  ecc384: {
    title: 'Key on the curve P-384',
    cause: 'The certificate has an ECDSA key of 384 bits instead of 256.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Nothing is wrong with it. A client that refuses it supports P-256 only.',
  },
  rsa8192: {
    title: 'RSA key of 8,192 bits',
    cause:
      'The certificate has an RSA key four times as long as usual. In Vivarium, its first use takes up to half a minute.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Use a key of 2,048 or 3,072 bits, or ECDSA: each handshake costs the server 50 times as much.',
  },
  rsa1024: {
    title: 'RSA key of 1,024 bits',
    cause: 'The certificate has an RSA key whose length has been insufficient since 2013.',
    symptoms: {
      ...EVERY_CLIENT_ACCEPTS,
      curl: 'curl: (60) SSL certificate problem: EE certificate key too weak',
      node: 'EE certificate key too weak',
      python: 'certificate verify failed: EE certificate key too weak',
    },
    remedy: 'Issue the certificate with a key of at least 2,048 bits. Do not lower the client’s security level.',
  },
  sha1: {
    title: 'Signature with SHA-1',
    cause: 'The intermediate signed the certificate with SHA-1, as old company authorities still do.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: CA signature digest algorithm too weak',
      node: 'CA signature digest algorithm too weak',
      python: 'certificate verify failed: CA signature digest algorithm too weak',
      go: 'cannot verify signature: insecure algorithm ECDSA-SHA1',
      java: ACCEPTED,
      chromium: 'net::ERR_CERT_INVALID',
      firefox: 'SEC_ERROR_CERT_SIGNATURE_ALGORITHM_DISABLED',
    },
    remedy: 'Issue the certificate with SHA-256. Do not lower the client’s security level.',
  },
  'client-cert-missing': {
    title: 'Client certificate required',
    cause: 'The server requires a client certificate (mutual TLS, over TLS 1.2); Vivarium accepts any.',
    symptoms: {
      curl: 'sslv3 alert handshake failure',
      node: 'ssl/tls alert handshake failure',
      python: 'SSLV3_ALERT_HANDSHAKE_FAILURE',
      go: 'tls: handshake failure',
      java: 'handshake_failure',
      chromium:
        'net::ERR_BAD_SSL_CLIENT_AUTH_CERT or net::ERR_CONNECTION_CLOSED or net::ERR_CONNECTION_RESET or net::ERR_SOCKET_NOT_CONNECTED',
      firefox: 'SSL_ERROR_HANDSHAKE_FAILURE_ALERT',
    },
    remedy: 'Configure a certificate and its key in the client, such as with curl’s --cert and --key.',
  },
  'tls1.2-only': {
    title: 'TLS 1.2 only',
    cause: 'The server does not speak TLS 1.3.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Only clients that require TLS 1.3 fail. Update the server.',
  },
  'tls1.3-only': {
    title: 'TLS 1.3 only',
    cause: 'The server does not speak TLS 1.2, which some programs and devices still need.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Update the client, or enable TLS 1.2 on the server too.',
  },
  'no-alpn': {
    title: 'No protocol negotiation (ALPN)',
    cause: 'The server ignores ALPN, so every client speaks HTTP/1.1; gRPC clients give up.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Enable ALPN and HTTP/2 on the server, or on the load balancer in front of it.',
  },
  'h2-only': {
    title: 'HTTP/2 only',
    cause: 'The server speaks only HTTP/2, as many gRPC servers do.',
    symptoms: {
      ...EVERY_CLIENT_ACCEPTS,
      node: '403',
      python: 'tlsv1 alert no application protocol',
      java: 'Received fatal alert: no_application_protocol',
    },
    remedy: 'Let the client offer h2, or the server also accept http/1.1.',
  },
  'unrecognized-name': {
    title: 'Unrecognized name',
    cause:
      'The server reports that it has no certificate for this hostname: the DNS record was created before the configuration.',
    symptoms: {
      curl: 'curl: (35)',
      node: 'tlsv1 unrecognized name',
      python: 'TLSV1_UNRECOGNIZED_NAME',
      go: 'tls: unrecognized name',
      java: 'Received fatal alert: unrecognized_name',
      chromium: 'net::ERR_SSL_UNRECOGNIZED_NAME_ALERT',
      firefox: 'SSL_ERROR_UNRECOGNIZED_NAME_ALERT',
    },
    remedy: 'Configure the hostname on the server, and have its certificate issued before DNS points there.',
  },
  'handshake-stalls': {
    title: 'Handshake that stalls',
    cause:
      'The connection opens, but the server never answers the handshake: its queue is full, or a firewall interferes.',
    symptoms: {
      curl: 'curl: (35) OpenSSL SSL_connect: SSL_ERROR_SYSCALL',
      node: 'ECONNRESET',
      python: 'EOF occurred in violation of protocol',
      go: 'EOF',
      java: 'Remote host terminated the handshake',
      chromium: 'net::ERR_CONNECTION_CLOSED',
      firefox: 'no answer within a minute',
    },
    remedy: 'Set a timeout for the handshake in the client, separate from that for the whole request.',
  },
  'outside-name-constraints': {
    title: 'Name outside the constraints',
    cause: 'The certificate contains an additional name for which the root may not sign.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: permitted subtree violation',
      node: 'permitted subtree violation',
      python: 'certificate verify failed: permitted subtree violation',
      go: 'is not authorized to sign for this name',
      java: 'name constraints check failed',
      chromium: 'net::ERR_CERT_INVALID',
      firefox: 'SEC_ERROR_CERT_NOT_IN_NAME_SPACE',
    },
    remedy: 'Issue it with permitted names only, or extend the root: vivarium ca extend.',
  },
  'client-auth-only': {
    title: 'Certificate for clients only',
    cause: 'The extended key usage is client authentication: a company’s authority issued it with the wrong profile.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: unsuitable certificate purpose',
      node: 'INVALID_PURPOSE',
      python: 'certificate verify failed: unsuitable certificate purpose',
      go: 'x509: certificate specifies an incompatible key usage',
      java: 'Extended key usage does not permit use for TLS server authentication',
      chromium: 'net::ERR_CERT_INVALID',
      firefox: 'SEC_ERROR_INADEQUATE_CERT_TYPE',
    },
    remedy: 'Issue the certificate for server authentication.',
  },
  'too-long': {
    title: 'Validity of 1,000 days',
    cause: 'The certificate is valid for longer than the 825 days that Apple’s systems accept from any authority.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Issue it for at most 398 days, and renew it automatically. Only Apple’s systems refuse it.',
  },
  'two-labels-deep': {
    title: 'Wildcard one label short',
    cause: 'The wildcard is at another level: *.example.com does not cover a.b.example.com.',
    symptoms: NO_SUCH_NAME,
    remedy: 'Add the hostname itself, or a wildcard at its level. A wildcard matches exactly one label.',
  },
};

/** TLS faults of `main/ca/broken-handshakes.ts`; `broken-tls.clients.test.ts` tests the symptoms. */
export const TLS_ENTRIES: readonly BreakEntry[] = Object.entries(WRITTEN).map(([name, written]) =>
  entryOf('tls', ['hostname'])(name, written),
);
