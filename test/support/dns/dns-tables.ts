import { platformZone } from '../../../main/dns/zones/own-zones.ts';
import { createZone, type Zone } from '../../../main/dns/zones/zone.ts';
import { readZoneFileInParts, type ZoneFileOptions, type ZoneFileResult } from '../../../main/dns/zones/zone-file.ts';
import { ZoneSet } from '../../../main/dns/zones/zone-set.ts';

/**
 * A fact about a DNS answer: a question, and the sections of the answer as zone-file text. The same
 * tables are applied to the pure responder, over the wire through `dig`, `kdig`, `delv`, Node's resolver and dns2's own
 * decoder, and to an engine that has the zones as a user's.
 */
export interface DnsFact {
  /** `name TYPE`. */
  question: string;
  /** What the answer shows, for the test's name. */
  fact: string;
  rcode?: string;
  /** The AA bit; set by default. */
  authoritative?: boolean;
  answer?: string;
  authority?: string;
  additional?: string;
}

export interface DnsTable {
  title: string;
  zones: Zone[];
  facts: DnsFact[];
}

/** A table as written below; `soa` is what its negative answers have. */
type Written = Omit<DnsTable, 'facts'> & { facts: string; soa?: string };

/** A zone file, read in one part. */
export function readZoneFile(text: string, options: ZoneFileOptions): ZoneFileResult {
  const [whole = { records: [], faults: [], warnings: [] }] = readZoneFileInParts(text, options, Infinity);
  return whole;
}

export function zoneSetOf(zones: readonly Zone[]): ZoneSet {
  const set = new ZoneSet();
  for (const zone of zones) set.put(zone);
  return set;
}

/** A zone from text indented like the surrounding code; without an SOA in it, it gets a plain one. */
export function zoneOf(apex: string, text: string, options: { supportsAlias?: boolean } = {}): Zone {
  const lines = text.split('\n');
  const margin = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  const own = lines.map((line) => line.slice(margin)).join('\n');
  const read = readZoneFile(/\sSOA\s/.test(own) ? own : `$TTL 3600\n${own}`, { apex });
  if (read.faults.length > 0) throw new Error(`${apex}: ${JSON.stringify(read.faults)}`);
  const supportsAlias = options.supportsAlias ?? true;
  if (read.records.some(({ data }) => data.type === 'SOA')) return { apex, supportsAlias, records: read.records };
  return createZone({ apex, nameServer: 'ns.vivarium.localhost', supportsAlias, records: read.records });
}

/** A zone whose text begins with `$ORIGIN`. */
const zoneIn = (text: string): Zone => zoneOf(/\$ORIGIN (\S+)\./.exec(text)?.[1] ?? '', text);

/** The lines of an expected section, with collapsed blanks and without empty lines and margins. */
export const linesOf = (text = ''): string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '');

/**
 * A table whose facts are in DNS notation. `name TYPE [rcode] [no-aa] # fact` begins one; the indented lines are the
 * records of its answer, or of the section that they begin with: `authority` or `additional`. NXDOMAIN, and `nodata` in
 * place of an rcode, have `soa` in the authority section if they name no other.
 */
function tableOf({ facts: text, soa, ...table }: Written): DnsTable {
  const facts: DnsFact[] = [];
  const negative = new Set<DnsFact>();
  const margin = text.search(/\S/) - text.lastIndexOf('\n', text.search(/\S/)) - 1;
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const current = facts.at(-1);
    if (line.search(/\S/) === margin) {
      const [head = '', fact = ''] = line.trim().split(' # ');
      const [name = '', type = '', ...flags] = head.split(' ');
      const rcode = flags.find((flag) => flag !== 'no-aa' && flag !== 'nodata');
      const begun = { question: `${name} ${type}`, fact, rcode, authoritative: !flags.includes('no-aa') };
      facts.push(begun);
      if (rcode === 'NXDOMAIN' || flags.includes('nodata')) negative.add(begun);
    } else if (current !== undefined) {
      const [, named, record = ''] = /^(?:(authority|additional) )?(.*)$/.exec(line.trim()) ?? [];
      const section = named === 'authority' || named === 'additional' ? named : 'answer';
      current[section] = `${current[section] ?? ''}${record}\n`;
    }
  }
  for (const fact of negative) fact.authority ??= soa;
  return { ...table, facts };
}

/** RFC 1034 §6.1: the zones of C.ISI.EDU, except MIL, which the RFC's answers treat as delegated. */
const ROOT_ZONE = `
  .       IN      SOA     SRI-NIC.ARPA. HOSTMASTER.SRI-NIC.ARPA. (
                          870611          ;serial
                          1800            ;refresh every 30 min
                          300             ;retry every 5 min
                          604800          ;expire after a week
                          86400)          ;minimum of a day
                  NS      A.ISI.EDU.
                  NS      C.ISI.EDU.
                  NS      SRI-NIC.ARPA.

  MIL.    86400   NS      SRI-NIC.ARPA.
          86400   NS      A.ISI.EDU.

  EDU.    86400   NS      SRI-NIC.ARPA.
          86400   NS      C.ISI.EDU.

  SRI-NIC.ARPA.   A       26.0.0.73
                  A       10.0.0.51
                  MX      0 SRI-NIC.ARPA.
                  HINFO   DEC-2060 TOPS20

  ACC.ARPA.       A       26.6.0.65
                  HINFO   PDP-11/70 UNIX
                  MX      10 ACC.ARPA.

  USC-ISIC.ARPA.  CNAME   C.ISI.EDU.

  73.0.0.26.IN-ADDR.ARPA.  PTR    SRI-NIC.ARPA.
  65.0.6.26.IN-ADDR.ARPA.  PTR    ACC.ARPA.
  51.0.0.10.IN-ADDR.ARPA.  PTR    SRI-NIC.ARPA.
  52.0.0.10.IN-ADDR.ARPA.  PTR    C.ISI.EDU.
  103.0.3.26.IN-ADDR.ARPA. PTR    A.ISI.EDU.

  A.ISI.EDU. 86400 A      26.3.0.103
  C.ISI.EDU. 86400 A      10.0.0.52
`;

const EDU_ZONE = `
  EDU.  IN SOA SRI-NIC.ARPA. HOSTMASTER.SRI-NIC.ARPA. (
                  870729 ;serial
                  1800 ;refresh every 30 minutes
                  300 ;retry every 5 minutes
                  604800 ;expire after a week
                  86400 ;minimum of a day
                  )
                  NS SRI-NIC.ARPA.
                  NS C.ISI.EDU.

  UCI 172800 NS ICS.UCI
                  172800 NS ROME.UCI
  ICS.UCI 172800 A 192.5.19.1
  ROME.UCI 172800 A 192.5.19.31

  ISI 172800 NS VAXA.ISI
                  172800 NS A.ISI
                  172800 NS VENERA.ISI.EDU.
  VAXA.ISI 172800 A 10.2.0.27
                  172800 A 128.9.0.33
  VENERA.ISI.EDU. 172800 A 10.1.0.52
                  172800 A 128.9.0.32
  A.ISI 172800 A 26.3.0.103
`;

/** What A.ISI.EDU has besides (RFC 1034 §6.2.7): its own zone, invented to hold the one address that the RFC shows. */
const ISI_ZONE = `
  @ 86400 IN SOA A.ISI.EDU. HOSTMASTER.ISI.EDU. 1 1800 300 604800 86400
    86400 NS A.ISI.EDU.
  A 86400 A 26.3.0.103
  C 86400 A 10.0.0.52
`;

/** RFC 4592 §2.2.1, with SOA and SRV data filled in where the RFC has placeholders. */
const WILDCARD_ZONE = `
  $ORIGIN example.
  example.                 3600 IN  SOA   ns.example.com. hostmaster.example. 1 7200 900 1209600 300
  example.                 3600     NS    ns.example.com.
  example.                 3600     NS    ns.example.net.
  *.example.               3600     TXT   "this is a wildcard"
  *.example.               3600     MX    10 host1.example.
  sub.*.example.           3600     TXT   "this is not a wildcard"
  host1.example.           3600     A     192.0.2.1
  _ssh._tcp.host1.example. 3600     SRV   0 0 22 host1.example.
  _ssh._tcp.host2.example. 3600     SRV   0 0 22 host1.example.
  subdel.example.          3600     NS    ns.example.com.
  subdel.example.          3600     NS    ns.example.net.
`;

const WILDCARD_SOA = 'example. 300 IN SOA ns.example.com. hostmaster.example. 1 7200 900 1209600 300';
const WILDCARD_REFERRAL = `
  authority subdel.example. 3600 IN NS ns.example.com.
  authority subdel.example. 3600 IN NS ns.example.net.`;

const ROOT_SOA = '. 86400 IN SOA sri-nic.arpa. hostmaster.sri-nic.arpa. 870611 1800 300 604800 86400';

/** The SOA that `zoneOf` adds to a zone without one, as in a negative answer. */
const soaOf = (apex: string) => `${apex}. 300 IN SOA ns.vivarium.localhost. hostmaster.${apex}. 1 7200 900 1209600 300`;

const SUB_REFERRAL = `
  authority sub.parent.test. 600 IN NS ns.sub.parent.test.
  authority sub.parent.test. 600 IN NS ns.elsewhere.test.
  additional ns.sub.parent.test. 600 IN A 192.0.2.53
  additional ns.sub.parent.test. 600 IN AAAA 2001:db8::53`;

/** The target of the others' records. */
const hosts = zoneIn(`
  $ORIGIN hosts.test.
  cname  300 A    127.0.0.1
         300 AAAA ::1
  www    60  A    127.0.0.1
`);

/** The platform's zone without projects. */
const platform = platformZone();

const chain = Array.from({ length: 12 }, (_, index) => `c${index} 600 CNAME c${index + 1}`).join('\n  ');

/** The CNAMEs of the chain from one number to another. */
const hops = (first: number, last: number): string =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at)
    .map((n) => `  c${n}.chain.test. 600 IN CNAME c${n + 1}.chain.test.`)
    .join('\n');

/** With one project whose slug is `demo`. */
export const PLATFORM_TABLE = tableOf({
  title: 'The platform’s own zone',
  zones: [platformZone({ hostnames: ['demo.vivarium.localhost', 'demo-staging.vivarium.localhost'] })],
  soa: soaOf('vivarium.localhost'),
  facts: `
    demo.vivarium.localhost. A # a project is on this machine
      demo.vivarium.localhost. 3600 IN A 127.0.0.1
    demo-staging.vivarium.localhost. AAAA # and so is its staging, over IPv6 as well
      demo-staging.vivarium.localhost. 3600 IN AAAA ::1
    CNAME.Vivarium.Localhost. A # the target of custom domains
      cname.vivarium.localhost. 3600 IN A 127.0.0.1
    vivarium.localhost. AAAA # the platform itself
      vivarium.localhost. 3600 IN AAAA ::1
    vivarium.localhost. NS # its name server, with its addresses
      vivarium.localhost. 3600 IN NS ns.vivarium.localhost.
      additional ns.vivarium.localhost. 3600 IN A 127.0.0.1
      additional ns.vivarium.localhost. 3600 IN AAAA ::1
    demo.vivarium.localhost. CAA nodata # restricts no CA: nodata
    nobody.vivarium.localhost. A NXDOMAIN # there is no project of that slug, and no wildcard
    www.demo.vivarium.localhost. A NXDOMAIN # nor anything below one that there is
    demo.vivarium.localhost. ANY # ANY is answered with the made-up HINFO
      demo.vivarium.localhost. 3600 IN HINFO "RFC8482" ""
    localhost. A REFUSED no-aa # what is above it is not ours
  `,
});

export const DNS_TABLES: DnsTable[] = [
  PLATFORM_TABLE,
  tableOf({
    title: 'RFC 1034 §6.2, asked of C.ISI.EDU',
    zones: [zoneOf('', ROOT_ZONE), zoneOf('edu', EDU_ZONE)],
    soa: ROOT_SOA,
    facts: `
      SRI-NIC.ARPA. A # §6.2.1: two addresses
        sri-nic.arpa. 86400 IN A 26.0.0.73
        sri-nic.arpa. 86400 IN A 10.0.0.51
      SRI-NIC.ARPA. ANY # §6.2.2, as RFC 8482 §4.2 has replaced it: one HINFO
        sri-nic.arpa. 3600 IN HINFO "RFC8482" ""
      SRI-NIC.ARPA. MX # §6.2.3: the mail exchanger, and its addresses
        sri-nic.arpa. 86400 IN MX 0 sri-nic.arpa.
        additional sri-nic.arpa. 86400 IN A 26.0.0.73
        additional sri-nic.arpa. 86400 IN A 10.0.0.51
      SRI-NIC.ARPA. NS nodata # §6.2.4, with the SOA of RFC 2308 §3: nodata
      SIR-NIC.ARPA. A NXDOMAIN # §6.2.5: no such name
      BRL.MIL. A no-aa # §6.2.6: a referral, not authoritative, with glue
        authority mil. 86400 IN NS sri-nic.arpa.
        authority mil. 86400 IN NS a.isi.edu.
        additional sri-nic.arpa. 86400 IN A 26.0.0.73
        additional sri-nic.arpa. 86400 IN A 10.0.0.51
        additional a.isi.edu. 86400 IN A 26.3.0.103
      USC-ISIC.ARPA. A # §6.2.7: an authoritative CNAME, and a referral for its target
        usc-isic.arpa. 86400 IN CNAME c.isi.edu.
        authority isi.edu. 172800 IN NS vaxa.isi.edu.
        authority isi.edu. 172800 IN NS a.isi.edu.
        authority isi.edu. 172800 IN NS venera.isi.edu.
        additional vaxa.isi.edu. 172800 IN A 10.2.0.27
        additional vaxa.isi.edu. 172800 IN A 128.9.0.33
        additional a.isi.edu. 172800 IN A 26.3.0.103
        additional venera.isi.edu. 172800 IN A 10.1.0.52
        additional venera.isi.edu. 172800 IN A 128.9.0.32
      USC-ISIC.ARPA. CNAME # §6.2.8: the CNAME alone
        usc-isic.arpa. 86400 IN CNAME c.isi.edu.
      52.0.0.10.in-addr.arpa. PTR # a pointer
        52.0.0.10.in-addr.arpa. 86400 IN PTR c.isi.edu.
      acc.arpa. HINFO # a host’s description
        acc.arpa. 86400 IN HINFO "PDP-11/70" "UNIX"
    `,
  }),
  tableOf({
    title: 'RFC 1034 §6.2, asked of A.ISI.EDU',
    zones: [zoneOf('', ROOT_ZONE), zoneOf('isi.edu', ISI_ZONE)],
    facts: `
      USC-ISIC.ARPA. A # §6.2.7: CNAME and address, from two zones
        usc-isic.arpa. 86400 IN CNAME c.isi.edu.
        c.isi.edu. 86400 IN A 10.0.0.52
    `,
  }),
  tableOf({
    title: 'RFC 4592 §2.2.1, wildcards',
    zones: [zoneOf('example', WILDCARD_ZONE)],
    soa: WILDCARD_SOA,
    facts: `
      host3.example. MX # synthesized: the owner is the name asked for
        host3.example. 3600 IN MX 10 host1.example.
        additional host1.example. 3600 IN A 192.0.2.1
      host3.example. A nodata # the wildcard has no A: nodata
      foo.bar.example. TXT # synthesized over two labels
        foo.bar.example. 3600 IN TXT "this is a wildcard"
      host1.example. MX nodata # not synthesized: host1 exists
      sub.*.example. MX nodata # not synthesized: sub.*.example exists
      _telnet._tcp.host1.example. SRV NXDOMAIN # not synthesized: _tcp.host1 is an empty non-terminal
      host.subdel.example. A no-aa # not synthesized: subdel is delegated
        ${WILDCARD_REFERRAL}
      ghost.*.example. MX NXDOMAIN # not synthesized: *.example exists
      *.example. TXT # the wildcard itself can be asked for (§2.1.3)
        *.example. 3600 IN TXT "this is a wildcard"
      host2.example. A nodata # an empty non-terminal has no data (§2.2.2)
      _dns._udp.host2.example. SRV NXDOMAIN # host2 is the closest encloser, and has no wildcard (§3.3.2)
      _telnet._tcp.host3.example. SRV nodata # *.example is the source of synthesis, without SRV (§3.3.2)
    `,
  }),
  tableOf({
    title: 'Wildcards beside CNAME, ALIAS and empty non-terminals',
    zones: [
      hosts,
      zoneIn(`
        $ORIGIN wild.test.
        *.c       600 CNAME www.hosts.test.
        *.alias   600 ALIAS www.hosts.test.
        sub.*.ent     TXT "below"
        a.b.c.d       A 192.0.2.7
      `),
    ],
    soa: soaOf('wild.test'),
    facts: `
      any.c.wild.test. A # a synthesized CNAME is followed
        any.c.wild.test. 600 IN CNAME www.hosts.test.
        www.hosts.test. 60 IN A 127.0.0.1
      any.alias.wild.test. A # an ALIAS at a wildcard is flattened under the name asked for
        any.alias.wild.test. 60 IN A 127.0.0.1
      x.ent.wild.test. TXT nodata # a wildcard that is an empty non-terminal gives nodata (RFC 4592 §4.9)
      c.d.wild.test. A nodata # an empty non-terminal gives nodata
      x.c.d.wild.test. A NXDOMAIN # and below it there is nothing
    `,
  }),
  tableOf({
    title: 'RFC 2308, negative answers',
    zones: [
      zoneIn(`
        $ORIGIN xx.
        XX.      86400 SOA NS1.XX. HOSTMASTER.NS1.XX. 1 7200 900 1209600 1200
        XX.      86400 NS  NS1.XX.
        NS1.XX.  86400 A   127.0.0.2
      `),
      zoneIn(`
        $ORIGIN example.
        EXAMPLE.         600 SOA   NS1.XX. HOSTMASTER.NS1.XX. 1 7200 900 1209600 86400
        EXAMPLE.       86400 NS    NS1.XX.
        AN.EXAMPLE.    86400 CNAME TRIPPLE.XX.
        NODATA.EXAMPLE.  300 CNAME NS1.XX.
        ANOTHER.EXAMPLE. 300 TXT   "no address"
      `),
    ],
    facts: `
      AN.EXAMPLE. A NXDOMAIN # §2.1: NXDOMAIN is about the CNAME’s target, the SOA of its zone; the minimum is below the SOA’s TTL (§5)
        an.example. 86400 IN CNAME tripple.xx.
        authority xx. 1200 IN SOA ns1.xx. hostmaster.ns1.xx. 1 7200 900 1209600 1200
      ANOTHER.EXAMPLE. A # §2.2: nodata; the SOA’s TTL is below its minimum (§5)
        authority example. 600 IN SOA ns1.xx. hostmaster.ns1.xx. 1 7200 900 1209600 86400
      NODATA.EXAMPLE. AAAA # §2.2: nodata of a CNAME’s target
        nodata.example. 300 IN CNAME ns1.xx.
        authority xx. 1200 IN SOA ns1.xx. hostmaster.ns1.xx. 1 7200 900 1209600 1200
      example. SOA # asked for, the SOA keeps its own TTL
        example. 600 IN SOA ns1.xx. hostmaster.ns1.xx. 1 7200 900 1209600 86400
    `,
  }),
  tableOf({
    title: 'RFC 8482, ANY',
    zones: [hosts, zoneOf('any.test', '@ A 192.0.2.1\na CNAME www.hosts.test.\n*.w TXT "x"\ne.n A 192.0.2.2')],
    soa: soaOf('any.test'),
    facts: `
      any.test. ANY # §4.2: a made-up HINFO
        any.test. 3600 IN HINFO "RFC8482" ""
      a.any.test. ANY # a CNAME is the whole answer, not followed
        a.any.test. 3600 IN CNAME www.hosts.test.
      z.w.any.test. ANY # through a wildcard
        z.w.any.test. 3600 IN HINFO "RFC8482" ""
      n.any.test. ANY nodata # an empty non-terminal has nothing
      no.any.test. ANY NXDOMAIN # no such name
    `,
  }),
  tableOf({
    title: 'CNAME chains',
    zones: [
      hosts,
      zoneIn(`
  $ORIGIN chain.test.
  ${chain}
  c12   A 192.0.2.12
  www   600 CNAME cname.hosts.test.
  out   600 CNAME www.elsewhere.test.
  loop1 600 CNAME loop2
  loop2 600 CNAME loop1
  self  600 CNAME self
  gone  600 CNAME nothing
      `),
    ],
    soa: soaOf('chain.test'),
    facts: `
      www.chain.test. A # followed into another zone of ours
        www.chain.test. 600 IN CNAME cname.hosts.test.
        cname.hosts.test. 300 IN A 127.0.0.1
      www.chain.test. RRSIG nodata # not followed for what may be beside a CNAME (RFC 2181 §10.1)
      www.chain.test. NSEC nodata # not followed for what may be beside a CNAME (RFC 2181 §10.1)
      www.chain.test. TYPE65 # followed for types that no zone here has, too
        www.chain.test. 600 IN CNAME cname.hosts.test.
        authority ${soaOf('hosts.test')}
      out.chain.test. A # a target outside our zones ends the answer
        out.chain.test. 600 IN CNAME www.elsewhere.test.
      loop1.chain.test. A # a loop is answered once around
        loop1.chain.test. 600 IN CNAME loop2.chain.test.
        loop2.chain.test. 600 IN CNAME loop1.chain.test.
      self.chain.test. A # a CNAME to itself
        self.chain.test. 600 IN CNAME self.chain.test.
      gone.chain.test. A NXDOMAIN # NXDOMAIN of the target (RFC 6604 §3)
        gone.chain.test. 600 IN CNAME nothing.chain.test.
        authority ${soaOf('chain.test')}
      c2.chain.test. A # ten CNAMEs are followed to the end
        ${hops(2, 11)}
        c12.chain.test. 3600 IN A 192.0.2.12
      c0.chain.test. A # of more than ten, ten are answered
        ${hops(0, 9)}
    `,
  }),
  tableOf({
    title: 'ALIAS and ANAME',
    zones: [
      hosts,
      zoneIn(`
        $ORIGIN alias.test.
        @       3600 ALIAS cname.hosts.test.
        @            MX    10 mail
        mail         A     192.0.2.25
        short   20   ANAME cname.hosts.test.
        via     3600 ALIAS hop
        hop     45   CNAME cname.hosts.test.
        deep    60   ALIAS @
        deeper  3600 ALIAS short
        four    3600 ALIAS www.hosts.test.
        gone    3600 ALIAS nothing.hosts.test.
        out     3600 ALIAS www.elsewhere.test.
        loop1   3600 ALIAS loop2
        loop2   3600 ALIAS loop1
        toalias 600  CNAME @
        toloop  600  CNAME loop1
        cut     3600 ALIAS host.child
        child        NS    ns.elsewhere.test.
      `),
      zoneOf('noalias.test', '@ ALIAS cname.hosts.test.', { supportsAlias: false }),
    ],
    soa: soaOf('alias.test'),
    facts: `
      alias.test. A # answered with the target’s address, with the target’s lower TTL
        alias.test. 300 IN A 127.0.0.1
      alias.test. AAAA # IPv6 as well
        alias.test. 300 IN AAAA ::1
      alias.test. MX # exists beside other types
        alias.test. 3600 IN MX 10 mail.alias.test.
        additional mail.alias.test. 3600 IN A 192.0.2.25
      alias.test. TXT nodata # has no other types itself
      alias.test. CNAME nodata # is no CNAME
      alias.test. CAA nodata # does not bring the target’s CAA along
      short.alias.test. A # the ALIAS’s own lower TTL
        short.alias.test. 20 IN A 127.0.0.1
      via.alias.test. A # the lowest TTL on the way
        via.alias.test. 45 IN A 127.0.0.1
      deep.alias.test. AAAA # an ALIAS to an ALIAS, with its own lower TTL
        deep.alias.test. 60 IN AAAA ::1
      deeper.alias.test. A # the lower TTL of an ALIAS on the way
        deeper.alias.test. 20 IN A 127.0.0.1
      four.alias.test. AAAA nodata # the target has no such address: nodata
      gone.alias.test. A nodata # the target does not exist: nodata
      out.alias.test. A SERVFAIL no-aa # a target outside our zones
      cut.alias.test. A SERVFAIL no-aa # a target that is delegated away
      loop1.alias.test. A SERVFAIL no-aa # a loop
      toloop.alias.test. A SERVFAIL no-aa # a loop behind a CNAME
      loop1.alias.test. TXT nodata # a loop matters to addresses only
      toalias.alias.test. A # behind a CNAME
        toalias.alias.test. 600 IN CNAME alias.test.
        alias.test. 300 IN A 127.0.0.1
      noalias.test. A # not answered from where the provider has none
        authority ${soaOf('noalias.test')}
    `,
  }),
  tableOf({
    title: 'Delegations',
    zones: [
      platform,
      zoneIn(`
        $ORIGIN parent.test.
        sub         600 NS ns.sub
        sub         600 NS ns.elsewhere.test.
        ns.sub      600 A    192.0.2.53
        ns.sub      600 AAAA 2001:db8::53
        deep.sub        NS ns.deep.sub
        ours            NS ns.vivarium.localhost.
        www             CNAME host.sub
        *.w             CNAME host.sub
      `),
      zoneOf('ours.parent.test', 'www A 192.0.2.80'),
      zoneOf('loose.parent.test', 'www A 192.0.2.81'),
      zoneOf('loose.w.parent.test', ''),
    ],
    soa: soaOf('parent.test'),
    facts: `
      a.b.sub.parent.test. A no-aa # below a cut: a referral with glue
        ${SUB_REFERRAL}
      ns.sub.parent.test. A no-aa # glue is not an answer
        ${SUB_REFERRAL}
      x.deep.sub.parent.test. A no-aa # the highest cut counts
        ${SUB_REFERRAL}
      sub.parent.test. NS no-aa # the cut’s NS are a referral too
        ${SUB_REFERRAL}
      sub.parent.test. DS nodata # DS is the parent’s: nodata, authoritative (RFC 4035 §3.1.4.1)
      www.parent.test. A # a CNAME into the delegated part: the CNAME, and the referral
        www.parent.test. 3600 IN CNAME host.sub.parent.test.
        ${SUB_REFERRAL}
      www.ours.parent.test. A # a delegated zone that is ours answers itself
        www.ours.parent.test. 3600 IN A 192.0.2.80
      no.ours.parent.test. A NXDOMAIN # and denies itself
        authority ${soaOf('ours.parent.test')}
      ours.parent.test. DS nodata # its DS is the parent’s
      loose.parent.test. DS nodata # the parent does not deny a zone of ours that it does not delegate (RFC 8020)
      loose.w.parent.test. DS nodata # nor does its wildcard stand for it
      none.parent.test. DS NXDOMAIN # an unassigned name is denied
      parent.test. NS # the apex NS with the server’s address
        parent.test. 3600 IN NS ns.vivarium.localhost.
        additional ns.vivarium.localhost. 3600 IN A 127.0.0.1
        additional ns.vivarium.localhost. 3600 IN AAAA ::1
    `,
  }),
  tableOf({
    title: 'Types, texts and the edges of our zones',
    zones: [
      zoneIn(`
        $ORIGIN types.test.
        @       CAA   0 issue "ca.example; validationmethods=http-01"
        @       CAA   128 issuewild ";"
        txt     TXT   "one" "two; three \\"four\\" \\200"
        long    TXT   "${'a'.repeat(300)}"
        v6      AAAA  2001:DB8:0:0:0:0:0:1
        dot\\.ted A    192.0.2.3
        _sip._tcp SRV 1 2 5060 v6
        svc     HTTPS 1 v6
        svc     HTTPS 2 .
        rp      RP    Anna txt
        uri     URI   10 1 "https://www.types.test/a;b"
        cert    CERT  65280 12345 0 ( AQID
                      BAUG )
        _hash._smimecert   SMIMEA     3 1 0 ${'AB'.repeat(16)}
        hash._openpgpkey   OPENPGPKEY AQIDBAUG
        hash._openpgpkey   TYPE61     \\# 2 0708
        two     300   A 192.0.2.1
        two     60    A 192.0.2.2
        two     60    A 192.0.2.2
      `),
      zoneOf('deeper.types.test', '@ A 192.0.2.99'),
    ],
    soa: soaOf('types.test'),
    facts: `
      types.test. CAA # CAA with flags, tag and value
        types.test. 3600 IN CAA 0 issue "ca.example; validationmethods=http-01"
        types.test. 3600 IN CAA 128 issuewild ";"
      txt.types.test. TXT # strings and octets of a TXT as they are
        txt.types.test. 3600 IN TXT "one" "two; three \\"four\\" \\200"
      long.types.test. TXT # a text of more than 255 octets in several strings
        long.types.test. 3600 IN TXT "${'a'.repeat(255)}" "${'a'.repeat(45)}"
      v6.types.test. AAAA # an address in its one spelling
        v6.types.test. 3600 IN AAAA 2001:db8::1
      _sip._tcp.types.test. SRV # SRV, and its host’s address
        _sip._tcp.types.test. 3600 IN SRV 1 2 5060 v6.types.test.
        additional v6.types.test. 3600 IN AAAA 2001:db8::1
      svc.types.test. HTTPS # HTTPS, and its target’s address (RFC 9460 §4.1)
        svc.types.test. 3600 IN HTTPS 1 v6.types.test.
        svc.types.test. 3600 IN HTTPS 2 .
        additional v6.types.test. 3600 IN AAAA 2001:db8::1
      rp.types.test. RP # RP (RFC 1183)
        rp.types.test. 3600 IN RP anna.types.test. txt.types.test.
      uri.types.test. URI # URI (RFC 7553)
        uri.types.test. 3600 IN URI 10 1 "https://www.types.test/a;b"
      cert.types.test. CERT # CERT (RFC 4398)
        cert.types.test. 3600 IN CERT 65280 12345 0 AQIDBAUG
      _hash._smimecert.types.test. SMIMEA # SMIMEA (RFC 8162)
        _hash._smimecert.types.test. 3600 IN SMIMEA 3 1 0 ${'AB'.repeat(16)}
      hash._openpgpkey.types.test. OPENPGPKEY # OPENPGPKEY (RFC 7929), by name and by number
        hash._openpgpkey.types.test. 3600 IN OPENPGPKEY AQIDBAUG
        hash._openpgpkey.types.test. 3600 IN OPENPGPKEY Bwg=
      two.types.test. A # an RRset has one TTL, and each record once (RFC 2181 §5)
        two.types.test. 60 IN A 192.0.2.1
        two.types.test. 60 IN A 192.0.2.2
      TWO.Types.TEST. AAAA nodata # case does not matter
      deeper.types.test. A # the deepest zone wins
        deeper.types.test. 3600 IN A 192.0.2.99
      types.test.example. A REFUSED no-aa # outside our zones
      test. SOA REFUSED no-aa # above our zones
      . NS REFUSED no-aa # the root
      types.test. TYPE65 nodata # a type that is not stored here: nodata
      types.test. TYPE253 NOTIMP no-aa # an obsolete question about mail
    `,
  }),
];
