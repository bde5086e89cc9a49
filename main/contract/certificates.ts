import { z } from 'zod';
import { call } from './base.ts';
import { certificateState, hostnameInput } from './domains.ts';
import { about, timestamp, caName, validationMethod } from './values.ts';

/** Why a certificate is revoked (RFC 5280 §5.3.1). */
export const revocationReason = z.enum([
  'unspecified',
  'keyCompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'privilegeWithdrawn',
]);
export type RevocationReason = z.infer<typeof revocationReason>;

export const certificate = z.object({
  hostname: z.string(),
  serial: z.string(),
  sans: z.array(z.string()),
  /** On the app's clock. The wire dates are the ones in the served certificate, always valid in real time. */
  notBefore: timestamp,
  notAfter: timestamp,
  wireNotBefore: timestamp,
  wireNotAfter: timestamp,
  fingerprint: z.string(),
  pem: z.string(),
  /** PEM texts of the certificates between leaf and root: the intermediate, or none where the root signed the leaf. */
  chain: z.array(z.string()),
  state: certificateState,
  /** It is on the revocation list, and served until it is renewed. */
  revoked: z.object({ at: timestamp, reason: revocationReason }).optional(),
});
export type Certificate = z.infer<typeof certificate>;

export const storeTrust = z.object({
  /**
   * `system`, `nss:user`, `nss:snap-chromium`, `nss:firefox:<profile>`; `ca.trustStatus` lists this machine's stores.
   */
  store: z.string(),
  title: z.string(),
  state: z.enum(['trusted', 'untrusted', 'other_root', 'unavailable']),
  /**
   * Of a store that has the root: whether a client that trusts this store only has verified a certificate. Absent when
   * none was tried, for lack of such a client.
   */
  handshake: z.enum(['verified', 'refused']).optional(),
  /** What the store needs before it can be changed, and the command to paste when it asks for a password. */
  needs: z.string().optional(),
  command: z.string().optional(),
  message: z.string(),
  /** The store contains the root or an older certificate of it, trusted or not. */
  present: z.literal(true).optional(),
  /** The store trusts the root and also an older certificate of it, which `ca.trust` removes. */
  superseded: z.literal(true).optional(),
  /** Suffixes that the root no longer permits, and an older certificate of it in the store does. */
  wider: z.array(z.string()).optional(),
  /** Roots of other Vivariums in the store; `ca.untrust` removes one by its fingerprint. */
  otherRoots: z.array(z.object({ name: z.string(), fingerprint: z.string() })).optional(),
});
export type StoreTrust = z.infer<typeof storeTrust>;

const rootInfo = z.object({
  subject: z.string(),
  fingerprint: z.string(),
  pem: z.string(),
  permittedSuffixes: z.array(z.string()),
  /** Whether it may sign for TLS servers only; `ca.renew` restricts an older root in this way. */
  serversOnly: z.boolean(),
  notBefore: timestamp,
  notAfter: timestamp,
  /** What signs leaves; null for a root made before intermediates, which signs them itself until `ca.renew`. */
  intermediate: z
    .object({
      subject: z.string(),
      serial: z.string(),
      fingerprint: z.string(),
      pem: z.string(),
      notBefore: timestamp,
      notAfter: timestamp,
    })
    .nullable(),
  /** Where the root's private key is kept (setting `caKey`), and whether the system's keyring is available. */
  key: z.object({ storage: z.enum(['file', 'keyring']), sealable: z.boolean(), message: z.string() }),
});

const format = z.enum(['pem', 'der']).default('pem');

/** Certificates as a file, with a suggested name: PEM is text (RFC 7468); DER is octets of one, here in base64. */
const certificateFile = z.discriminatedUnion('format', [
  z.object({ format: z.literal('pem'), fileName: z.string(), text: z.string() }),
  z.object({ format: z.literal('der'), fileName: z.string(), base64: z.string() }),
]);
export type CertificateFile = z.infer<typeof certificateFile>;

const one = { hostname: hostnameInput };
const inStore = { store: about(z.string().min(1).max(500), 'system, nss:user, or another that ca trust-status lists') };

export const certificates = {
  list: call('The certificates of custom domains', z.array(certificate)),
  get: call('One certificate', certificate, one),
  export: call(
    'A certificate as a file: with its chain in PEM, alone in DER; without its private key',
    certificateFile,
    { ...one, format },
  ),
  renew: call('Issue a new certificate; CAA is checked again', certificate, one),
  revoke: call('Put a certificate on the revocation list; it is served until it is renewed', certificate, {
    ...one,
    reason: revocationReason.default('unspecified'),
  }),
};

export const ca = {
  get: call('The root', rootInfo),
  export: call('The root as a file, in PEM or DER, for import elsewhere', certificateFile, { format }),
  /** `message` explains the effect on clients that trust the root. */
  extend: call(
    'Extend the root by a suffix; its new certificate has to be trusted again',
    rootInfo.extend({ message: z.string() }),
    {
      suffix: hostnameInput,
      confirm: about(z.boolean(), 'also to a name of the public DNS, which may belong to others').default(false),
    },
  ),
  /** `left`: the stores that still have the certificate with the suffix, and what each needs. */
  retract: call(
    'Take a suffix back, and replace the root in the trust stores that have it',
    rootInfo.extend({ message: z.string(), left: z.array(storeTrust) }),
    { suffix: hostnameInput },
  ),
  renew: call(
    'Give the root a new certificate: ten years, for TLS servers only, with an intermediate; to be trusted again',
    rootInfo.extend({ message: z.string() }),
  ),
  trustStatus: call('Which trust stores of this machine have the root', z.array(storeTrust)),
  trust: call('Add the root to a trust store', storeTrust, inStore),
  untrust: call('Remove the root and its older certificates from a trust store', storeTrust, {
    ...inStore,
    /** Fingerprint of another Vivarium's root, or one from a deleted data folder, to remove instead. */
    fingerprint: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({
        examples: ['D5:DB:5B:F2:19:72:73:83:5D:80:A4:F6:FA:80:54:93:D2:F5:85:B8:D9:53:57:77:50:AB:E1:27:A4:46:1A:70'],
      }),
  }),
};

export const caaStep = z.object({
  /** The queried name. */
  name: z.string(),
  /** The CAA records found there, in zone-file notation; the owner is the end of the alias chain, if there is one. */
  records: z.array(z.string()),
  decision: z.enum(['climb', 'allow', 'forbid', 'error']),
  reason: z.string(),
});
export type CaaStep = z.infer<typeof caaStep>;

/** A CAA record to add or remove; `value` has the form that `records.put` takes: `0 issue "ca.example"`. */
const caaEdit = z.object({ action: z.enum(['add', 'remove']), name: z.string(), value: z.string() });

export const caaVerdict = z.object({
  verdict: z.enum(['allowed', 'forbidden', 'lookup_failed']),
  /** Where the relevant record set was found; absent when no name up to the root has one. */
  foundAt: z.string().optional(),
  /** The verdict and its reason, in sentences. */
  message: z.string(),
  /** The smallest change to the DNS that reverses the verdict. */
  change: z.string(),
  /** The same fix as record edits, in order; empty when the name servers need repair first. */
  edits: z.array(caaEdit),
  /** The records that decide the verdict, in zone-file notation. */
  decisive: z.array(z.string()),
  trace: z.array(caaStep),
  warnings: z.array(z.string()),
});
export type CaaVerdict = z.infer<typeof caaVerdict>;

export const caa = {
  explain: call('Explain which CAs may issue for a name, from its CAA records', caaVerdict, {
    hostname: hostnameInput,
    issuer: caName.optional(),
    wildcard: about(z.boolean(), 'ask for a wildcard certificate of the name').default(false),
    method: validationMethod.default('http-01'),
    accountUri: z.string().max(1000).optional(),
  }),
};
