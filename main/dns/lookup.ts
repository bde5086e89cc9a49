import type { DnsClient, DnsResult } from './client.ts';
import type { ServerAddress } from './client-transport.ts';
import { parseName } from '../model/dns-name.ts';
import { typeCode } from './record.ts';

/** The server that receives the queries. */
export interface Resolver extends ServerAddress {
  /** Vivarium's own. */
  local: boolean;
}

/** The queried server; `name` is its display name. */
export interface LookupSource {
  local: boolean;
  name: string;
}

export type LookupReply = DnsResult & { source: LookupSource };

/** Queries by name and mnemonic to the configured resolver, for verification and CAA. */
export interface Lookup {
  /** Never rejects. An invalid name or type is a `malformed` failure. */
  query(name: string, type: string): Promise<LookupReply>;
}

export function createLookup(client: DnsClient, resolver: () => Resolver): Lookup {
  return {
    async query(text, mnemonic) {
      const { local, ...server } = resolver();
      const source = { local, name: local ? 'Vivarium’s DNS' : serverText(server) };
      const name = parseName(text);
      const type = typeCode(mnemonic);
      if (!name.ok) return { kind: 'failed', reason: 'malformed', detail: name.message, source };
      if (type === null) {
        return { kind: 'failed', reason: 'malformed', detail: `"${mnemonic}" is not a record type`, source };
      }
      return { ...(await client.ask(server, { name: name.name, type })), source };
    },
  };
}

/** `192.0.2.53:53`, `[2001:db8::53]:53`. */
export const serverText = ({ address, port }: ServerAddress): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
