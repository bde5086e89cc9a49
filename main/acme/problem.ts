import type { AcmeFault } from '../model/acme.ts';

/** The types of RFC 8555 §6.7, RFC 9773 §5 and the profiles' draft, with their status. */
const STATUS = {
  accountDoesNotExist: 400,
  alreadyReplaced: 409,
  alreadyRevoked: 400,
  badCSR: 400,
  badNonce: 400,
  badPublicKey: 400,
  badRevocationReason: 400,
  badSignatureAlgorithm: 400,
  caa: 403,
  connection: 400,
  dns: 400,
  externalAccountRequired: 403,
  invalidContact: 400,
  invalidProfile: 400,
  malformed: 400,
  orderNotReady: 403,
  rateLimited: 429,
  rejectedIdentifier: 400,
  serverInternal: 500,
  tls: 400,
  unauthorized: 403,
  unsupportedContact: 400,
  unsupportedIdentifier: 400,
  userActionRequired: 403,
} as const;

export type ProblemType = keyof typeof STATUS;

/** A request refused with a problem document. */
export class AcmeError extends Error implements AcmeFault {
  readonly type: ProblemType;
  readonly status: number;
  /** Members other than type, detail and status. */
  readonly members: Readonly<Record<string, unknown>>;
  /** Response headers: name, value, … */
  readonly headers: readonly string[];

  constructor(
    type: ProblemType,
    detail: string,
    {
      status = STATUS[type],
      members = {},
      headers = [],
    }: { status?: number; members?: Record<string, unknown>; headers?: readonly string[] } = {},
  ) {
    super(detail);
    this.type = type;
    this.status = status;
    this.members = members;
    this.headers = headers;
  }

  get detail(): string {
    return this.message;
  }
}

export const malformed = (detail: string): AcmeError => new AcmeError('malformed', detail);

/** A problem as it is stored. */
export const faultOf = ({ type, detail, status }: AcmeFault): AcmeFault => ({ type, detail, status });

/** A problem as it is sent: an RFC 7807 document. */
export const problemDocument = ({ type, detail, status }: AcmeFault): Record<string, unknown> => ({
  type: `urn:ietf:params:acme:error:${type}`,
  detail,
  status,
});
