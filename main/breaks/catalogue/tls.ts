import type { BreakEntry } from '../../contract/breaks.ts';

/** What a client does that does not mind. */
export const ACCEPTED = 'accepts it';

/** Of a certificate without the hostname. */
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
  curl: ACCEPTED,
  node: ACCEPTED,
  python: ACCEPTED,
  go: ACCEPTED,
  java: ACCEPTED,
  chromium: ACCEPTED,
  firefox: ACCEPTED,
};

type Written = Pick<BreakEntry, 'title' | 'cause' | 'symptoms' | 'remedy'>;

/** What differs between the entries, by name. */
const WRITTEN: Readonly<Record<string, Written>> = {
  expired: {
    title: 'Expired certificate',
    cause: 'The certificate ended ten days ago: a renewal failed, or the server was not reloaded after it.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: certificate has expired',
      node: 'CERT_HAS_EXPIRED',
      python: 'certificate verify failed: certificate has expired',
      go: 'x509: certificate has expired or is not yet valid',
      java: 'validity check failed',
      chromium: 'net::ERR_CERT_DATE_INVALID',
      firefox: 'SEC_ERROR_EXPIRED_CERTIFICATE',
    },
    remedy: 'Renew the certificate, reload the server, and watch the dates that clients see, not those on the disk.',
  },
  'not-yet-valid': {
    title: 'Certificate from the future',
    cause: 'The certificate begins in 30 days: the issuer’s clock is fast, or the client’s is slow.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: certificate is not yet valid',
      node: 'CERT_NOT_YET_VALID',
      python: 'certificate verify failed: certificate is not yet valid',
      go: 'x509: certificate has expired or is not yet valid',
      java: 'validity check failed',
      chromium: 'net::ERR_CERT_DATE_INVALID',
      firefox: 'MOZILLA_PKIX_ERROR_NOT_YET_VALID_CERTIFICATE',
    },
    remedy: 'Compare both clocks with the time, and issue the certificate again.',
  },
  'wrong-host': {
    title: 'Certificate for another hostname',
    cause: 'The server shows the certificate of another hostname: its default, where no entry for this one was made.',
    symptoms: NO_SUCH_NAME,
    remedy: 'Issue a certificate with this hostname among its alternative names, and bind it to this hostname.',
  },
  'self-signed': {
    title: 'Self-signed certificate',
    cause: 'The certificate has signed itself, as those that devices and servers make at installation.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: self-signed certificate',
      node: 'DEPTH_ZERO_SELF_SIGNED_CERT',
      python: 'certificate verify failed: self-signed certificate',
      go: 'x509: certificate signed by unknown authority',
      java: 'unable to find valid certification path to requested target',
      chromium: 'net::ERR_CERT_AUTHORITY_INVALID',
      firefox: 'MOZILLA_PKIX_ERROR_SELF_SIGNED_CERT',
    },
    remedy: 'Use a certificate of an authority that the client trusts. Do not switch verification off.',
  },
  'untrusted-root': {
    title: 'Unknown root',
    cause: 'The chain ends at a root that no client trusts: a company’s proxy, or a root that was not installed.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: self-signed certificate in certificate chain',
      node: 'SELF_SIGNED_CERT_IN_CHAIN',
      python: 'certificate verify failed: self-signed certificate in certificate chain',
      go: 'x509: certificate signed by unknown authority',
      java: 'unable to find valid certification path to requested target',
      chromium: 'net::ERR_CERT_AUTHORITY_INVALID',
      firefox: 'SEC_ERROR_UNKNOWN_ISSUER',
    },
    remedy: 'Add the root to the store that this client reads: many programs have their own.',
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
    remedy: 'Send the whole chain. A browser that opens the page proves nothing: it fetches what is missing.',
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
    cause: 'The certificate is on the list of its issuer, as after the theft of its key.',
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
    remedy: 'Nothing is wrong with the certificate. Correct clients and tools that show or compare the subject.',
  },
  '1000-sans': {
    title: '1,000 alternative names',
    cause: 'The certificate has 1,000 hostnames, as with a content delivery network that shares one.',
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
    remedy: 'Split the certificate: clients limit the size of a handshake, each at another size.',
  },
  ecc384: {
    title: 'Key on the curve P-384',
    cause: 'The certificate has an ECDSA key of 384 bits instead of 256.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Nothing is wrong with it. A client that refuses it supports P-256 only.',
  },
  rsa8192: {
    title: 'RSA key of 8,192 bits',
    cause: 'The certificate has an RSA key four times as long as usual. Here, its first use takes up to half a minute.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Use a key of 2,048 or 3,072 bits, or ECDSA: each handshake costs the server 50 times as much.',
  },
  rsa1024: {
    title: 'RSA key of 1,024 bits',
    cause: 'The certificate has an RSA key of a length that has been too short since 2013.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: EE certificate key too weak',
      node: 'EE certificate key too weak',
      python: 'certificate verify failed: EE certificate key too weak',
      go: ACCEPTED,
      java: ACCEPTED,
      chromium: ACCEPTED,
      firefox: ACCEPTED,
    },
    remedy: 'Issue the certificate for a key of at least 2,048 bits. Do not lower the security level of the client.',
  },
  sha1: {
    title: 'Signature with SHA-1',
    cause: 'The intermediate has signed the certificate with SHA-1, as old authorities of companies still do.',
    symptoms: {
      curl: 'curl: (60) SSL certificate problem: CA signature digest algorithm too weak',
      node: 'CA signature digest algorithm too weak',
      python: 'certificate verify failed: CA signature digest algorithm too weak',
      go: 'cannot verify signature: insecure algorithm ECDSA-SHA1',
      java: ACCEPTED,
      chromium: 'net::ERR_CERT_INVALID',
      firefox: 'SEC_ERROR_CERT_SIGNATURE_ALGORITHM_DISABLED',
    },
    remedy: 'Issue the certificate with SHA-256. Do not lower the security level of the client.',
  },
  'client-cert-missing': {
    title: 'Client certificate demanded',
    cause: 'The server demands a certificate of the client (mutual TLS); any will do here, over TLS 1.2.',
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
    remedy: 'Give the client a certificate and its key, as with curl’s --cert and --key.',
  },
  'tls1.2-only': {
    title: 'TLS 1.2 only',
    cause: 'The server does not speak TLS 1.3.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Nothing breaks but clients that demand TLS 1.3. Update the server.',
  },
  'tls1.3-only': {
    title: 'TLS 1.3 only',
    cause: 'The server does not speak TLS 1.2, which some programs and devices still need.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Update the client, or let the server accept TLS 1.2 too.',
  },
  'no-alpn': {
    title: 'No choice of protocol',
    cause: 'The server ignores ALPN, so that every client speaks HTTP/1.1; gRPC clients give up.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Switch ALPN and HTTP/2 on at the server, or at the load balancer before it.',
  },
  'h2-only': {
    title: 'HTTP/2 only',
    cause: 'The server speaks HTTP/2 and nothing else, as many gRPC servers do.',
    symptoms: {
      curl: ACCEPTED,
      node: '403',
      python: 'tlsv1 alert no application protocol',
      go: ACCEPTED,
      java: 'Received fatal alert: no_application_protocol',
      chromium: ACCEPTED,
      firefox: ACCEPTED,
    },
    remedy: 'Let the client offer h2, or the server http/1.1 too.',
  },
  'unrecognized-name': {
    title: 'Unrecognized name',
    cause: 'The server has no certificate for this hostname and says so: its DNS record came before its configuration.',
    symptoms: {
      curl: 'curl: (35)',
      node: 'tlsv1 unrecognized name',
      python: 'TLSV1_UNRECOGNIZED_NAME',
      go: 'tls: unrecognized name',
      java: 'Received fatal alert: unrecognized_name',
      chromium: 'net::ERR_SSL_UNRECOGNIZED_NAME_ALERT',
      firefox: 'SSL_ERROR_UNRECOGNIZED_NAME_ALERT',
    },
    remedy: 'Attach the hostname at the server, and have its certificate issued before DNS points there.',
  },
  'handshake-stalls': {
    title: 'Handshake that stalls',
    cause: 'The connection opens, and the server never answers the handshake: a full queue, or a firewall in between.',
    symptoms: {
      curl: 'curl: (35) OpenSSL SSL_connect: SSL_ERROR_SYSCALL',
      node: 'ECONNRESET',
      python: 'EOF occurred in violation of protocol',
      go: 'EOF',
      java: 'Remote host terminated the handshake',
      chromium: 'net::ERR_CONNECTION_CLOSED',
      firefox: 'no answer within a minute',
    },
    remedy: 'Give the client a time limit for the handshake, apart from that for the whole request.',
  },
  'outside-name-constraints': {
    title: 'Name outside the constraints',
    cause: 'The certificate has one more name, which the root may not sign for.',
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
    cause: 'The extended key usage is client authentication: the wrong profile of a company’s authority.',
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
    cause: 'The certificate is valid for more than the 825 days that Apple’s systems take of any authority.',
    symptoms: EVERY_CLIENT_ACCEPTS,
    remedy: 'Issue it for at most 398 days, and renew it automatically. It passes everywhere but on Apple’s systems.',
  },
  'two-labels-deep': {
    title: 'Wildcard one label short',
    cause: 'The wildcard is for another depth: *.example.com does not cover a.b.example.com.',
    symptoms: NO_SUCH_NAME,
    remedy: 'Add the hostname itself, or a wildcard at its depth. A wildcard stands for exactly one label.',
  },
};

/** TLS and certificates: what `main/ca/broken-handshakes.ts` makes. `test/integration/ca/broken-clients.test.ts` asks the clients. */
export const TLS_ENTRIES: readonly BreakEntry[] = Object.entries(WRITTEN).map(([name, written]) => ({
  id: `tls.${name}`,
  family: 'tls',
  ...written,
  selectors: ['hostname'],
  parameters: [],
}));
