import { describe, expect, it } from 'vitest';
import { caaLookupOver } from '../../../../main/domains/checks/resolution.ts';
import { explainCaa } from '../../../../main/model/caa/walk.ts';
import type { Zone } from '../../../../main/dns/zones/zone.ts';
import { zoneOf } from '../../../support/dns/dns-tables.ts';
import { dnsOver, LOCAL, RESOLVER, type Failures } from '../../domains/zones.ts';

/** One question to a CA: may it issue? The records are zone-file text. */
interface Fact {
  fact: string;
  /** `*.` requests a wildcard. */
  request: string;
  issuer: string | undefined;
  method: string | undefined;
  account?: null;
  verdict: string;
  /** `null`: no record set was found. */
  foundAt?: string | null;
  /** Parts of the last step's reason. */
  says: string[];
  change?: string;
  /** Parts of the warnings, one each. */
  warnings: string[];
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

const HEAD =
  /^(allowed|forbidden|lookup_failed) (\S+)(?: by (\S+))?(?: over (\S+))?( for nobody)?(?: at (\S+))? # (.+)$/;

/**
 * Facts as text: `VERDICT REQUEST [by ISSUER] [over METHOD] [for nobody] [at FOUND, or at nothing] # FACT`, and below
 * each what the answer says, the change that it proposes, and its warnings.
 */
function factsOf(text: string): Fact[] {
  const facts: Fact[] = [];
  for (const line of text.split('\n').flatMap((each) => each.trim() || [])) {
    const [, verdict, request = '', issuer, method, nobody, foundAt, fact = ''] = HEAD.exec(line) ?? [];
    const [, word, rest = ''] = /^(says|change|warning) (.+)$/.exec(line) ?? [];
    const current = facts.at(-1);
    if (verdict !== undefined) {
      facts.push({
        ...{ fact, request, issuer, method, verdict, says: [], warnings: [] },
        ...(nobody !== undefined && { account: null }),
        ...(foundAt !== undefined && { foundAt: foundAt === 'nothing' ? null : foundAt }),
      });
    } else if (word === 'change' && current !== undefined) current.change = rest;
    else if (word === 'says') current?.says.push(rest);
    else if (word === 'warning') current?.warnings.push(rest);
    else throw new Error(`Not a fact: ${line}`);
  }
  return facts;
}

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
    facts: factsOf(`
      allowed A.B.C. by example.com at b.c # A.B.C without records has those of B.C
      forbidden a.b.c at b.c # and no other CA may issue
        change To permit it, add this record: b.c. CAA 0 issue "letsencrypt.org"
      allowed x.a.b.c by example.com at b.c # an alias climbs at its own parents, not at its target’s
      forbidden plain.y at y # the top-level domain is asked too
        change To permit it, add this record: plain.y. CAA 0 issue "letsencrypt.org"
      allowed www.nowhere.test at nothing # a name outside every zone is unrestricted
        says test is outside Vivarium’s DNS
        says every CA may issue
        change To forbid it, add this record: www.nowhere.test. CAA 0 issue ";"
      allowed *.nowhere.test at nothing # and so is a wildcard there
        change To forbid it, add this record: nowhere.test. CAA 0 issuewild ";"
    `),
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
    facts: factsOf(`
      forbidden www.example.test at host.platform.test # the target’s records count for the name
        says www.example.test is an alias of host.platform.test
        change To permit it, add this record: host.platform.test. CAA 0 issue "letsencrypt.org" – or, where host.platform.test is not yours, remove the CNAME from www.example.test to it
      allowed one.example.test by other.example at host.platform.test # over two CNAMEs
      allowed mine.example.test at le.platform.test # a target that permits is enough
        change To forbid it, set the value to ";" in le.platform.test. CAA 0 issue "letsencrypt.org"
      allowed bare.example.test at example.test # a target without records: the name’s own parent is next
      forbidden bare.example.test by platform.example at example.test # never the target’s parent
      allowed gone.example.test at example.test # a target that does not exist has no records
      allowed out.example.test at example.test # nor has one outside our DNS
      lookup_failed loop.example.test at nothing # a loop is an error, and hides what is above
        says loop of CNAMEs
    `),
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
    facts: factsOf(`
      forbidden new.example.com by ca1.example.net # §4.5: an unknown critical property forbids every issuance
        says 128 tbs "Unknown"
        says no CA may issue
        change To permit it, remove new.example.com. CAA 128 tbs "Unknown", or set its flags to 0
      forbidden new.example.com # and for another CA two changes are due
        change To permit it, remove new.example.com. CAA 128 tbs "Unknown", or set its flags to 0; and add this record: new.example.com. CAA 0 issue "letsencrypt.org"
      forbidden unknown-critical.com at unknown-critical.com # alone in its set
        change To permit it, set the flags to 0 in unknown-critical.com. CAA 128 foo "bar"
      forbidden *.unknown-critical.com # also for a wildcard
      forbidden nx.unknown-critical.com at unknown-critical.com # and below
      forbidden critical129.com # whatever other bits are set
      forbidden unknown-critical2.com # B unknown-critical2.com: bit value 1 is the critical flag to Let’s Encrypt
        says has the flags 1, which Let’s Encrypt treats as critical
        says it does not issue
        change To permit it, set the flags to 0 in unknown-critical2.com. CAA 1 foo "bar"
      allowed unknown-critical2.com by ca.com # and to no other CA
        warning treats 1 as critical
      forbidden both.com # beside a record that authorises as well
        change To permit it, remove both.com. CAA 1 foo "bar", or set its flags to 0
      allowed unknown-noncritical.com at unknown-noncritical.com # all bits that mean nothing to anybody
      allowed zero.com # an unknown property that is not critical is ignored
        change To forbid it, add this record: zero.com. CAA 0 issue ";"
      allowed issue-critical.com # a known property may be critical
      allowed iodef-critical.com # iodef too
      allowed mail-critical.com # issuemail too, and it is about mail
      forbidden ncrit.com at ncrit.com # B critical.com: the flag does not change what issue says
      forbidden nx.ncrit.com at ncrit.com # B nx.critical.com
      allowed multi-crit-present.com # B multi-crit-present.com
    `),
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
    facts: factsOf(`
      allowed absent.com at nothing # B absent.com: no records up to the top
        says com has no CAA records
        says every CA may issue
      forbidden reserved.com at reserved.com # B reserved.com
        says The record reserved.com. CAA 0 issue "ca.com" authorises ca.com only
      forbidden mixedcase.com at mixedcase.com # B mixedcase.com: tags have no case
      allowed present.com at present.com # B present.com
      allowed child.present.com at present.com # B child.present.com
      allowed not.here.but.still.present.com at present.com # B not.here.but.still.present.com
      allowed iodef.present.com at present.com # an empty name on the way is no end
      allowed certs.example.com by ca1.example.net # §4.2: the first of two CAs
        change To forbid it, remove certs.example.com. CAA 0 issue "ca1.example.net"
      forbidden certs.example.com by ca3.example # §4.2: no third
        says ca1.example.net only
        says ca2.example.org only
        says No record authorises ca3.example
      forbidden nocerts.example.com # §4.2: ";" is no CA
        says authorises no CA: it names none
      forbidden malformed.example.com at malformed.example.com # §4.2: a malformed value is no CA, and still a record
        says malformed
        says "%%%%%"
      forbidden empty.com # ""
        says it names none
      forbidden blank.com # "  "
        says it names none
      forbidden semi.com # " ; "
        says it names none
      allowed nobodybut.com # records add up, so ";" beside a CA takes nothing away
        change To forbid it, remove nobodybut.com. CAA 0 issue "letsencrypt.org"
      allowed iodef.com at iodef.com # §4.4: only iodef ends the search and permits
        says none of them restricts
      forbidden upper.com # issuers have their case to Let’s Encrypt
        says spells it "LetsEncrypt.org", while Let’s Encrypt compares it letter by letter
        change To permit it, in upper.com. CAA 0 issue "LetsEncrypt.org" write letsencrypt.org in lower case
      allowed upper-other.com by ca.com # and none to another CA
        warning "CA.com" is not in lower case
      allowed twice.com # beside the same in lower case there is nothing to warn of
      allowed present.com by LETSENCRYPT.ORG # the issuer asked about may be in any case too
      forbidden dot.com # a trailing dot is malformed
        says must not end with a dot
      forbidden sub.com # a CA’s subdomain is another CA
    `),
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
    facts: factsOf(`
      forbidden *.wild.example.com by ca1.example.net # §4.3: issue is nothing to it then
        says issuewild replaces every issue
        change To permit it, add this record: wild.example.com. CAA 0 issuewild "ca1.example.net"
      allowed *.wild2.example.com by ca1.example.net # §4.3: without issuewild, issue governs wildcards
        change To forbid it, add this record: wild2.example.com. CAA 0 issuewild ";"
      forbidden *.wild2.example.com # and forbids others
        says issue governs wildcards too
        change To permit it, add this record: wild2.example.com. CAA 0 issuewild "letsencrypt.org"
      allowed wild3.example.com by ca3.example at wild3.example.com # §4.3: issuewild alone leaves other names unrestricted
        says a name that is no wildcard
      forbidden *.unsatisfiable.com # B *.unsatisfiable.com
      forbidden *.unsatisfiable-wildcard.com # B *.unsatisfiable-wildcard.com
      forbidden *.unsatisfiable-override.com # B *.unsatisfiable-wildcard-override.com
      allowed *.satisfiable-override.com # B *.satisfiable-wildcard-override.com
        change To forbid it, set the value to ";" in satisfiable-override.com. CAA 0 issuewild "letsencrypt.org"
      allowed *.satisfiable-multi.com # B *.satisfiable-multi-wildcard.com
      allowed *.satisfiable.com # B *.satisfiable-wildcard.com
      forbidden *.malformed-wild.com # a malformed issuewild still replaces issue
      allowed malformed-wild.com # and is nothing to the name
    `),
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
    facts: factsOf(`
      forbidden dns-only.com # B present-dns-only.com
        says allows validation by dns-01, while this request was validated by http-01
        change To permit it, in dns-only.com. CAA 0 issue "letsencrypt.org; validationmethods=dns-01" add http-01 to validationmethods, or remove validationmethods
      allowed dns-only.com over dns-01 # by the other method
      allowed http-only.com # B present-http-only.com
      allowed http-or-dns.com # B present-http-or-dns.com
      allowed account.com # B present-correct-accounturi.com
      forbidden account.com for nobody # a request without account
        says comes from no account
        change To permit it, in account.com. CAA 0 issue "letsencrypt.org; accounturi=https://letsencrypt.org/acct/reg/123" remove accounturi
      forbidden other.com # B present-incorrect-accounturi.com
        says restricts it to the account https://letsencrypt.org/acct/reg/321
      allowed two-records.com # B present-multiple-accounturi.com: in two records
      allowed both.com # B present-http-only-correct-accounturi.com
      forbidden both-dns.com # B present-dns-only-correct-accounturi.com
      forbidden both-other.com # B present-http-only-incorrect-accounturi.com
      forbidden neither.com # neither condition is met
        says https://letsencrypt.org/acct/reg/321
        says ; and allows validation by dns-01
      forbidden repeated.com # §3: accounturi twice, even equal, matches no request
        says accounturi more than once
      forbidden repeated-m.com # validationmethods twice too
        says validationmethods more than once
        change To permit it, in repeated-m.com. CAA 0 issue "letsencrypt.org; validationmethods=http-01; validationmethods=http-01" keep one validationmethods, with http-01 in it
      allowed repeated-foo.com # an unknown parameter twice is still unknown
      forbidden no-method.com # §4: an empty list is no method
        says no validation method at all
      forbidden bad-method.com # §4: a malformed label
        says malformed at "d_ns"
      forbidden gap-method.com # §4: a missing label
        says malformed at ""
      forbidden near-method.com # a label that only contains the method
      forbidden upper-method.com # labels have their case
        says compared as they are written
      allowed ca-method.com over ca-custom # §4: a method of the CA’s own
      forbidden no-account.com # an empty account is no account
      allowed upper-tag.com # a restriction in capitals is none to Let’s Encrypt
        warning ignores the parameter "AccountURI" in this spelling
      forbidden upper-tag-other.com by ca.com # and is one to another CA
        warning "AccountURI" counts as accounturi
      allowed upper-tag-ok.com # and a met one is reported too
        warning ignores the parameter "ValidationMethods"
      forbidden hyphen.com # B present-with-invalid-tag: a hyphen in a parameter is malformed to Let’s Encrypt
        says treats a value as malformed if a parameter has a hyphen: "a-b"
      allowed hyphen-other.com by ca.com # and right to another CA
        warning "a-b" has a hyphen
      allowed with-unknown.com # B present-with-parameter.com: blanks around the parts
      forbidden invalid-tag.com # B present-with-invalid-tag.com
        says "a_b" is not a parameter’s name
      forbidden invalid-value.com # B present-with-invalid-value.com
        says the value of "ab" contains a space
      allowed trailing.com # a semicolon after the issuer
      forbidden trailing-p.com # but not after a parameter
        says a semicolon has no parameter after it
      forbidden *.wild.com # conditions of issuewild
      allowed *.wild.com over dns-01 # and by the right method
    `),
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
    facts: factsOf(`
      lookup_failed caa-timeout.com at nothing # B caa-timeout.com
        says not answered in time
        says could be hidden
        change Check that the resolver in the settings is running and reachable. If it is, make the name servers of caa-timeout.com answer the question for CAA; an answer without records is enough
      allowed present.servfail.com at present.servfail.com # B present.servfail.com: found before the error
      lookup_failed www.servfail.com # an error above an empty name
        change Make the name servers of servfail.com answer the question for CAA; an answer without records is enough. Or end the search before it, with this record: www.servfail.com. CAA 0 issue "letsencrypt.org"
      lookup_failed formerr.com # another error code
        says FORMERR
      lookup_failed lost.com # no way to the resolver
      lookup_failed garbage.com # an answer that cannot be read
    `),
  },
  {
    title: 'Another resolver',
    zones: [zoneOf('com', 'plain A 192.0.2.1')],
    elsewhere: true,
    facts: factsOf(`
      lookup_failed www.example.test # its REFUSED is an error
        says REFUSED
      allowed plain.com # its empty answers are empty
    `),
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
          accountUri: fact.account === undefined ? ACCOUNT : null,
          lookup,
        });
        expect(found.verdict, found.message).toBe(fact.verdict);
        if (fact.foundAt !== undefined) expect(found.foundAt ?? null).toBe(fact.foundAt);
        for (const part of fact.says) expect(found.message).toContain(part);
        if (fact.change !== undefined) expect(found.change).toBe(fact.change);
        expect(found.warnings).toEqual(fact.warnings.map((part) => expect.stringContaining(part) as unknown));
      });
    }
  });
}
