import { BlockList, isIP, isIPv6 } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import { DEFAULT_PORT, parseAuthority, type Scheme } from '../base/text/hostname.ts';
import { canonicalAddress } from '../model/address.ts';
import { isHopByHop, namedByConnection } from '../base/http/message.ts';

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

/** How often a request may pass through the same Vivarium: enough for chains of projects, and an end to loops. */
export const HOPS_MAX = 5;

/** The connection to Vivarium, as reported to the upstream. */
export interface ForwardedFrom {
  /** The address of the client or proxy. */
  address: string;
  scheme: Scheme;
  /** Host and port as the client wrote them. */
  authority: string;
  /** The listener's port. */
  port: number;
  /** The client of the trusted proxy at `address`; null if the connection is the client's own. */
  client: Client | null;
}

/**
 * Counts `pseudonym` among the recipients in `Via` (RFC 9110 §7.6.3): how often the request has passed through here.
 */
export function countHops(via: string | string[] | undefined, pseudonym: string): number {
  if (via === undefined) return 0;
  const text = Array.isArray(via) ? via.join(',') : via;
  return text.split(',').filter((entry) => entry.trim().split(/\s+/)[1] === pseudonym).length;
}

/**
 * The header section for the upstream: the client's end-to-end fields, plus `Forwarded` (RFC 7239), `X-Forwarded-*` and
 * `Via`. Values that the client sent in these fields are kept in front of ours, because all clients run on this
 * machine. `version` is the request's HTTP version, as in `1.1`; `host` is the `Host` to send. The caller adds the
 * framing fields.
 */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  from: ForwardedFrom,
  version: string,
  { host, pseudonym }: { host: string; pseudonym: string },
): Record<string, string | string[]> {
  const named = namedByConnection(headers.connection);
  const kept: Record<string, string | string[]> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value === undefined || isConnectionField(name) || isHopByHop(name, named)) continue;
    kept[name] = value;
  }
  // `TE: trailers` is hop-by-hop, but we do forward trailers.
  if (/\btrailers\b/i.test(String(headers.te ?? ''))) kept['te'] = 'trailers';
  // RFC 9110 §7.6.2.
  const forwardsLeft = String(headers['max-forwards']);
  if (/^0*[1-9]\d*$/.test(forwardsLeft)) kept['max-forwards'] = String(Number(forwardsLeft) - 1);
  kept['host'] = host;
  kept['via'] = appended(headers.via, `${version} ${pseudonym}`);
  // The proxy reports its client in `X-Forwarded-*` only: an upstream may read `Forwarded` first (RFC 7239 §7.4).
  const before = headers.forwarded ?? (from.client === null ? undefined : forwardedElement(from.client));
  kept['forwarded'] = appended(before, forwardedElement(from));
  kept['x-forwarded-for'] = appended(headers['x-forwarded-for'], from.address);
  const { authority, scheme, port } = from.client ?? from;
  kept['x-forwarded-host'] = authority;
  kept['x-forwarded-proto'] = scheme;
  kept['x-forwarded-port'] = String(port);
  return kept;
}

/**
 * The `Origin` of a WebSocket handshake whose `Host` is rewritten: that of a page of the same host becomes the
 * upstream's own, which a dev server compares with its own address; any other stays.
 */
export function handshakeOrigin(
  origin: string | undefined,
  { scheme, authority }: Pick<ForwardedFrom, 'scheme' | 'authority'>,
  upstream: string,
): string | undefined {
  const own = URL.parse(`${scheme}://${authority}`)?.host;
  const isOwn = origin !== undefined && own !== undefined && URL.parse(origin)?.host === own;
  return isOwn ? new URL(upstream).origin : origin;
}

/**
 * Fields for the connection between client and proxy: HTTP/2 pseudo-header fields, the body's length, and Expect, whose
 * only value (100-continue) makes no sense without a body.
 */
const isConnectionField = (name: string): boolean =>
  name === 'content-length' || name === 'expect' || name.charCodeAt(0) === COLON;

const COLON = 0x3a;

function appended(before: string | string[] | undefined, entry: string): string {
  const text = Array.isArray(before) ? before.join(', ') : (before ?? '');
  return text === '' ? entry : `${text}, ${entry}`;
}

/** `for=127.0.0.1;host="app.acme.test:8443";proto=https`; IPv6 addresses are bracketed and quoted (RFC 7239 §6). */
function forwardedElement({ address, authority, scheme }: Client): string {
  const node = address.includes(':') ? `"[${address}]"` : address;
  return `for=${node};host="${authority}";proto=${scheme}`;
}
