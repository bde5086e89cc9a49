import { mutantsOf } from '../mutant.ts';

export const DNS = [
  ...mutantsOf('main/dns/zones/zone-set.ts', ['test/unit/dns/server/responder.test.ts'], {
    'addresses of an ALIAS are kept longer than a CNAME on their way':
      '[-ttlSeconds = Math.min(ttlSeconds, next.ttlSeconds);-]',
    'addresses of an ALIAS are kept longer than another ALIAS on their way':
      "{+if (next.type === 'CNAME') +}ttlSeconds = Math.min(ttlSeconds, next.ttlSeconds);",
    'an ALIAS of ten names fails': 'hops <[-=-] ALIAS_HOPS_MAX; hops++',
  }),
  ...mutantsOf('main/dns/wire/message-guard.ts', ['test/unit/dns/server/exchange.test.ts'], {
    'one query can make the server decode 64 records': 'const FURTHER_RECORDS_MAX = [-4-]{+64+};',
  }),
  ...mutantsOf('main/dns/server/responder.ts', ['test/unit/dns/server/responder.test.ts'], {
    'a CNAME to a name that does not exist looks like one to a name without data':
      "return this.#negative(zone, {+this.#chain.length > 0 ? 'NOERROR' : +}'NXDOMAIN');",
    'a resolver takes a referral for an answer': 'authoritative: [-!referral-]{+true+},',
    'a chain of ten CNAMEs is cut off': 'export const CNAME_HOPS_MAX = [-10-]{+9+};',
    'ANY invents data for a name that has none': '[-if (node.rrsets.length === 0) return undefined;-]',
    'a wildcard answers under its own name': 'rrset[-.name === owner ? rrset : { ...rrset, name: owner }-]',
  }),
  ...mutantsOf(
    'main/dns/server/responder.ts',
    ['test/unit/dns/server/responder.test.ts', 'test/unit/dns/server/exchange.test.ts'],
    {
      'a referral is sent without the addresses that it needs':
        'return [-{ ...referral, additionalRequired: true }-]{+referral+};',
    },
  ),
  ...mutantsOf('main/dns/zones/zone-set.ts', ['test/unit/dns/server/responder.test.ts'], {
    'the DS of a delegated zone is denied': 'return [-findZone(set, parentOf(name)) ?? -]zone;',
  }),
  ...mutantsOf('main/dns/zones/propagation.ts', ['test/unit/dns/zones/propagation.test.ts'], {
    'a change that was made earlier overwrites a later one':
      'visibleFromMs[- === null ? null : Math.min(visibleFromMs, atMs)-]',
    'for a moment a record and what replaces it are both answered': 'nowMs <{+=+} visibleUntilMs)',
    'a record that is over stays in the store': 'visibleUntilMs >{+=+} nowMs && (visibleFromMs',
  }),
  ...mutantsOf('main/dns/zones/zone.ts', ['test/unit/dns/server/responder.test.ts'], {
    '"there is none" is kept longer than the SOA (RFC 2308 §5)':
      '[-Math.min(soa.ttlSeconds, data.minimumSeconds)-]{+data.minimumSeconds+}',
  }),
  ...mutantsOf('main/dns/zones/zone-index.ts', ['test/unit/dns/server/responder.test.ts'], {
    'an RRset has the TTL of its first record': '[-rrset.ttlSeconds = Math.min(rrset.ttlSeconds, ttlSeconds);-]',
    'a delegation below another is referred to': 'if (at.delegates) [-cut =-]{+return+} at;',
  }),
  ...mutantsOf(
    'main/dns/zones/zone-index.ts',
    ['test/unit/dns/zones/zone.test.ts', 'test/unit/dns/server/responder.test.ts'],
    { 'a name whose last record was removed is not denied': '[-at.parent.children--;-]' },
  ),
  ...mutantsOf('main/dns/client/client.ts', ['test/integration/dns/client/client.test.ts'], {
    'anybody can answer a question of ours (RFC 5452)':
      '[-response.id === id && repeats-]{+repeats+}(response, question)',
  }),
  ...mutantsOf(
    'main/dns/zones/zone-index.ts',
    [
      'test/unit/dns/server/responder.test.ts',
      'test/unit/dns/server/exchange.test.ts',
      'test/unit/dns/zones/zone.test.ts',
      'test/unit/dns/zones/zone-publisher.test.ts',
    ],
    {
      'an answer from before a change is repeated from the cache': '    this.#prune(node);[-\n    this.#onChange();-]',
    },
  ),
  ...mutantsOf('main/model/dns-name.ts', ['test/unit/model/dns-name.test.ts'], {
    'a question for the longest label is malformed': 'length === undefined || length >{+=+} LABEL_OCTETS_MAX',
  }),
  ...mutantsOf('main/dns/wire/canonical.ts', ['test/integration/engine/dns/dnssec.test.ts'], {
    'the signature of several records is over their order in the zone': 'data.map(canonicalData))][-.sort(byOctets)-]',
  }),
  ...mutantsOf('main/dns/zones/signed-answer.ts', ['test/unit/dns/dnssec.test.ts'], {
    'the answer of a wildcard lacks the proof that the name does not exist':
      '[-this.#cover(zone, signer, rrset.name);-]',
  }),
  ...mutantsOf('main/dns/zones/own-zones.ts', ['test/unit/dns/zones/device-zones.test.ts'], {
    'another device gets an address for a name below localhost, which means itself':
      '[...hostnames][-.filter(isForDevices)-]',
    'datagrams with many forged senders of one network are all answered': 'ipv4Octets(address)[-.slice(0, 3)-]',
  }),
  ...mutantsOf('main/dns/server/exchange.ts', ['test/unit/dns/server/strike.test.ts'], {
    'a name that is broken on purpose is answered rightly from the cache': '[- && change === undefined-]',
  }),
  ...mutantsOf('main/services/breaks/record-breaks.ts', ['test/integration/engine/breaks/broken-domains.test.ts'], {
    'the repair of broken records undoes what somebody has changed meanwhile': 'hasRoom [-&&-]{+||+} sameSet(',
  }),
];
