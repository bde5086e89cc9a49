import type { DomainName } from '../../model/dns-name.ts';
import type { RRset } from '../wire/record.ts';

/** Response codes used here (RFC 1035 §4.1.1, RFC 2136 §2.2, RFC 6891 §9). */
export const RCODES = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  BADVERS: 16,
} as const;
export type Rcode = keyof typeof RCODES;

export interface Question {
  name: DomainName;
  /** The wire code; `typeCode('CAA')` returns it. */
  type: number;
  class: number;
}

/** The reason in text: an Extended DNS Error (RFC 8914), which `dig` shows. */
export interface ErrorDetail {
  code: number;
  /** ASCII, at most 200 characters. */
  text: string;
}

/** RFC 8914 §4.1, §4.21, §4.22. */
export const DETAIL_CODES = { other: 0, notAuthoritative: 20, notSupported: 21 } as const;

export interface DnsAnswer {
  rcode: Rcode;
  /** The AA bit: the question's name is in one of Vivarium's zones. */
  authoritative: boolean;
  answer: readonly RRset[];
  authority: readonly RRset[];
  additional: readonly RRset[];
  /** The additional section contains a referral's glue, which the client needs (RFC 9471). */
  additionalRequired: boolean;
  detail?: ErrorDetail;
}

export const emptyAnswer = (rcode: Rcode, authoritative: boolean, detail?: ErrorDetail): DnsAnswer => ({
  rcode,
  authoritative,
  answer: [],
  authority: [],
  additional: [],
  additionalRequired: false,
  detail,
});
