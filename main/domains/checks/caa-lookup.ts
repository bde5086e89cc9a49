import type { CaaRecord } from '../../model/caa/value.ts';
import type { CaaLookup } from '../../model/caa/walk.ts';
import type { DnsLookup, DnsRecord } from '../../model/dns-lookup.ts';
import { type Delegation, delegationText, resolve, type Resolution } from './resolution.ts';

/** The lookup for `explainCaa` over real DNS queries. */
export function caaLookupOver(dns: DnsLookup): (name: string) => Promise<CaaLookup> {
  return async (name) => toCaaLookup(await resolve(dns, name, 'CAA'));
}

function toCaaLookup({ name, chain, end }: Resolution): CaaLookup {
  switch (end.kind) {
    case 'records':
      return { kind: 'records', records: end.records.map(caaOf), aliasChain: chain };
    case 'outside':
      return { kind: 'empty', aliasChain: chain, note: outsideNote(chain.at(-1) ?? name) };
    case 'delegated':
      return { kind: 'empty', aliasChain: chain, note: delegatedNote(chain.at(-1) ?? name, end) };
    case 'nodata':
    case 'nxdomain':
    case 'reached':
      return { kind: 'empty', aliasChain: chain };
    case 'loop':
      return { kind: 'error', reason: 'chain_loop', aliasChain: chain, detail: chain.join(', ') };
    case 'too_long':
      return { kind: 'error', reason: 'chain_too_long', aliasChain: chain };
    case 'failed':
      return { kind: 'error', reason: end.reason, aliasChain: chain, detail: end.detail };
  }
}

const outsideNote = (name: string): string =>
  `${name} is outside Vivarium’s DNS, which counts as having no CAA records`;

const delegatedNote = (name: string, delegation: Delegation): string =>
  `${name} is ${delegationText(name, delegation)}, which counts as having no CAA records`;

const caaOf = ({ data }: DnsRecord): CaaRecord => ({
  flags: data.flags ?? 0,
  tag: data.tag ?? '',
  value: data.value ?? '',
});
