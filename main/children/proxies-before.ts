import { BlockList, isIP } from 'node:net';
import { isWithin, type Scheme } from '../base/text/hostname.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A place that a program connects to. `host`: without brackets. */
export interface Place {
  scheme: Scheme;
  host: string;
  port: number;
}

/** A variable that programs read in both cases; most of them prefer lower case. */
export const variableOf = (env: Environment, name: string): string =>
  env[name.toLowerCase()] || env[name.toUpperCase()] || '';

/** The proxy that the environment names for a place, as programs read it; null if it is reached directly. */
export function proxyBefore(env: Environment, { scheme, host, port }: Place): URL | null {
  if (isExcluded(variableOf(env, 'NO_PROXY'), host, port)) return null;
  const text = variableOf(env, `${scheme}_proxy`) || variableOf(env, 'ALL_PROXY');
  if (text === '') return null;
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (URL.canParse(url)) return new URL(url);
  throw new Error('the proxy in the environment is not a URL');
}

/**
 * Whether a list such as `NO_PROXY` covers a place: `*`, domains with all names below, addresses and their ranges. Dots
 * around a domain do not count, because some clients skip them.
 */
export const isExcluded = (list: string, host: string, port: number): boolean =>
  list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => entry === '*' || coversAddress(entry, host) || coversName(entry, host, port));

function coversName(entry: string, host: string, port: number): boolean {
  const [, domain = '', only] = /^\*?\.*([^:]*?)\.*(?::(\d+))?$/.exec(entry) ?? [];
  return domain !== '' && isWithin(host, domain) && (only === undefined || Number(only) === port);
}

function coversAddress(entry: string, host: string): boolean {
  const [address = '', bits] = entry.replace(/[[\]]/g, '').split('/');
  const [family, hostFamily] = [address, host].map((each) => (isIP(each) === 6 ? 'ipv6' : 'ipv4')) as FamilyPair;
  if (isIP(address) === 0 || isIP(host) === 0) return false;
  const length = Number(bits ?? BITS[family]);
  if (!(length >= 0 && length <= BITS[family])) return false;
  const range = new BlockList();
  range.addSubnet(address, length, family);
  return range.check(host, hostFamily);
}

const BITS = { ipv4: 32, ipv6: 128 } as const;
type FamilyPair = [keyof typeof BITS, keyof typeof BITS];
