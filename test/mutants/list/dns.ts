import { mutantsOf } from '../mutant.ts';

export const DNS = [
  ...mutantsOf('main/dns/zones/zone-set.ts', ['test/unit/dns/server/responder.test.ts'], {
    'dns.alias-outlives-its-chain': {
      find: 'ttlSeconds = Math.min(ttlSeconds, next.ttlSeconds);',
      replace: '',
      breaks: 'addresses of an ALIAS are kept longer than a CNAME on their way',
    },
    'dns.alias-outlives-an-inner-alias': {
      find: 'ttlSeconds = Math.min(ttlSeconds, next.ttlSeconds);',
      replace: "if (next.type === 'CNAME') ttlSeconds = Math.min(ttlSeconds, next.ttlSeconds);",
      breaks: 'addresses of an ALIAS are kept longer than another ALIAS on their way',
    },
    'dns.alias-goes-one-name-less': {
      find: 'hops <= ALIAS_HOPS_MAX; hops++',
      replace: 'hops < ALIAS_HOPS_MAX; hops++',
      breaks: 'an ALIAS of ten names fails',
    },
  }),
  ...mutantsOf('main/dns/wire/message-guard.ts', ['test/unit/dns/server/exchange.test.ts'], {
    'dns.64-further-records': {
      find: 'const FURTHER_RECORDS_MAX = 4;',
      replace: 'const FURTHER_RECORDS_MAX = 64;',
      breaks: 'one query can make the server decode 64 records',
    },
  }),
  ...mutantsOf('main/dns/server/responder.ts', ['test/unit/dns/server/responder.test.ts'], {
    'dns.nxdomain-forgotten-after-cname': {
      find: "return this.#negative(zone, 'NXDOMAIN');",
      replace: "return this.#negative(zone, this.#chain.length > 0 ? 'NOERROR' : 'NXDOMAIN');",
      breaks: 'a CNAME to a name that does not exist looks like one to a name without data',
    },
    'dns.referral-is-authoritative': {
      find: 'authoritative: !referral,',
      replace: 'authoritative: true,',
      breaks: 'a resolver takes a referral for an answer',
    },
    'dns.one-cname-less': {
      find: 'export const CNAME_HOPS_MAX = 10;',
      replace: 'export const CNAME_HOPS_MAX = 9;',
      breaks: 'a chain of ten CNAMEs is cut off',
    },
    'dns.any-at-an-empty-name': {
      find: 'if (node.rrsets.length === 0) return undefined;',
      replace: '',
      breaks: 'ANY invents data for a name that has none',
    },
    'dns.wildcard-answers-as-itself': {
      find: 'rrset.name === owner ? rrset : { ...rrset, name: owner }',
      replace: 'rrset',
      breaks: 'a wildcard answers under its own name',
    },
  }),
  ...mutantsOf(
    'main/dns/server/responder.ts',
    ['test/unit/dns/server/responder.test.ts', 'test/unit/dns/server/exchange.test.ts'],
    {
      'dns.glue-is-optional': {
        find: 'return { ...referral, additionalRequired: true };',
        replace: 'return referral;',
        breaks: 'a referral is sent without the addresses that it needs',
      },
    },
  ),
  ...mutantsOf('main/dns/zones/zone-set.ts', ['test/unit/dns/server/responder.test.ts'], {
    'dns.ds-asked-of-the-child': {
      find: 'return findZone(set, parentOf(name)) ?? zone;',
      replace: 'return zone;',
      breaks: 'the DS of a delegated zone is denied',
    },
  }),
  ...mutantsOf('main/dns/zones/propagation.ts', ['test/unit/dns/zones/propagation.test.ts'], {
    'dns.later-change-shows-first': {
      find: 'visibleFromMs === null ? null : Math.min(visibleFromMs, atMs)',
      replace: 'visibleFromMs',
      breaks: 'a change that was made earlier overwrites a later one',
    },
    'dns.record-visible-at-its-end': {
      find: 'nowMs < visibleUntilMs)',
      replace: 'nowMs <= visibleUntilMs)',
      breaks: 'for a moment a record and what replaces it are both answered',
    },
    'dns.record-kept-at-its-end': {
      find: 'visibleUntilMs > nowMs && (visibleFromMs',
      replace: 'visibleUntilMs >= nowMs && (visibleFromMs',
      breaks: 'a record that is over stays in the store',
    },
  }),
  ...mutantsOf('main/dns/zones/zone.ts', ['test/unit/dns/server/responder.test.ts'], {
    'dns.negative-answer-outlives-its-soa': {
      find: 'Math.min(soa.ttlSeconds, data.minimumSeconds)',
      replace: 'data.minimumSeconds',
      breaks: '"there is none" is kept longer than the SOA (RFC 2308 §5)',
    },
  }),
  ...mutantsOf('main/dns/zones/zone-index.ts', ['test/unit/dns/server/responder.test.ts'], {
    'dns.first-ttl-of-an-rrset': {
      find: 'rrset.ttlSeconds = Math.min(rrset.ttlSeconds, ttlSeconds);',
      replace: '',
      breaks: 'an RRset has the TTL of its first record',
    },
    'dns.lowest-cut-refers': {
      find: 'if (at.delegates) cut = at;',
      replace: 'if (at.delegates) return at;',
      breaks: 'a delegation below another is referred to',
    },
  }),
  ...mutantsOf(
    'main/dns/zones/zone-index.ts',
    ['test/unit/dns/zones/zone.test.ts', 'test/unit/dns/server/responder.test.ts'],
    {
      'dns.empty-name-stays': {
        find: 'at.parent.children--;',
        replace: '',
        breaks: 'a name whose last record was removed is not denied',
      },
    },
  ),
  ...mutantsOf('main/dns/client/client.ts', ['test/integration/dns/client/client.test.ts'], {
    'dns.reply-with-another-id': {
      find: 'response.id === id && repeats(response, question)',
      replace: 'repeats(response, question)',
      breaks: 'anybody can answer a question of ours (RFC 5452)',
    },
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
      'dns.change-is-not-told': {
        find: '    this.#prune(node);\n    this.#onChange();',
        replace: '    this.#prune(node);',
        breaks: 'an answer from before a change is repeated from the cache',
      },
    },
  ),
  ...mutantsOf('main/model/dns-name.ts', ['test/unit/model/dns-name.test.ts'], {
    'dns.label-of-63-octets': {
      find: 'length === undefined || length > LABEL_OCTETS_MAX',
      replace: 'length === undefined || length >= LABEL_OCTETS_MAX',
      breaks: 'a question for the longest label is malformed',
    },
  }),
  ...mutantsOf('main/dns/wire/canonical.ts', ['test/integration/engine/dns/dnssec.test.ts'], {
    'dns.signature-over-unsorted-records': {
      find: 'data.map(canonicalData))].sort(byOctets)',
      replace: 'data.map(canonicalData))]',
      breaks: 'the signature of several records is over their order in the zone',
    },
  }),
  ...mutantsOf('main/dns/zones/signed-answer.ts', ['test/unit/dns/dnssec.test.ts'], {
    'dns.wildcard-without-proof': {
      find: 'this.#cover(zone, signer, rrset.name);',
      replace: '',
      breaks: 'the answer of a wildcard lacks the proof that the name does not exist',
    },
  }),
  ...mutantsOf('main/dns/zones/own-zones.ts', ['test/unit/dns/zones/device-zones.test.ts'], {
    'dns.localhost-for-other-devices': {
      find: '[...hostnames].filter(isForDevices)',
      replace: '[...hostnames]',
      breaks: 'another device gets an address for a name below localhost, which means itself',
    },
    'dns.each-sender-by-itself': {
      find: 'ipv4Octets(address).slice(0, 3)',
      replace: 'ipv4Octets(address)',
      breaks: 'datagrams with many forged senders of one network are all answered',
    },
  }),
  ...mutantsOf('main/dns/server/exchange.ts', ['test/unit/dns/server/strike.test.ts'], {
    'dns.cached-reply-for-a-broken-name': {
      find: ' && change === undefined',
      replace: '',
      breaks: 'a name that is broken on purpose is answered rightly from the cache',
    },
  }),
  ...mutantsOf('main/services/breaks/record-breaks.ts', ['test/integration/engine/breaks/broken-domains.test.ts'], {
    'dns.repair-over-a-change': {
      find: 'hasRoom && sameSet(',
      replace: 'hasRoom || sameSet(',
      breaks: 'the repair of broken records undoes what somebody has changed meanwhile',
    },
  }),
];
