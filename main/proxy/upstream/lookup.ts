import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isWithin } from '../../base/hostname.ts';

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves `localhost` and names below it to this machine (RFC 6761 §6.3), at both addresses, even if the system's
 * resolver knows only one or none. For `localhost` itself, the system's order of addresses applies.
 */
export function lookup(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (!isWithin(name, 'localhost')) {
    systemLookup(hostname, options, callback);
    return;
  }
  if (options.all !== true) {
    process.nextTick(callback, null, '127.0.0.1', 4);
    return;
  }
  if (name !== 'localhost') {
    process.nextTick(callback, null, [...LOOPBACK]);
    return;
  }
  systemLookup(hostname, { ...options, all: true }, (_error, found: LookupAddress[] | undefined) => {
    const first = found ?? [];
    const known = new Set(first.map(({ address }) => address));
    callback(null, [...first, ...LOOPBACK.filter(({ address }) => !known.has(address))]);
  });
}
