import type { AcmeFault } from '../model/acme.ts';
import type { EpochMs } from '../base/clock.ts';

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

/** A request that was answered with a problem; most of them leave no order that could show it. */
export interface AcmeRefusal {
  readonly atMs: EpochMs;
  /** The last part of the problem's URN, and its detail. */
  readonly type: string;
  readonly detail: string;
  /** `/acme/classic/new-order`. */
  readonly path: string;
  /** The account, if the signature was verified. */
  readonly accountId?: string;
  readonly orderId?: string;
  readonly names?: readonly string[];
}

const REFUSALS_KEPT = 100;
const DETAIL_LENGTH_MAX = 2_000;
/** Paths are truncated: a client can send many kilobytes. */
const PATH_LENGTH_MAX = 200;
const NAMES_KEPT = 10;

export type Refusals = ReturnType<typeof createRefusals>;

export function createRefusals() {
  let kept: readonly AcmeRefusal[] = [];
  return {
    add({ detail, path, names, ...refusal }: AcmeRefusal): void {
      const short = {
        ...{ ...refusal, detail: detail.slice(0, DETAIL_LENGTH_MAX), path: path.slice(0, PATH_LENGTH_MAX) },
        ...(names !== undefined && { names: names.slice(0, NAMES_KEPT) }),
      };
      kept = [short, ...kept.slice(0, REFUSALS_KEPT - 1)];
    },
    /** Newest first. */
    list: () => kept,
    clear: () => void (kept = []),
  };
}
