import { mutantsOf } from '../mutant.ts';

export const DNS = [
  ...mutantsOf('main/dns/zones/zone-set.ts', ['unit/dns/server/responder'], {
    'addresses of an ALIAS are kept longer than a CNAME on their way':
      '[-ttlSeconds = Math.min(ttlSeconds, next.ttlSeconds);-]',
    'addresses of an ALIAS are kept longer than another ALIAS on their way':
      "{+if (next.type === 'CNAME') +}ttlSeconds = Math.min(ttlSeconds, next.ttlSeconds);",
    'an ALIAS of ten names fails': 'hops <[-=-] ALIAS_HOPS_MAX; hops++',
  }),
  ...mutantsOf('main/dns/wire/message-guard.ts', ['unit/dns/server/exchange'], {
    'one query can make the server decode 64 records': 'const FURTHER_RECORDS_MAX = [-4-]{+64+};',
  }),
  ...mutantsOf('main/dns/server/responder.ts', ['unit/dns/server/responder'], {
    'a CNAME to a name that does not exist looks like one to a name without data':
      "return this.#negative(zone, {+this.#chain.length > 0 ? 'NOERROR' : +}'NXDOMAIN');",
    'a resolver takes a referral for an answer': 'authoritative: [-!referral-]{+true+},',
    'a chain of ten CNAMEs is cut off': 'export const CNAME_HOPS_MAX = [-10-]{+9+};',
    'ANY invents data for a name that has none': '[-if (node.rrsets.length === 0) return undefined;-]',
    'a wildcard answers under its own name': 'rrset[-.name === owner ? rrset : { ...rrset, name: owner }-]',
  }),
  ...mutantsOf('main/dns/server/responder.ts', ['unit/dns/server/responder', 'unit/dns/server/exchange'], {
    'a referral is sent without the addresses that it needs':
      'return [-{ ...referral, additionalRequired: true }-]{+referral+};',
  }),
  ...mutantsOf('main/dns/zones/zone-set.ts', ['unit/dns/server/responder'], {
    'the DS of a delegated zone is denied': 'return [-findZone(set, parentOf(name)) ?? -]zone;',
  }),
  ...mutantsOf('main/dns/zones/propagation.ts', ['unit/dns/zones/propagation'], {
    'a change that was made earlier overwrites a later one':
      'visibleFromMs[- === null ? null : Math.min(visibleFromMs, atMs)-]',
    'for a moment a record and what replaces it are both answered': 'nowMs <{+=+} visibleUntilMs)',
    'a record that is over stays in the store': 'visibleUntilMs >{+=+} nowMs && (visibleFromMs',
  }),
  ...mutantsOf('main/dns/zones/zone.ts', ['unit/dns/server/responder'], {
    '"there is none" is kept longer than the SOA (RFC 2308 §5)':
      '[-Math.min(soa.ttlSeconds, data.minimumSeconds)-]{+data.minimumSeconds+}',
  }),
  ...mutantsOf('main/dns/zones/zone-index.ts', ['unit/dns/server/responder'], {
    'an RRset has the TTL of its first record': '[-rrset.ttlSeconds = Math.min(rrset.ttlSeconds, ttlSeconds);-]',
    'a delegation below another is referred to': 'if (at.delegates) [-cut =-]{+return+} at;',
  }),
  ...mutantsOf('main/dns/zones/zone-index.ts', ['unit/dns/zones/zone', 'unit/dns/server/responder'], {
    'a name whose last record was removed is not denied': '[-at.parent.children--;-]',
  }),
  ...mutantsOf('main/dns/client/client.ts', ['integration/dns/client/client'], {
    'anybody can answer a question of ours (RFC 5452)':
      '[-response.id === id && repeats-]{+repeats+}(response, question)',
  }),
  ...mutantsOf(
    'main/dns/zones/zone-index.ts',
    ['unit/dns/server/responder', 'unit/dns/server/exchange', 'unit/dns/zones/zone', 'unit/dns/zones/zone-publisher'],
    {
      'an answer from before a change is repeated from the cache': '    this.#prune(node);[-\n    this.#onChange();-]',
    },
  ),
  ...mutantsOf('main/model/dns-name.ts', ['unit/model/dns-name'], {
    'a question for the longest label is malformed': 'length === undefined || length >{+=+} LABEL_OCTETS_MAX',
  }),
  ...mutantsOf('main/dns/wire/canonical.ts', ['integration/engine/dns/dnssec'], {
    'the signature of several records is over their order in the zone': 'data.map(canonicalData))][-.sort(byOctets)-]',
  }),
  ...mutantsOf('main/dns/zones/signed-answer.ts', ['unit/dns/dnssec'], {
    'the answer of a wildcard lacks the proof that the name does not exist':
      '[-this.#cover(zone, signer, rrset.name);-]',
  }),
  ...mutantsOf('main/dns/zones/own-zones.ts', ['unit/dns/zones/device-zones'], {
    'another device gets an address for a name below localhost, which means itself':
      '[...hostnames][-.filter(isForDevices)-]',
    'datagrams with many forged senders of one network are all answered': 'ipv4Octets(address)[-.slice(0, 3)-]',
  }),
  ...mutantsOf('main/dns/server/exchange.ts', ['unit/dns/server/strike'], {
    'a name that is broken on purpose is answered rightly from the cache': '[- && change === undefined-]',
  }),
  ...mutantsOf('main/services/breaks/record-breaks.ts', ['integration/engine/breaks/broken-domains'], {
    'the repair of broken records undoes what somebody has changed meanwhile': 'hasRoom [-&&-]{+||+} sameSet(',
  }),
];
