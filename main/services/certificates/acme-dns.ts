import type { Answered } from '../../acme/outcome.ts';
import { isWithin } from '../../base/text/hostname.ts';
import { apexOf } from '../../domains/public-suffix.ts';
import { resolve } from '../../domains/checks/resolution.ts';
import type { DnsLookup } from '../../model/dns-lookup.ts';

/** The DNS queries of validations, through one resolver. */
export function createAcmeDns(lookup: DnsLookup) {
  async function records(name: string, type: 'A' | 'AAAA' | 'TXT'): Promise<Answered> {
    const { end } = await resolve(lookup, name, type);
    switch (end.kind) {
      case 'records':
        return {
          ok: true,
          values: end.records.map(({ data }) => data.address ?? (data.strings ?? []).join('')),
          ttlSeconds: Math.min(...end.records.map(({ ttlSeconds = 0 }) => ttlSeconds)),
        };
      case 'outside':
        return { ok: false, detail: `${name} is in no local zone. Create one: vivarium zones create ${apexOf(name)}` };
      case 'failed':
        return {
          ok: false,
          detail: `The question for ${type} of ${name} failed: ${end.reason}${end.detail === undefined ? '' : `, ${end.detail}`}.`,
        };
      case 'loop':
      case 'too_long':
        return {
          ok: false,
          detail: `The CNAME chain of ${name} ${end.kind === 'loop' ? 'is a loop' : 'is too long'}.`,
        };
      default:
        return { ok: true, values: [] };
    }
  }

  return {
    async addresses(hostname: string): Promise<Answered> {
      const [v6, v4] = await Promise.all([records(hostname, 'AAAA'), records(hostname, 'A')]);
      const values = [v6, v4].flatMap((answer) => (answer.ok ? answer.values : []));
      if (values.length > 0) return { ok: true, values };
      // RFC 6761 §6.3: these names always mean this machine.
      if (isWithin(hostname, 'localhost')) return { ok: true, values: ['::1', '127.0.0.1'] };
      return v4.ok ? v6 : v4;
    },
    texts: (name: string): Promise<Answered> => records(name, 'TXT'),
  };
}
