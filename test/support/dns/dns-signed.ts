import { LruMap } from '../../../main/base/lru.ts';
import { silentLog } from '../../../main/base/log.ts';
import { createExchange, type Transport } from '../../../main/dns/server/exchange.ts';
import { readResponse, type Response } from '../../../main/dns/wire/message-reader.ts';
import { createSigningKey, zoneSigner } from '../../../main/dns/zones/zone-signer.ts';
import { whyBogus, zonesOf } from '../../../main/dns/client/validator.ts';
import type { Zone } from '../../../main/dns/zones/zone.ts';
import type { ZoneBreak } from '../../../main/contract/zones.ts';
import type { ZoneSigning } from '../../../main/model/dns-lookup.ts';
import { wireName } from '../../../main/model/dns-name.ts';
import { message, opt } from './dns-client.ts';
import { zoneSetOf } from './dns-tables.ts';

/** The DO bit of OPT. */
export const DNSSEC_OK = 0x8000;

const STRANGER = createSigningKey();

/** A zone signed with one new key. */
export const signingWith = (broken: ZoneBreak | null = null): ZoneSigning => ({
  on: true,
  keys: [{ ...createSigningKey(), retiresAtMs: null }],
  broken,
  stranger: STRANGER,
});

/** Zones that are all signed, questions to them, and the validation of their answers. */
export function signedZones(
  zones: readonly Zone[],
  nowMs: number,
  options: { broken?: ZoneBreak; unsigned?: string } = {},
) {
  const set = zoneSetOf(zones);
  for (const { apex } of zones) {
    const index = set.get(apex);
    if (index === undefined || apex === options.unsigned) continue;
    index.signer = zoneSigner(apex, signingWith(options.broken), nowMs, new LruMap(10_000));
  }
  const exchange = createExchange({ zones: () => set, log: silentLog });

  function ask(name: string, type: number, dnssecOk = true, transport: Transport = 'tcp'): Response {
    const query = message({ name: wireName(name), type, rest: opt({ flags: dnssecOk ? DNSSEC_OK : 0 }) });
    const response = readResponse(exchange(query, transport) ?? Buffer.alloc(0));
    if (response === null) throw new Error(`no response to ${name} ${type}`);
    return response;
  }

  const anchorOf = (at: string) => set.anchorOf(at);

  /** What a validator says about a response; null if it is valid. */
  function verdict(name: string, type: number, response: Response, atMs = nowMs): string | null {
    const { answer: answers, authority } = response;
    const rcode = response.rcode === 0 ? 'NOERROR' : response.rcode === 3 ? 'NXDOMAIN' : 'SERVFAIL';
    const examined = { name, type, rcode, answers, authority };
    const keys = new Map([...zonesOf(examined, anchorOf)].map((apex) => [apex, ask(apex, 48).answer]));
    return whyBogus(examined, { anchorOf, keysOf: (apex) => keys.get(apex) ?? [], nowMs: atMs });
  }

  return { set, ask, verdict };
}
