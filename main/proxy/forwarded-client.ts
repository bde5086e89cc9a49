import { BlockList, isIP, isIPv6 } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import { DEFAULT_PORT, parseAuthority, type Scheme } from '../base/text/hostname.ts';
import { canonicalAddress } from '../model/address.ts';

/** A client, as reported by the trusted proxies in front of Vivarium. */
export interface Client {
  address: string;
  /** The scheme between the client and the first trusted proxy. */
  scheme: Scheme;
  /** Host and port as the client wrote them. */
  authority: string;
  /** The port that the client is connected to. */
  port: number;
}

/** Whether a connection's address is that of a trusted proxy. */
export type Trust = (address: string) => boolean;

/** Trusts the addresses and CIDR blocks that `entries` returns; a list is read once, so it must not be modified. */
export function createTrust(entries: () => readonly string[]): Trust {
  let known: readonly string[] = [];
  let blocks: BlockList | null = null;
  return (address) => {
    const current = entries();
    if (current !== known) {
      known = current;
      blocks = current.length === 0 ? null : blocksOf(current);
    }
    return blocks !== null && blocks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  };
}

function blocksOf(entries: readonly string[]): BlockList {
  const blocks = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) blocks.addAddress(address, family);
    else blocks.addSubnet(address, Number(prefix), family);
  }
  return blocks;
}

/**
 * The client that a request of a trusted proxy comes from: the last address in `X-Forwarded-For` that is not a trusted
 * proxy's, with the corresponding `X-Forwarded-Proto`, `-Host` and `-Port`. Without `X-Forwarded-For`, `Forwarded`
 * (RFC 7239) is read in the same way: proxies that write the former forward the latter unchanged from clients. Null if
 * neither has an address. `direct` is the proxy's own connection, whose values apply where the fields have none.
 */
export function forwardedClient(headers: IncomingHttpHeaders, direct: Client, trusts: Trust): Client | null {
  const hops = headers['x-forwarded-for'] === undefined ? readForwarded(headers.forwarded) : readForwardedFor(headers);
  let client: Hop | null = null;
  for (const hop of hops.reverse()) {
    const address = addressOf(hop.for);
    // The report of an unknown node cannot be trusted.
    if (address === null) break;
    client = { ...hop, for: address };
    if (!trusts(address)) break;
  }
  if (client === null) return null;
  const scheme = client.proto === 'http' || client.proto === 'https' ? client.proto : direct.scheme;
  const named = parseAuthority(client.host);
  const port = Number(client.port);
  return {
    address: client.for,
    scheme,
    authority: named === null ? direct.authority : client.host,
    port:
      client.port !== '' && port > 0 && port <= 65_535
        ? port
        : (named?.port ?? (scheme === direct.scheme && named === null ? direct.port : DEFAULT_PORT[scheme])),
  };
}

/** One proxy's report of its client. */
type Hop = Record<'for' | 'proto' | 'host' | 'port', string>;

/** The lists have one entry per proxy, or one for all of them. */
function readForwardedFor(headers: IncomingHttpHeaders): Hop[] {
  const list = (name: string): string[] =>
    String(headers[name] ?? '')
      .split(',')
      .map((entry) => entry.trim());
  const addresses = list('x-forwarded-for');
  const [protos, hosts, ports] = [list('x-forwarded-proto'), list('x-forwarded-host'), list('x-forwarded-port')];
  return addresses.map((address, index) => {
    const fromEnd = addresses.length - index;
    const at = (values: string[]): string => values[Math.max(0, values.length - fromEnd)] ?? '';
    return { for: address, proto: at(protos).toLowerCase(), host: at(hosts), port: at(ports) };
  });
}

/** A pair of RFC 7239 §4, a separator, or any other character. A quoted string without an end is accepted too. */
const FORWARDED_PART = /([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"?|([^\s",;]*))|[,;]|[^\s]/g;

function readForwarded(field: string | undefined): Hop[] {
  const hops: Hop[] = [];
  let hop: Hop = { for: '', proto: '', host: '', port: '' };
  for (const [part, name, quoted, token] of (field ?? '').matchAll(FORWARDED_PART)) {
    if (part === ',') {
      hops.push(hop);
      hop = { for: '', proto: '', host: '', port: '' };
    } else if (name !== undefined) {
      const value = quoted?.replace(/\\(.)/g, '$1') ?? token ?? '';
      const key = name.toLowerCase();
      if (key === 'proto') hop.proto = value.toLowerCase();
      else if (key === 'for' || key === 'host') hop[key] = value;
    }
  }
  hops.push(hop);
  return hops;
}

/** An address with or without a port, IPv6 in brackets or bare; null for obfuscated and unknown nodes. */
function addressOf(node: string): string | null {
  const [, inBrackets, v4] = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(node) ?? [];
  const address = inBrackets ?? v4 ?? node;
  return isIP(address) === 0 ? null : canonicalAddress(address);
}
