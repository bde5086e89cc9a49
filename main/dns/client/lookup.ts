import type { DnsClient, DnsResult, ServerAddress } from './client.ts';
import type { EpochMs } from '../../base/clock.ts';
import { parseName, type DomainName } from '../../model/dns-name.ts';
import type { ResponseRecord } from '../wire/message-reader.ts';
import { QUESTION_TYPES, typeCode } from '../wire/record.ts';
import { whyBogus, zonesOf, type Examined, type Trust } from './validator.ts';

export interface Resolver extends ServerAddress {
  /** Vivarium's own. */
  local: boolean;
}

export type LookupReply = (DnsResult | { kind: 'failed'; reason: 'bogus'; detail: string }) & {
  /** The queried server; `name` is its display name. */
  source: { local: boolean; name: string };
};

/** The trust anchors for validating the answers of Vivarium's own server. */
export interface LocalTrust {
  signs: () => boolean;
  anchorOf: Trust['anchorOf'];
  now: () => EpochMs;
}

/** Queries by name and mnemonic to the configured resolver, for verification and CAA. */
export function createLookup(client: Pick<DnsClient, 'ask'>, resolver: () => Resolver, trust?: LocalTrust) {
  /** Why an answer is bogus; null for a valid one. */
  async function validate(server: ServerAddress, examined: Examined, { anchorOf, now }: LocalTrust) {
    const keys = new Map<DomainName, readonly ResponseRecord[]>();
    for (const apex of zonesOf(examined, anchorOf)) {
      const reply = await client.ask(server, { name: apex, type: QUESTION_TYPES.DNSKEY, dnssecOk: true });
      keys.set(apex, reply.kind === 'answered' ? reply.answers : []);
    }
    return whyBogus(examined, { anchorOf, keysOf: (apex) => keys.get(apex) ?? [], nowMs: now() });
  }

  return {
    /**
     * Never rejects. An invalid name or type is a `malformed` failure. An answer of Vivarium's own server is `bogus` if
     * its signatures are wrong; another resolver validates its answers itself, and answers SERVFAIL.
     */
    async query(text: string, mnemonic: string): Promise<LookupReply> {
      const { local, ...server } = resolver();
      const source = { local, name: local ? 'Vivarium’s DNS' : serverText(server) };
      const name = parseName(text);
      const type = typeCode(mnemonic);
      if (!name.ok) return { kind: 'failed', reason: 'malformed', detail: name.message, source };
      if (type === null) {
        return { kind: 'failed', reason: 'malformed', detail: `"${mnemonic}" is not a record type`, source };
      }
      const question = { name: name.name, type };
      if (!local || trust?.signs() !== true) return { ...(await client.ask(server, question)), source };
      const result = await client.ask(server, { ...question, dnssecOk: true });
      const detail = result.kind === 'failed' ? null : await validate(server, { ...question, ...result }, trust);
      return detail === null ? { ...result, source } : { kind: 'failed', reason: 'bogus', detail, source };
    },
  };
}

/** `192.0.2.53:53`, `[2001:db8::53]:53`. */
export const serverText = ({ address, port }: ServerAddress): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
