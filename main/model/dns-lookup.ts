/** What verification asks for; the resolver behind it is the one that the setting names. */
export type QuestionType = 'A' | 'AAAA' | 'CNAME' | 'CAA';

/**
 * How DNS questions are asked: over the wire, of one resolver, with its own time-outs. The composition root passes it
 * in. It never rejects for what happens on the network; that is a reply of the kind `failed`.
 */
export interface DnsLookup {
  query(name: string, type: QuestionType): Promise<DnsReply>;
}

export type DnsReply =
  | {
      kind: 'answered';
      /** As a mnemonic: `NOERROR`, `NXDOMAIN`, `SERVFAIL`. */
      rcode: string;
      answers: readonly DnsRecord[];
      /** What stands beside them: the SOA of "there is none", or the NS of a referral. */
      authority: readonly DnsRecord[];
      source: DnsSource;
      /** What the server says about an error (RFC 8914). */
      detail?: string;
    }
  | { kind: 'failed'; reason: 'timeout' | 'unreachable' | 'malformed'; source: DnsSource; detail?: string };

/** Who was asked. Vivarium's own server refuses exactly the names that are in no zone here. */
export interface DnsSource {
  local: boolean;
  /** For people: `Vivarium’s DNS`, `192.0.2.53:53`. */
  name: string;
}

/** A record as `main/dns` has it: `address` with A and AAAA, `target` with CNAME and NS, the last three with CAA. */
export interface DnsRecord {
  readonly name: string;
  readonly data: {
    readonly type: string;
    readonly address?: string;
    readonly target?: string;
    readonly flags?: number;
    readonly tag?: string;
    readonly value?: string;
  };
}

/**
 * Why nobody knows what is at a name. `rcode`: an error code other than the two with a word of their own; `referral`:
 * the resolver only tells who else would know.
 */
export type LookupFailure =
  | 'servfail'
  | 'refused'
  | 'referral'
  | 'rcode'
  | 'timeout'
  | 'unreachable'
  | 'malformed'
  | 'chain_loop'
  | 'chain_too_long';
