import { describe, expect, it } from 'vitest';
import { caaLookupOver } from '../../../../main/domains/checks/caa-lookup.ts';
import { explainCaa } from '../../../../main/model/caa/walk.ts';
import type { Zone } from '../../../../main/dns/zones/zone.ts';
import { zoneOf } from '../../../support/dns/dns-tables.ts';
import { dnsOver, LOCAL, RESOLVER, type Failures } from '../../domains/zones.ts';

/** One question to a CA: may it issue? The records are zone-file text. */
interface Fact {
  fact: string;
  /** `*.` requests a wildcard. */
  request: string;
  issuer?: string;
  method?: string;
  account?: string | null;
  verdict: 'allowed' | 'forbidden' | 'lookup_failed';
  /** `null`: no record set was found. */
  foundAt?: string | null;
  /** Parts of the last step's reason. */
  says?: string[];
  change?: string;
  /** Parts of the warnings, one each; none by default. */
  warnings?: string[];
}

interface Table {
  title: string;
  zones: Zone[];
  failures?: Failures;
  elsewhere?: true;
  facts: Fact[];
}

const X = 'letsencrypt.org';
const ACCOUNT = 'https://letsencrypt.org/acct/reg/123';

/** RFC 8659 and RFC 8657 examples by section; numbers `B…` are cases of Boulder's va/caa_test.go. */
const tables: Table[] = [
  {
    title: 'RFC 8659 §3, the relevant set',
    zones: [
      zoneOf(
        'c',
        'b CAA 0 issue "example.com"\na.b A 192.0.2.1\nx.a.b CNAME w.z.c.\nw.z A 192.0.2.1\nz CAA 0 issue "other.example"',
      ),
      zoneOf('y', '@ CAA 0 issue "tld.example"\nplain A 192.0.2.1'),
    ],
    facts: [
      {
        fact: 'A.B.C without records has those of B.C',
        request: 'A.B.C.',
        issuer: 'example.com',
        verdict: 'allowed',
        foundAt: 'b.c',
      },
      {
        fact: 'and no other CA may issue',
        request: 'a.b.c',
        verdict: 'forbidden',
        foundAt: 'b.c',
        change: 'To permit it, add this record: b.c. CAA 0 issue "letsencrypt.org"',
      },
      {
        fact: 'an alias climbs at its own parents, not at its target’s',
        request: 'x.a.b.c',
        issuer: 'example.com',
        verdict: 'allowed',
        foundAt: 'b.c',
      },
      {
        fact: 'the top-level domain is asked too',
        request: 'plain.y',
        verdict: 'forbidden',
        foundAt: 'y',
        change: 'To permit it, add this record: plain.y. CAA 0 issue "letsencrypt.org"',
      },
      {
        fact: 'a name outside every zone is unrestricted',
        request: 'www.nowhere.test',
        verdict: 'allowed',
        foundAt: null,
        says: ['test is outside Vivarium’s DNS', 'every CA may issue'],
        change: 'To forbid it, add this record: www.nowhere.test. CAA 0 issue ";"',
      },
      {
        fact: 'and so is a wildcard there',
        request: '*.nowhere.test',
        verdict: 'allowed',
        foundAt: null,
        change: 'To forbid it, add this record: nowhere.test. CAA 0 issuewild ";"',
      },
    ],
  },
  {
    title: 'CNAMEs (RFC 8659 §3, erratum 5065)',
    zones: [
      zoneOf(
        'example.test',
        `
        @      CAA   0 issue "letsencrypt.org"
        www    CNAME host.platform.test.
        one    CNAME two
        two    CNAME host.platform.test.
        bare   CNAME bare.platform.test.
        gone   CNAME nothing.platform.test.
        out    CNAME www.elsewhere.test.
        mine   CNAME le.platform.test.
        loop   CNAME loop
      `,
      ),
      zoneOf(
        'platform.test',
        `
        @     CAA 0 issue "platform.example"
        host  CAA 0 issue "other.example"
        bare  A   192.0.2.1
        le    CAA 0 issue "letsencrypt.org"
      `,
      ),
    ],
    facts: [
      {
        fact: 'the target’s records count for the name',
        request: 'www.example.test',
        verdict: 'forbidden',
        foundAt: 'host.platform.test',
        says: ['www.example.test is an alias of host.platform.test'],
        change:
          'To permit it, add this record: host.platform.test. CAA 0 issue "letsencrypt.org" – or, where host.platform.test is not yours, remove the CNAME from www.example.test to it',
      },
      {
        fact: 'over two CNAMEs',
        request: 'one.example.test',
        issuer: 'other.example',
        verdict: 'allowed',
        foundAt: 'host.platform.test',
      },
      {
        fact: 'a target that permits is enough',
        request: 'mine.example.test',
        verdict: 'allowed',
        foundAt: 'le.platform.test',
        change: 'To forbid it, set the value to ";" in le.platform.test. CAA 0 issue "letsencrypt.org"',
      },
      {
        fact: 'a target without records: the name’s own parent is next',
        request: 'bare.example.test',
        verdict: 'allowed',
        foundAt: 'example.test',
      },
      {
        fact: 'never the target’s parent',
        request: 'bare.example.test',
        issuer: 'platform.example',
        verdict: 'forbidden',
        foundAt: 'example.test',
      },
      {
        fact: 'a target that does not exist has no records',
        request: 'gone.example.test',
        verdict: 'allowed',
        foundAt: 'example.test',
      },
      { fact: 'nor has one outside our DNS', request: 'out.example.test', verdict: 'allowed', foundAt: 'example.test' },
      {
        fact: 'a loop is an error, and hides what is above',
        request: 'loop.example.test',
        verdict: 'lookup_failed',
        foundAt: null,
        says: ['loop of CNAMEs'],
      },
    ],
  },
  {
    title: 'RFC 8659 §4.1 and §4.5, flags and unknown properties',
    zones: [
      zoneOf(
        'com',
        `
        new.example         CAA 0   issue "ca1.example.net"
        new.example         CAA 128 tbs "Unknown"
        unknown-critical    CAA 128 foo "bar"
        unknown-critical2   CAA 1   foo "bar"
        critical129         CAA 129 foo "bar"
        unknown-noncritical CAA 126 foo "bar"
        zero                CAA 0   foo "bar"
        issue-critical      CAA 128 issue "letsencrypt.org"
        iodef-critical      CAA 128 iodef "mailto:a@example.com"
        mail-critical       CAA 128 issuemail "other.example"
        both                CAA 0   issue "letsencrypt.org"
        both                CAA 1   foo "bar"
        ncrit               CAA 1   issue "ca.com"
        multi-crit-present  CAA 1   issue "ca.com"
        multi-crit-present  CAA 1   issue "letsencrypt.org"
      `,
      ),
    ],
    facts: [
      {
        fact: '§4.5: an unknown critical property forbids every issuance',
        request: 'new.example.com',
        issuer: 'ca1.example.net',
        verdict: 'forbidden',
        says: ['128 tbs "Unknown"', 'no CA may issue'],
        change: 'To permit it, remove new.example.com. CAA 128 tbs "Unknown", or set its flags to 0',
      },
      {
        fact: 'and for another CA two changes are due',
        request: 'new.example.com',
        verdict: 'forbidden',
        change:
          'To permit it, remove new.example.com. CAA 128 tbs "Unknown", or set its flags to 0; and add this record: new.example.com. CAA 0 issue "letsencrypt.org"',
      },
      {
        fact: 'alone in its set',
        request: 'unknown-critical.com',
        verdict: 'forbidden',
        foundAt: 'unknown-critical.com',
        change: 'To permit it, set the flags to 0 in unknown-critical.com. CAA 128 foo "bar"',
      },
      { fact: 'also for a wildcard', request: '*.unknown-critical.com', verdict: 'forbidden' },
      { fact: 'and below', request: 'nx.unknown-critical.com', verdict: 'forbidden', foundAt: 'unknown-critical.com' },
      { fact: 'whatever other bits are set', request: 'critical129.com', verdict: 'forbidden' },
      {
        fact: 'B unknown-critical2.com: bit value 1 is the critical flag to Let’s Encrypt',
        request: 'unknown-critical2.com',
        verdict: 'forbidden',
        says: ['has the flags 1, which Let’s Encrypt treats as critical', 'it does not issue'],
        change: 'To permit it, set the flags to 0 in unknown-critical2.com. CAA 1 foo "bar"',
      },
      {
        fact: 'and to no other CA',
        request: 'unknown-critical2.com',
        issuer: 'ca.com',
        verdict: 'allowed',
        warnings: ['treats 1 as critical'],
      },
      {
        fact: 'beside a record that authorises as well',
        request: 'both.com',
        verdict: 'forbidden',
        change: 'To permit it, remove both.com. CAA 1 foo "bar", or set its flags to 0',
      },
      {
        fact: 'all bits that mean nothing to anybody',
        request: 'unknown-noncritical.com',
        verdict: 'allowed',
        foundAt: 'unknown-noncritical.com',
      },
      {
        fact: 'an unknown property that is not critical is ignored',
        request: 'zero.com',
        verdict: 'allowed',
        change: 'To forbid it, add this record: zero.com. CAA 0 issue ";"',
      },
      { fact: 'a known property may be critical', request: 'issue-critical.com', verdict: 'allowed' },
      { fact: 'iodef too', request: 'iodef-critical.com', verdict: 'allowed' },
      { fact: 'issuemail too, and it is about mail', request: 'mail-critical.com', verdict: 'allowed' },
      {
        fact: 'B critical.com: the flag does not change what issue says',
        request: 'ncrit.com',
        verdict: 'forbidden',
        foundAt: 'ncrit.com',
      },
      { fact: 'B nx.critical.com', request: 'nx.ncrit.com', verdict: 'forbidden', foundAt: 'ncrit.com' },
      { fact: 'B multi-crit-present.com', request: 'multi-crit-present.com', verdict: 'allowed' },
    ],
  },
  {
    title: 'RFC 8659 §4.2, issue',
    zones: [
      zoneOf(
        'com',
        `
        certs.example        CAA 0 issue "ca1.example.net"
        certs.example        CAA 0 issue "ca2.example.org"
        nocerts.example      CAA 0 issue ";"
        account.example      CAA 0 issue "ca1.example.net; account=230123"
        malformed.example    CAA 0 issue "%%%%%"
        reserved             CAA 0 issue "ca.com"
        mixedcase            CAA 0 iSsUe "ca.com"
        present              CAA 0 issue "letsencrypt.org"
        empty                CAA 0 issue ""
        blank                CAA 0 issue "  "
        semi                 CAA 0 issue " ; "
        nobodybut            CAA 0 issue ";"
        nobodybut            CAA 0 issue "letsencrypt.org"
        iodef                CAA 0 iodef "mailto:security@example.com"
        iodef.present        A     192.0.2.1
        upper                CAA 0 issue "LetsEncrypt.org"
        upper-other CAA 0 issue "CA.com"
        twice                CAA 0 issue "LetsEncrypt.org"
        twice                CAA 0 issue "letsencrypt.org"
        dot                  CAA 0 issue "letsencrypt.org."
        sub                  CAA 0 issue "ca.letsencrypt.org"
        example              CAA 0 issue "example.net"
      `,
      ),
    ],
    facts: [
      {
        fact: 'B absent.com: no records up to the top',
        request: 'absent.com',
        verdict: 'allowed',
        foundAt: null,
        says: ['com has no CAA records', 'every CA may issue'],
      },
      {
        fact: 'B reserved.com',
        request: 'reserved.com',
        verdict: 'forbidden',
        foundAt: 'reserved.com',
        says: ['The record reserved.com. CAA 0 issue "ca.com" authorises ca.com only'],
      },
      {
        fact: 'B mixedcase.com: tags have no case',
        request: 'mixedcase.com',
        verdict: 'forbidden',
        foundAt: 'mixedcase.com',
      },
      { fact: 'B present.com', request: 'present.com', verdict: 'allowed', foundAt: 'present.com' },
      { fact: 'B child.present.com', request: 'child.present.com', verdict: 'allowed', foundAt: 'present.com' },
      {
        fact: 'B not.here.but.still.present.com',
        request: 'not.here.but.still.present.com',
        verdict: 'allowed',
        foundAt: 'present.com',
      },
      {
        fact: 'an empty name on the way is no end',
        request: 'iodef.present.com',
        verdict: 'allowed',
        foundAt: 'present.com',
      },
      {
        fact: '§4.2: the first of two CAs',
        request: 'certs.example.com',
        issuer: 'ca1.example.net',
        verdict: 'allowed',
        change: 'To forbid it, remove certs.example.com. CAA 0 issue "ca1.example.net"',
      },
      {
        fact: '§4.2: the second of two CAs',
        request: 'certs.example.com',
        issuer: 'ca2.example.org',
        verdict: 'allowed',
      },
      {
        fact: '§4.2: no third',
        request: 'certs.example.com',
        issuer: 'ca3.example',
        verdict: 'forbidden',
        says: ['ca1.example.net only', 'ca2.example.org only', 'No record authorises ca3.example'],
      },
      {
        fact: '§4.2: ";" is no CA',
        request: 'nocerts.example.com',
        verdict: 'forbidden',
        says: ['authorises no CA: it names none'],
      },
      {
        fact: '§4.2: unknown parameters do not matter',
        request: 'account.example.com',
        issuer: 'ca1.example.net',
        verdict: 'allowed',
      },
      {
        fact: '§4.2: a malformed value is no CA, and still a record',
        request: 'malformed.example.com',
        verdict: 'forbidden',
        foundAt: 'malformed.example.com',
        says: ['malformed', '"%%%%%"'],
      },
      { fact: '""', request: 'empty.com', verdict: 'forbidden', says: ['it names none'] },
      { fact: '"  "', request: 'blank.com', verdict: 'forbidden', says: ['it names none'] },
      { fact: '" ; "', request: 'semi.com', verdict: 'forbidden', says: ['it names none'] },
      {
        fact: 'records add up, so ";" beside a CA takes nothing away',
        request: 'nobodybut.com',
        verdict: 'allowed',
        change: 'To forbid it, remove nobodybut.com. CAA 0 issue "letsencrypt.org"',
      },
      {
        fact: '§4.4: only iodef ends the search and permits',
        request: 'iodef.com',
        verdict: 'allowed',
        foundAt: 'iodef.com',
        says: ['none of them restricts'],
      },
      {
        fact: 'issuers have their case to Let’s Encrypt',
        request: 'upper.com',
        verdict: 'forbidden',
        says: ['spells it "LetsEncrypt.org", while Let’s Encrypt compares it letter by letter'],
        change: 'To permit it, in upper.com. CAA 0 issue "LetsEncrypt.org" write letsencrypt.org in lower case',
      },
      {
        fact: 'and none to another CA',
        request: 'upper-other.com',
        issuer: 'ca.com',
        verdict: 'allowed',
        warnings: ['"CA.com" is not in lower case'],
      },
      { fact: 'beside the same in lower case there is nothing to warn of', request: 'twice.com', verdict: 'allowed' },
      {
        fact: 'the issuer asked about may be in any case too',
        request: 'present.com',
        issuer: 'LETSENCRYPT.ORG',
        verdict: 'allowed',
      },
      {
        fact: 'a trailing dot is malformed',
        request: 'dot.com',
        verdict: 'forbidden',
        says: ['must not end with a dot'],
      },
      { fact: 'a CA’s subdomain is another CA', request: 'sub.com', verdict: 'forbidden' },
    ],
  },
  {
    title: 'RFC 8659 §4.3, issuewild',
    zones: [
      zoneOf(
        'com',
        `
        wild.example                  CAA 0 issue "ca1.example.net"
        wild.example                  CAA 0 issuewild "ca2.example.org"
        wild2.example                 CAA 0 issue "ca1.example.net"
        wild3.example                 CAA 0 issuewild "ca2.example.org"
        wild3.example                 CAA 0 iodef "mailto:a@example.com"
        unsatisfiable                 CAA 0 issue ";"
        unsatisfiable-wildcard        CAA 0 issuewild ";"
        unsatisfiable-override        CAA 0 issue "letsencrypt.org"
        unsatisfiable-override        CAA 0 issuewild "ca.com"
        satisfiable-override          CAA 0 issue "ca.com"
        satisfiable-override          CAA 0 issuewild "letsencrypt.org"
        satisfiable-multi             CAA 0 issuewild "ca.com"
        satisfiable-multi             CAA 0 issuewild "letsencrypt.org"
        satisfiable                   CAA 0 IssueWild "letsencrypt.org"
        malformed-wild                CAA 0 issue "letsencrypt.org"
        malformed-wild                CAA 0 issuewild "%%%"
      `,
      ),
    ],
    facts: [
      { fact: '§4.3: issue for the name', request: 'wild.example.com', issuer: 'ca1.example.net', verdict: 'allowed' },
      {
        fact: '§4.3: issuewild is nothing to the name',
        request: 'wild.example.com',
        issuer: 'ca2.example.org',
        verdict: 'forbidden',
      },
      {
        fact: '§4.3: and nothing to names below',
        request: 'sub.wild.example.com',
        issuer: 'ca1.example.net',
        verdict: 'allowed',
        foundAt: 'wild.example.com',
      },
      {
        fact: '§4.3: issuewild for the wildcard',
        request: '*.wild.example.com',
        issuer: 'ca2.example.org',
        verdict: 'allowed',
      },
      {
        fact: '§4.3: issue is nothing to it then',
        request: '*.wild.example.com',
        issuer: 'ca1.example.net',
        verdict: 'forbidden',
        says: ['issuewild replaces every issue'],
        change: 'To permit it, add this record: wild.example.com. CAA 0 issuewild "ca1.example.net"',
      },
      {
        fact: '§4.3: nor to a wildcard below',
        request: '*.sub.wild.example.com',
        issuer: 'ca2.example.org',
        verdict: 'allowed',
        foundAt: 'wild.example.com',
      },
      {
        fact: '§4.3: without issuewild, issue governs wildcards',
        request: '*.wild2.example.com',
        issuer: 'ca1.example.net',
        verdict: 'allowed',
        change: 'To forbid it, add this record: wild2.example.com. CAA 0 issuewild ";"',
      },
      {
        fact: 'and forbids others',
        request: '*.wild2.example.com',
        verdict: 'forbidden',
        says: ['issue governs wildcards too'],
        change: 'To permit it, add this record: wild2.example.com. CAA 0 issuewild "letsencrypt.org"',
      },
      {
        fact: '§4.3: issuewild alone leaves other names unrestricted',
        request: 'wild3.example.com',
        issuer: 'ca3.example',
        verdict: 'allowed',
        foundAt: 'wild3.example.com',
        says: ['a name that is no wildcard'],
      },
      {
        fact: '§4.3: and restricts wildcards',
        request: '*.wild3.example.com',
        issuer: 'ca3.example',
        verdict: 'forbidden',
      },
      { fact: 'B *.unsatisfiable.com', request: '*.unsatisfiable.com', verdict: 'forbidden' },
      { fact: 'B *.unsatisfiable-wildcard.com', request: '*.unsatisfiable-wildcard.com', verdict: 'forbidden' },
      {
        fact: 'B *.unsatisfiable-wildcard-override.com',
        request: '*.unsatisfiable-override.com',
        verdict: 'forbidden',
      },
      {
        fact: 'B *.satisfiable-wildcard-override.com',
        request: '*.satisfiable-override.com',
        verdict: 'allowed',
        change: 'To forbid it, set the value to ";" in satisfiable-override.com. CAA 0 issuewild "letsencrypt.org"',
      },
      { fact: 'B *.satisfiable-multi-wildcard.com', request: '*.satisfiable-multi.com', verdict: 'allowed' },
      { fact: 'B *.satisfiable-wildcard.com', request: '*.satisfiable.com', verdict: 'allowed' },
      { fact: 'a malformed issuewild still replaces issue', request: '*.malformed-wild.com', verdict: 'forbidden' },
      { fact: 'and is nothing to the name', request: 'malformed-wild.com', verdict: 'allowed' },
    ],
  },
  {
    title: 'RFC 8657, account and method',
    zones: [
      zoneOf(
        'com',
        `
        dns-only      CAA 0 issue "letsencrypt.org; validationmethods=dns-01"
        http-only     CAA 0 issue "letsencrypt.org; validationmethods=http-01"
        http-or-dns   CAA 0 issue "letsencrypt.org; validationmethods=http-01,dns-01"
        account       CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/123"
        other         CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/321"
        two-records   CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/321"
        two-records   CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/123"
        both          CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/123; validationmethods=http-01"
        both-dns      CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/123; validationmethods=dns-01"
        both-other    CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/321; validationmethods=http-01"
        neither       CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/321; validationmethods=dns-01"
        repeated      CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/123; accounturi=https://letsencrypt.org/acct/reg/123"
        repeated-m    CAA 0 issue "letsencrypt.org; validationmethods=http-01; validationmethods=http-01"
        repeated-foo  CAA 0 issue "letsencrypt.org; foo=a; foo=b"
        no-method     CAA 0 issue "letsencrypt.org; validationmethods="
        bad-method    CAA 0 issue "letsencrypt.org; validationmethods=http-01,d_ns"
        gap-method    CAA 0 issue "letsencrypt.org; validationmethods=http-01,,dns-01"
        upper-method  CAA 0 issue "letsencrypt.org; validationmethods=HTTP-01"
        ca-method     CAA 0 issue "letsencrypt.org; validationmethods=ca-custom"
        near-method   CAA 0 issue "letsencrypt.org; validationmethods=http-011,xhttp-01"
        no-account    CAA 0 issue "letsencrypt.org; accounturi="
        upper-tag     CAA 0 issue "letsencrypt.org; AccountURI=https://letsencrypt.org/acct/reg/321"
        upper-tag-ok  CAA 0 issue "letsencrypt.org; ValidationMethods=http-01"
        hyphen        CAA 0 issue "letsencrypt.org; a-b=1"
        hyphen-other  CAA 0 issue "ca.com; a-b=1"
        upper-tag-other CAA 0 issue "ca.com; AccountURI=https://letsencrypt.org/acct/reg/321"
        with-unknown  CAA 0 issue "  letsencrypt.org  ;foo=bar;baz=bar"
        invalid-tag   CAA 0 issue "letsencrypt.org; a_b=123"
        invalid-value CAA 0 issue "letsencrypt.org; ab=1 2 3"
        trailing      CAA 0 issue "letsencrypt.org;"
        trailing-p    CAA 0 issue "letsencrypt.org; foo=bar;"
        wild          CAA 0 issuewild "letsencrypt.org; validationmethods=dns-01"
      `,
      ),
    ],
    facts: [
      {
        fact: 'B present-dns-only.com',
        request: 'dns-only.com',
        verdict: 'forbidden',
        says: ['allows validation by dns-01, while this request was validated by http-01'],
        change:
          'To permit it, in dns-only.com. CAA 0 issue "letsencrypt.org; validationmethods=dns-01" add http-01 to validationmethods, or remove validationmethods',
      },
      { fact: 'by the other method', request: 'dns-only.com', method: 'dns-01', verdict: 'allowed' },
      { fact: 'B present-http-only.com', request: 'http-only.com', verdict: 'allowed' },
      { fact: 'B present-http-or-dns.com', request: 'http-or-dns.com', verdict: 'allowed' },
      { fact: 'B present-correct-accounturi.com', request: 'account.com', verdict: 'allowed' },
      {
        fact: 'a request without account',
        request: 'account.com',
        account: null,
        verdict: 'forbidden',
        says: ['comes from no account'],
        change:
          'To permit it, in account.com. CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/123" remove accounturi',
      },
      {
        fact: 'B present-incorrect-accounturi.com',
        request: 'other.com',
        verdict: 'forbidden',
        says: ['restricts it to the account https://letsencrypt.org/acct/reg/321'],
      },
      { fact: 'B present-multiple-accounturi.com: in two records', request: 'two-records.com', verdict: 'allowed' },
      { fact: 'B present-http-only-correct-accounturi.com', request: 'both.com', verdict: 'allowed' },
      { fact: 'B present-dns-only-correct-accounturi.com', request: 'both-dns.com', verdict: 'forbidden' },
      { fact: 'B present-http-only-incorrect-accounturi.com', request: 'both-other.com', verdict: 'forbidden' },
      {
        fact: 'neither condition is met',
        request: 'neither.com',
        verdict: 'forbidden',
        says: ['https://letsencrypt.org/acct/reg/321', '; and allows validation by dns-01'],
      },
      {
        fact: '§3: accounturi twice, even equal, matches no request',
        request: 'repeated.com',
        verdict: 'forbidden',
        says: ['accounturi more than once'],
      },
      {
        fact: 'validationmethods twice too',
        request: 'repeated-m.com',
        verdict: 'forbidden',
        says: ['validationmethods more than once'],
        change:
          'To permit it, in repeated-m.com. CAA 0 issue "letsencrypt.org; validationmethods=http-01; validationmethods=http-01" keep one validationmethods, with http-01 in it',
      },
      { fact: 'an unknown parameter twice is still unknown', request: 'repeated-foo.com', verdict: 'allowed' },
      {
        fact: '§4: an empty list is no method',
        request: 'no-method.com',
        verdict: 'forbidden',
        says: ['no validation method at all'],
      },
      { fact: '§4: a malformed label', request: 'bad-method.com', verdict: 'forbidden', says: ['malformed at "d_ns"'] },
      { fact: '§4: a missing label', request: 'gap-method.com', verdict: 'forbidden', says: ['malformed at ""'] },
      { fact: 'a label that only contains the method', request: 'near-method.com', verdict: 'forbidden' },
      {
        fact: 'labels have their case',
        request: 'upper-method.com',
        verdict: 'forbidden',
        says: ['compared as they are written'],
      },
      { fact: '§4: a method of the CA’s own', request: 'ca-method.com', method: 'ca-custom', verdict: 'allowed' },
      { fact: 'an empty account is no account', request: 'no-account.com', verdict: 'forbidden' },
      {
        fact: 'a restriction in capitals is none to Let’s Encrypt',
        request: 'upper-tag.com',
        verdict: 'allowed',
        warnings: ['ignores the parameter "AccountURI" in this spelling'],
      },
      {
        fact: 'and is one to another CA',
        request: 'upper-tag-other.com',
        issuer: 'ca.com',
        verdict: 'forbidden',
        warnings: ['"AccountURI" counts as accounturi'],
      },
      {
        fact: 'and a met one is reported too',
        request: 'upper-tag-ok.com',
        verdict: 'allowed',
        warnings: ['ignores the parameter "ValidationMethods"'],
      },
      {
        fact: 'B present-with-invalid-tag: a hyphen in a parameter is malformed to Let’s Encrypt',
        request: 'hyphen.com',
        verdict: 'forbidden',
        says: ['treats a value as malformed if a parameter has a hyphen: "a-b"'],
      },
      {
        fact: 'and right to another CA',
        request: 'hyphen-other.com',
        issuer: 'ca.com',
        verdict: 'allowed',
        warnings: ['"a-b" has a hyphen'],
      },
      {
        fact: 'B present-with-parameter.com: blanks around the parts',
        request: 'with-unknown.com',
        verdict: 'allowed',
      },
      {
        fact: 'B present-with-invalid-tag.com',
        request: 'invalid-tag.com',
        verdict: 'forbidden',
        says: ['"a_b" is not a parameter’s name'],
      },
      {
        fact: 'B present-with-invalid-value.com',
        request: 'invalid-value.com',
        verdict: 'forbidden',
        says: ['the value of "ab" contains a space'],
      },
      { fact: 'a semicolon after the issuer', request: 'trailing.com', verdict: 'allowed' },
      {
        fact: 'but not after a parameter',
        request: 'trailing-p.com',
        verdict: 'forbidden',
        says: ['a semicolon has no parameter after it'],
      },
      { fact: 'conditions of issuewild', request: '*.wild.com', verdict: 'forbidden' },
      { fact: 'and by the right method', request: '*.wild.com', method: 'dns-01', verdict: 'allowed' },
    ],
  },
  {
    title: 'RFC 8659 §3 and §6, errors',
    zones: [
      zoneOf(
        'com',
        'present CAA 0 issue "letsencrypt.org"\npresent.servfail CAA 0 issue "letsencrypt.org"\nplain A 192.0.2.1',
      ),
    ],
    failures: {
      'servfail.com': 'SERVFAIL',
      'caa-timeout.com': 'timeout',
      'formerr.com': 'FORMERR',
      'lost.com': 'unreachable',
      'garbage.com': 'malformed',
    },
    facts: [
      {
        fact: 'B caa-timeout.com',
        request: 'caa-timeout.com',
        verdict: 'lookup_failed',
        foundAt: null,
        says: ['not answered in time', 'could be hidden'],
        change:
          'Check that the resolver in the settings is running and reachable. If it is, make the name servers of caa-timeout.com answer the question for CAA; an answer without records is enough',
      },
      {
        fact: 'B present.servfail.com: found before the error',
        request: 'present.servfail.com',
        verdict: 'allowed',
        foundAt: 'present.servfail.com',
      },
      {
        fact: 'an error above an empty name',
        request: 'www.servfail.com',
        verdict: 'lookup_failed',
        change:
          'Make the name servers of servfail.com answer the question for CAA; an answer without records is enough. Or end the search before it, with this record: www.servfail.com. CAA 0 issue "letsencrypt.org"',
      },
      { fact: 'another error code', request: 'formerr.com', verdict: 'lookup_failed', says: ['FORMERR'] },
      { fact: 'no way to the resolver', request: 'lost.com', verdict: 'lookup_failed' },
      { fact: 'an answer that cannot be read', request: 'garbage.com', verdict: 'lookup_failed' },
    ],
  },
  {
    title: 'Another resolver',
    zones: [zoneOf('com', 'plain A 192.0.2.1')],
    elsewhere: true,
    facts: [
      { fact: 'its REFUSED is an error', request: 'www.example.test', verdict: 'lookup_failed', says: ['REFUSED'] },
      { fact: 'its empty answers are empty', request: 'plain.com', verdict: 'allowed' },
    ],
  },
];

for (const { title, zones, failures, elsewhere, facts } of tables) {
  describe(title, () => {
    const lookup = caaLookupOver(dnsOver(zones, failures, elsewhere ? RESOLVER : LOCAL));
    for (const fact of facts) {
      it(`${fact.request}, ${fact.issuer ?? X}: ${fact.fact}`, async () => {
        const found = await explainCaa({
          hostname: fact.request,
          issuer: fact.issuer ?? X,
          method: fact.method ?? 'http-01',
          accountUri: fact.account === undefined ? ACCOUNT : fact.account,
          lookup,
        });
        expect(found.verdict, found.message).toBe(fact.verdict);
        if (fact.foundAt !== undefined) expect(found.foundAt ?? null).toBe(fact.foundAt);
        for (const part of fact.says ?? []) expect(found.message).toContain(part);
        if (fact.change !== undefined) expect(found.change).toBe(fact.change);
        expect(found.warnings).toEqual((fact.warnings ?? []).map((part) => expect.stringContaining(part) as unknown));
      });
    }
  });
}
