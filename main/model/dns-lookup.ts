import { orElse } from '../contract/errors.ts';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { epochMs } from '../contract/values.ts';
import { zoneBreak } from '../contract/zones.ts';

/** The record types that verification queries, with the configured resolver. */
export type QuestionType = 'A' | 'AAAA' | 'CNAME' | 'CAA' | 'MX' | 'SOA' | 'TXT';

/**
 * Sends DNS queries to one resolver, with its own time-outs. The composition root provides it. Network errors do not
 * reject; they yield a reply of the kind `failed`.
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
      /** The authority section: the SOA of a negative answer, or the NS of a referral. */
      authority: readonly DnsRecord[];
      source: DnsSource;
      /** The server's explanation of an error (RFC 8914). */
      detail?: string;
    }
  | { kind: 'failed'; reason: 'timeout' | 'unreachable' | 'malformed' | 'bogus'; source: DnsSource; detail?: string };

/** The first words of the explanation sent with an answer that a break has changed; the break's entry follows. */
export const BROKEN_ON_PURPOSE = 'Broken on purpose';

/** Whether a break has changed an answer. The text may follow the code of the Extended DNS Error. */
export const isBroken = (detail: string | undefined): boolean => detail?.includes(BROKEN_ON_PURPOSE) === true;

/** The queried resolver. Vivarium's own server refuses exactly the names outside its zones. */
export interface DnsSource {
  local: boolean;
  /** Display name: `Vivarium’s DNS`, `192.0.2.53:53`. */
  name: string;
}

/**
 * A record, as in `main/dns`: `address` for A and AAAA, `target` for CNAME and NS, `strings` for TXT, the rest for CAA.
 */
export interface DnsRecord {
  readonly name: string;
  readonly ttlSeconds?: number;
  readonly data: {
    readonly type: string;
    readonly address?: string;
    readonly target?: string;
    readonly strings?: readonly string[];
    readonly flags?: number;
    readonly tag?: string;
    readonly value?: string;
  };
}

/**
 * Why a lookup gave no result. `bogus`: the signatures of the answer are wrong (DNSSEC); `rcode`: an error code without
 * its own kind; `referral`: the resolver only named other servers.
 */
export type LookupFailure =
  | 'servfail'
  | 'refused'
  | 'referral'
  | 'rcode'
  | 'timeout'
  | 'unreachable'
  | 'malformed'
  | 'bogus'
  | 'chain_loop'
  | 'chain_too_long';

/** Fixes for failures caused by the resolver rather than the zone. */
export const RESOLVER_FIXES: Partial<Record<LookupFailure, string>> = {
  refused: 'Choose a resolver in the settings that answers recursive questions',
  referral: 'Choose a resolver in the settings that answers recursive questions',
  timeout: 'Check that the resolver in the settings is running and reachable',
  unreachable: 'Check that the resolver in the settings is correct and reachable',
  malformed: 'Choose another resolver in the settings',
};

/** An ECDSA P-256 key as stored: its private and public numbers (RFC 7518 §6.2), in base64url. */
const storedKey = z.object({ d: z.string(), x: z.string(), y: z.string() });
export type StoredKey = z.infer<typeof storedKey>;

/** @throws Error for numbers that are not those of a key */
export const privateKeyOf = ({ d, x, y }: StoredKey): KeyObject =>
  createPrivateKey({ key: { kty: 'EC', crv: 'P-256', d, x, y }, format: 'jwk' });

const isKey = (stored: StoredKey): boolean => orElse(() => privateKeyOf(stored).type === 'private', false);

const KEY = 'must be a P-256 key';

/** How a zone's answers are signed (DNSSEC). */
export const zoneSigning = z.object({
  /** Keys are kept while signing is off, so trust anchors remain valid when it is turned on again. */
  on: z.boolean(),
  /** `retiresAtMs`: when a roll to the next key ends. */
  keys: z.array(storedKey.extend({ retiresAtMs: epochMs.nullable() }).refine(isKey, KEY)).readonly(),
  /** How the signatures are broken; null if they are not. */
  broken: zoneBreak.nullable(),
  /** The key of the break `wrong-key`. */
  stranger: storedKey.refine(isKey, KEY).nullable(),
});
export type ZoneSigning = z.infer<typeof zoneSigning>;
