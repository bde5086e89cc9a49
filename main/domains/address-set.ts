import { canonicalAddress } from '../model/address.ts';
import type { AddressPair } from './observe.ts';
import type { Resolution } from './resolution.ts';

/** The addresses at the end of a resolution, in canonical form, sorted, each once. */
export function addressesIn({ end }: Resolution): string[] {
  if (end.kind !== 'records') return [];
  const found = end.records.flatMap(({ data }) => (data.address === undefined ? [] : [canonicalAddress(data.address)]));
  return [...new Set(found)].sort();
}

/** IPv4 first, then IPv6. */
export const allAddresses = ({ a, aaaa }: AddressPair): string[] => [...addressesIn(a), ...addressesIn(aaaa)];

/** Whether the records are the name's own, not those of a name that its CNAME leads to. */
export const isDirect = ({ chain, end }: Resolution): boolean => chain.length === 0 && end.kind === 'records';

/** The name's own addresses. */
export const directAddresses = ({ a, aaaa }: AddressPair): string[] => [a, aaaa].filter(isDirect).flatMap(addressesIn);

/** `A 192.0.2.1, AAAA 2001:db8::1`. */
export const addressText = (addresses: readonly string[]): string =>
  addresses.map((address) => `${address.includes(':') ? 'AAAA' : 'A'} ${address}`).join(', ');
