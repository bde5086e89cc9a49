import { describe, expect, it } from 'vitest';
import { check } from '../../../../main/contract/domains.ts';
import type { Zone } from '../../../../main/dns/zones/zone.ts';
import { hasFoundNothing, verdictOf, VERIFICATION_CODES } from '../../../../main/domains/checks/checks.ts';
import type { DnsSource } from '../../../../main/model/dns-lookup.ts';
import { observe } from '../../../../main/domains/checks/observe.ts';
import type { Claim } from '../../../../main/domains/personas/claims.ts';
import { PERSONAS } from '../../../../main/domains/personas/personas.ts';
import type { ProviderFacts } from '../../../../main/domains/personas/provider.ts';
import { kindOf } from '../../../../main/domains/public-suffix.ts';
import { evaluate } from '../../../../main/domains/checks/verification.ts';
import { carelessZone, dnsOver, PLATFORM, RESOLVER, type Failures } from '../zones.ts';

const TARGET = 'cname.vivarium.localhost';

/** A customer's zone `example.test`, null if it does not exist, the circumstances, and the checks of its verification. */
interface Fact {
  fact: string;
  zone: string | null;
  /** `code outcome`, in order. */
  checks: string[];
  hostname: string;
  more: Zone[];
  failures: Failures;
  source?: DnsSource;
  verifiedBefore: boolean;
  provider: ProviderFacts | null;
  claim: Claim | null;
  /** What the first check that is not ok has, or contains. */
  told: Partial<Record<'expected' | 'found' | 'says' | 'fix' | 'until', string>>;
}

const VISIBLE_AT_MS = Date.UTC(2026, 10, 20, 10, 0, 0);

const CLAIM: Claim = {
  proofs: [{ name: '_vivarium.example.test', value: 'www.example.test=prj_1' }],
  lack: 'warning',
  rival: { domain: 'example.test', project: 'Other' },
  foreign: [],
};

const FAILURES = ['SERVFAIL', 'REFUSED', 'FORMERR', 'timeout', 'unreachable', 'malformed', 'bogus'] as const;

function storedFor(fact: Fact): ProviderFacts {
  return (fact.provider ??= { zone: 'example.test', supportsAlias: true, records: [], visibleAtMs: null });
}

/** The lines below a fact, by their first word. */
const CIRCUMSTANCES: Record<string, (fact: Fact, rest: string) => void> = {
  at: (fact, hostname) => (fact.hostname = hostname),
  /** Another zone: `also example.co.uk: @ A 192.0.2.1`. */
  also(fact, rest) {
    const [apex = '', record = ''] = rest.split(': ');
    fact.more.push(carelessZone(apex, record));
  },
  /** `fails NAME [TYPE]: FAILURE`. */
  fails(fact, rest) {
    const [question = '', how] = rest.split(': ');
    const failure = FAILURES.find((each) => each === how);
    if (failure === undefined) throw new Error(`Not a failure: ${rest}`);
    fact.failures[question] = failure;
  },
  /** Records of the provider, visible or not; none without a record. */
  stored(fact, rest) {
    const [type = '', value = ''] = rest.split(' ');
    const provider = storedFor(fact);
    if (rest !== '') provider.records = [...provider.records, { type, value }];
  },
  'stored-in': (fact, zone) => (storedFor(fact).zone = zone),
  'visible-later': (fact) => (storedFor(fact).visibleAtMs = VISIBLE_AT_MS),
  'without-alias': (fact) => (storedFor(fact).supportsAlias = false),
  'verified-before': (fact) => (fact.verifiedBefore = true),
  'other-resolver': (fact) => (fact.source = RESOLVER),
  claimed: (fact) => (fact.claim = CLAIM),
  ...Object.fromEntries(
    (['expected', 'found', 'says', 'fix', 'until'] as const).map((word) => [
      word,
      (fact: Fact, rest: string) => (fact.told[word] = rest),
    ]),
  ),
};

/** `FACT | RECORD / RECORD … | CHECK, CHECK …`, and below each its circumstances and what the first bad check tells. */
function factsOf(text: string, hostname = 'www.example.test'): Fact[] {
  const facts: Fact[] = [];
  for (const line of text.split('\n').flatMap((each) => each.trim() || [])) {
    const [fact = '', zone = '', checks] = line.split(/ \|(?= |$)/).map((part) => part.trim());
    const current = facts.at(-1);
    if (checks !== undefined) {
      facts.push({
        ...{ fact, hostname, more: [], failures: {}, verifiedBefore: false, provider: null, claim: null, told: {} },
        zone: zone === 'no zone' ? null : zone.replaceAll(' / ', '\n'),
        checks: checks.replace(/^right/, 'wrong_target ok, a_conflict ok').split(', '),
      });
      continue;
    }
    const [word = ''] = line.split(' ');
    const tell = CIRCUMSTANCES[word];
    if (tell === undefined || current === undefined) throw new Error(`Not a fact: ${line}`);
    tell(current, line.slice(word.length + 1));
  }
  return facts;
}
const factsOfApex = (text: string): Fact[] => factsOf(text, 'example.test');

/** The checks that fail because records are just missing. */
const MISSING = ['no_record', 'ns_mismatch', 'not_propagated'].map((code) => `${code} failed`);

/** What follows from the outcomes: a failed check decides, then one without an answer. */
function verdictFrom(checks: readonly string[]): { verdict: string; foundNothing: boolean } {
  const failed = checks.filter((text) => text.endsWith(' failed'));
  const verdict = failed.length > 0 ? 'failed' : checks.some((text) => text.endsWith(' unknown')) ? 'unknown' : 'ok';
  return { verdict, foundNothing: verdict !== 'ok' && failed.every((text) => MISSING.includes(text)) };
}

const chain = Array.from({ length: 12 }, (_, index) => `c${index} CNAME c${index + 1}`).join(' / ');

const tables: Record<string, Fact[]> = {
  'A subdomain that is right': factsOf(`
    has a CNAME to the target | www CNAME ${TARGET}. | right
    in any case | WWW CNAME CNAME.Vivarium.LOCALHOST. | right
    over another name | www CNAME edge / edge CNAME ${TARGET}. | right
    over ten CNAMEs | ${chain} / c12 CNAME ${TARGET}. | right
      at c3.example.test
    below a label of its own | a.b CNAME ${TARGET}. | right
      at a.b.example.test
    with other records at other names | www CNAME ${TARGET}. / @ A 192.0.2.1 / mail MX 10 mail | right
    as an internationalised name | xn--bcher-kva CNAME ${TARGET}. | right
      at xn--bcher-kva.example.test
  `),
  'A subdomain without a record': factsOf(`
    in a zone that does not have the name | mail A 192.0.2.1 | no_record failed
      expected CNAME ${TARGET}
      found NXDOMAIN
      says does not exist
      fix Add this record to the zone example.test: www CNAME ${TARGET}
    at a name that has only other types | www TXT "hello" | no_record failed
      found no CNAME
      says has no CNAME record
    at a name that is an empty non-terminal | x.www A 192.0.2.1 | no_record failed
      found no CNAME
    under no zone of ours | no zone | no_record failed
      found no zone
      says in no zone of Vivarium’s DNS
      fix Create the zone example.test, and add this record to it
    at a name that its zone delegates | www NS ns1.elsewhere.test. / www NS ns2.elsewhere.test. | ns_mismatch failed
      expected no NS records at www.example.test
      found delegated to ns1.elsewhere.test, ns2.elsewhere.test
      says is delegated to ns1.elsewhere.test, ns2.elsewhere.test, outside Vivarium’s DNS
      fix Remove the NS records of www.example.test from the zone example.test, and add this record there: www CNAME ${TARGET}
    where a zone of ours has the very name, so that no CNAME can stand there | mail A 192.0.2.1 | no_record failed
      also www.example.test: x TXT "x"
      stored-in www.example.test
      found no CNAME
      fix Remove that zone, and add the record to the zone example.test: www CNAME ${TARGET}
    below a delegation, where a record that is stored is none | eu NS ns1.elsewhere.test. / shop.eu CNAME ${TARGET}. | ns_mismatch failed
      at shop.eu.example.test
      says is below eu.example.test, which is delegated to ns1.elsewhere.test
      fix Or create the zone eu.example.test here
    of which the resolver knows only who would know | eu NS ns1.elsewhere.test. | lookup_failed unknown
      at shop.eu.example.test
      other-resolver
      found a referral: ns1.elsewhere.test (192.0.2.53:53)
      fix Choose a resolver in the settings that answers recursive questions
    and was verified once | mail A 192.0.2.1 | no_record failed, moved failed
      verified-before
  `),
  'A subdomain that leads elsewhere': factsOf(`
    by a CNAME | www CNAME other / other A 192.0.2.1 | wrong_target failed
      expected ${TARGET}
      found other.example.test
      fix Replace CNAME other.example.test with: www CNAME ${TARGET}
    to another name of the platform | www CNAME demo.vivarium.localhost. | wrong_target failed
      found demo.vivarium.localhost
    over several names | www CNAME one / one CNAME two / two A 192.0.2.1 | wrong_target failed
      found one.example.test
      says leads to two.example.test through one.example.test
    to a name that the platform no longer has | www CNAME old.vivarium.localhost. | stale_target failed
      expected ${TARGET}
      found old.vivarium.localhost
      says a name of the platform that no longer exists
      fix Replace CNAME old.vivarium.localhost with: www CNAME ${TARGET}
    to a name that does not exist | www CNAME gone | wrong_target failed
      says does not exist (NXDOMAIN)
    to a name outside our DNS | www CNAME shop.elsewhere.test. | wrong_target failed
      found shop.elsewhere.test
      says in no zone of Vivarium’s DNS
    to a name that is delegated | www CNAME shop.eu / eu NS ns1.elsewhere.test. | wrong_target failed
      found shop.eu.example.test
      says That name is below eu.example.test, which is delegated to ns1.elsewhere.test
    because the dot at the end was forgotten | www CNAME ${TARGET} | wrong_target failed
      found ${TARGET}.example.test
      says end it with a dot
    and was verified once | www CNAME other | wrong_target failed, moved failed
      verified-before
    in a circle | www CNAME one / one CNAME www | chain_loop failed
      found www.example.test → one.example.test → www.example.test
      says form a loop
    to itself | www CNAME www | chain_loop failed
    into a circle | www CNAME one / one CNAME two / two CNAME one | chain_loop failed
    over eleven CNAMEs | ${chain} / c12 CNAME ${TARGET}. | chain_too_long failed
      at c2.example.test
      says More than 10
  `),
  'A CNAME that is not alone': factsOf(`
    beside another one, whichever comes first | www CNAME ${TARGET}. / www CNAME other | cname_with_siblings failed
      expected CNAME ${TARGET} alone
      found CNAME ${TARGET}, CNAME other.example.test
      says has 2 CNAMEs
      fix keep only: www CNAME ${TARGET}
    at a name on the way | www CNAME edge / edge CNAME ${TARGET}. / edge CNAME other | cname_with_siblings failed
      says edge.example.test has 2 CNAMEs
      fix Remove all CNAMEs of edge.example.test but one
    ${['TXT "hello"', 'MX 10 mail', 'CAA 0 issue "ca.example"']
      .map((record) =>
        [
          `beside ${record} | www CNAME ${TARGET}. / www ${record} | wrong_target ok, cname_with_siblings failed`,
          `found CNAME ${TARGET}, ${record.split(' ')[0]}`,
          'says beside its CNAME',
          `fix keep only: www CNAME ${TARGET}`,
        ].join('\n'),
      )
      .join('\n')}
    beside records of the target, which are not its own | www CNAME edge / edge CNAME ${TARGET}. / * TXT "hello" | right
    at the apex of a zone of its own | | wrong_target ok, cname_at_apex failed
      also www.example.test: @ CNAME ${TARGET}.
      found CNAME ${TARGET}, SOA
      fix Remove that zone, and add the record to the zone example.test: www CNAME ${TARGET}
    would not be, beside an MX | www A 192.0.2.1 / www MX 10 mail | a_conflict failed
      fix First remove MX there
    would not be, beside a TXT | www TXT "hello" | no_record failed
      fix First remove TXT there
  `),
  'A wildcard domain': factsOf(`
    that is right | * CNAME ${TARGET}. | right
      at *.example.test
    without its record | shop CNAME ${TARGET}. | no_record failed
      at *.shop.example.test
      found NXDOMAIN
      fix *.shop CNAME ${TARGET}
    that leads elsewhere | * A 192.0.2.1 | a_conflict failed
      at *.example.test
      found A 192.0.2.1
  `),
  'A record with the zone’s name twice': factsOf(`
    is named | www.example.test CNAME ${TARGET}. | zone_doubled failed
      expected CNAME ${TARGET}
      found CNAME ${TARGET} at www.example.test.example.test
      fix Name the record "www" in the zone example.test
    also at the apex | example.test A 127.0.0.1 | zone_doubled failed
      at example.test
      expected ALIAS ${TARGET}
      found A 127.0.0.1 at example.test.example.test
      fix Name the record "@" in the zone example.test
    is none where a wildcard answers | www TXT "hello" / * CNAME ${TARGET}. | no_record failed, wildcard_risk warning
  `),
  'A domain below another project’s': factsOf(`
    is warned of, without a proof | www CNAME ${TARGET}. | right, claimed_elsewhere warning, txt_missing warning
      claimed
      expected no other project with a domain above www.example.test
      found example.test in the project "Other"
      fix prove that you own example.test
    with the proof of another hostname | www CNAME ${TARGET}. / _vivarium TXT "api.example.test=prj_1" | right, claimed_elsewhere warning, txt_missing warning
      claimed
    is permitted by a TXT record | www CNAME ${TARGET}. / _vivarium TXT "x" / _vivarium TXT "www.example.test=prj_1" | right, txt_missing ok
      claimed
  `),
  'A subdomain with addresses': factsOf(`
    beside the CNAME | www CNAME ${TARGET}. / www A 192.0.2.1 | wrong_target ok, a_conflict failed
      expected CNAME ${TARGET}
      found CNAME ${TARGET}, A 192.0.2.1
      says beside its CNAME
      fix Remove A 192.0.2.1
    beside a wrong CNAME | www CNAME other / other A 192.0.2.1 / www AAAA 2001:db8::1 | wrong_target failed, a_conflict failed
    instead of the CNAME | www A 192.0.2.1 / www AAAA 2001:DB8::0001 | a_conflict failed
      found A 192.0.2.1, AAAA 2001:db8::1
      says instead of a CNAME.
      fix Replace A 192.0.2.1, AAAA 2001:db8::1 with: www CNAME ${TARGET}
    of IPv6 only | www AAAA 2001:db8::1 | a_conflict failed
    that are the platform’s | www A 127.0.0.1 | a_conflict failed
      verified-before
      says would be wrong as soon as
    from an ALIAS | www ALIAS ${TARGET}. | a_conflict failed
      found A 127.0.0.1, AAAA ::1
    beside the CNAME does not count as moved | www CNAME ${TARGET}. / www A 192.0.2.1 | wrong_target ok, a_conflict failed
      verified-before
  `),
  'A subdomain with unknown records': factsOf(`
    answered with SERVFAIL | | lookup_failed unknown
      fails www.example.test: SERVFAIL
      found SERVFAIL (Vivarium’s DNS)
      says The question for CNAME, A, AAAA of www.example.test was answered with SERVFAIL by Vivarium’s DNS
    not answered in time | | lookup_failed unknown
      fails www.example.test: timeout
    refused by another resolver | no zone | lookup_failed unknown
      other-resolver
      found REFUSED: www.example.test is in no zone here (192.0.2.53:53)
      says was REFUSED by 192.0.2.53:53
    a resolver that is not there | no zone | lookup_failed unknown
      fails www.example.test: unreachable
    an answer that is garbage | no zone | lookup_failed unknown
      fails www.example.test: malformed
    an answer with wrong signatures | no zone | dnssec_bogus failed
      fails www.example.test: bogus
      found wrong signatures (Vivarium’s DNS)
      says resolvers that validate find nothing, and no CA issues
    another error code | no zone | lookup_failed unknown
      fails www.example.test: FORMERR
      found an error: FORMERR (Vivarium’s DNS)
    past a CNAME | www CNAME edge.other.test. | lookup_failed unknown
      fails edge.other.test: SERVFAIL
      says of www.example.test, which leads to edge.other.test,
    in one address type, so that a conflict cannot be excluded | www CNAME ${TARGET}. | lookup_failed unknown, wrong_target ok
      fails www.example.test AAAA: timeout
      says The question for AAAA of
    in one address type, and wrong in another | www A 192.0.2.1 | lookup_failed unknown, a_conflict failed
      fails www.example.test AAAA: timeout
    is not called moved | | lookup_failed unknown
      verified-before
      fails www.example.test: timeout
    by an ALIAS that leads nowhere | www ALIAS shop.elsewhere.test. | lookup_failed unknown
      found SERVFAIL: ALIAS at www.example.test leads to shop.elsewhere.test, which is in no zone here (Vivarium’s DNS)
    a random sibling that fails says nothing | www CNAME ${TARGET}. | right
      fails random.example.test: SERVFAIL
    nor does the target, which is only compared by name | www CNAME ${TARGET}. | right
      fails ${TARGET}: SERVFAIL
  `),
  'A subdomain that waits for propagation': factsOf(`
    nothing visible yet | | not_propagated failed
      stored CNAME ${TARGET}.
      visible-later
      expected CNAME ${TARGET}
      found NXDOMAIN
      says visible at 2026-11-20T10:00:00.000Z
      fix advance the clock
      until 2026-11-20T10:00:00.000Z
    the old record is still visible | www CNAME other | not_propagated failed
      stored CNAME ${TARGET}.
      visible-later
      found other.example.test
    a removed address is still visible | www CNAME ${TARGET}. / www A 192.0.2.1 | wrong_target ok, not_propagated failed
      stored CNAME ${TARGET}.
      visible-later
    a domain that was verified: it is still moved | www CNAME other | not_propagated failed, moved failed
      verified-before
      stored CNAME ${TARGET}.
      visible-later
    but not a wrong record | | no_record failed
      stored CNAME other.test
      visible-later
    nor one with an address beside it | | no_record failed
      stored CNAME ${TARGET}.
      stored A 192.0.2.1
      visible-later
    nor one that is visible already | www CNAME other | wrong_target failed
      stored CNAME ${TARGET}.
    what is right needs no explanation | www CNAME ${TARGET}. | right
      stored
      visible-later
    the provider’s word does not answer for the DNS | | lookup_failed unknown
      fails www.example.test: timeout
      stored CNAME ${TARGET}.
      visible-later
  `),
  'A wildcard': factsOf(`
    that leads to the platform is a risk | www CNAME ${TARGET}. / * CNAME ${TARGET}. | right, wildcard_risk warning
      expected no answer for random.example.test
      found CNAME ${TARGET}
      says *.example.test
    that the hostname itself lives by | * CNAME ${TARGET}. | right, wildcard_risk warning
    with the platform’s address | www CNAME ${TARGET}. / * A 127.0.0.1 | right, wildcard_risk warning
      found 127.0.0.1
    that leads elsewhere is none | www CNAME ${TARGET}. / * A 192.0.2.1 | right
    below an apex | @ ALIAS ${TARGET}. / * CNAME ${TARGET}. | alias_mismatch ok, wildcard_risk warning
      at example.test
    at another depth is none | a.b CNAME ${TARGET}. / * CNAME ${TARGET}. | right
      at a.b.example.test
  `),
  'An apex that is right': factsOfApex(`
    has an ALIAS | @ ALIAS ${TARGET}. | alias_mismatch ok
    or an ANAME | @ ANAME ${TARGET}. / @ MX 10 mail | alias_mismatch ok
    or an ALIAS to a name that leads there | @ ALIAS www / www CNAME ${TARGET}. | alias_mismatch ok
    or the same addresses | @ A 127.0.0.1 / @ AAAA 0:0:0:0:0:0:0:1 | alias_mismatch ok
    or a part of them | @ A 127.0.0.1 | alias_mismatch ok
    by the public suffix list | no zone | alias_mismatch ok
      also example.co.uk: @ ALIAS ${TARGET}.
      at example.co.uk
    even where the provider has no ALIAS, and the addresses were copied | @ A 127.0.0.1 | alias_mismatch ok
      without-alias
      stored A 127.0.0.1
  `),
  'An apex that is wrong': factsOfApex(`
    has no address | @ TXT "hello" | no_record failed
      expected ALIAS ${TARGET}
      found no A or AAAA
      fix @ ALIAS ${TARGET}
    is in no zone | no zone | no_record failed
      found no zone
    has other addresses | @ A 192.0.2.1 | alias_mismatch failed
      expected 127.0.0.1, ::1
      found 192.0.2.1
      says does not resolve to the addresses
      fix Replace A 192.0.2.1 with
    has a stray one beside the right ones | @ A 127.0.0.1 / @ A 192.0.2.1 | alias_mismatch failed
      found 127.0.0.1, 192.0.2.1
      says also to others: 192.0.2.1
      fix Remove A 192.0.2.1
    has a stray one of the other family | @ A 127.0.0.1 / @ AAAA 2001:db8::1 | alias_mismatch failed
      fix Remove AAAA 2001:db8::1
    has an ALIAS to another host | @ ALIAS other / other A 192.0.2.1 | alias_mismatch failed
    has a CNAME | @ CNAME ${TARGET}. | cname_at_apex failed
      expected ALIAS ${TARGET}
      found CNAME ${TARGET}
      fix ALIAS or ANAME
    has a CNAME to the target, and was verified | @ CNAME ${TARGET}. | cname_at_apex failed
      verified-before
    has a CNAME and a stray address | @ CNAME ${TARGET}. / @ A 192.0.2.1 | cname_at_apex failed, alias_mismatch failed
    has a CNAME and the right address | @ CNAME ${TARGET}. / @ A 127.0.0.1 | cname_at_apex failed
    has a CNAME in a circle | @ CNAME @ | cname_at_apex failed, chain_loop failed
    moved away | @ A 192.0.2.1 | alias_mismatch failed, moved failed
      verified-before
    a stray address does not count as moved | @ A 127.0.0.1 / @ A 192.0.2.1 | alias_mismatch failed
      verified-before
    an ALIAS at a provider that has none | | alias_unsupported failed
      without-alias
      stored ALIAS ${TARGET}.
      found ALIAS ${TARGET}, not answered
      fix attach www.example.test with CNAME ${TARGET}
    nothing, at a provider that has no ALIAS | | alias_unsupported failed
      without-alias
      stored
      found no A or AAAA
      fix attach www.example.test with CNAME ${TARGET}
    wrong addresses there | @ A 192.0.2.1 | alias_mismatch failed
      without-alias
      stored A 192.0.2.1
      fix Replace A 192.0.2.1 with A 127.0.0.1, AAAA ::1, because its provider supports neither ALIAS nor ANAME
    right addresses there | @ A 127.0.0.1 | alias_mismatch ok
      without-alias
      stored A 127.0.0.1
    the same beside another address | @ A 192.0.2.1 | alias_unsupported failed
      without-alias
      stored ALIAS ${TARGET}
      stored A 192.0.2.1
      found A 192.0.2.1
  `),
  'An apex with unknown records': factsOfApex(`
    an ALIAS in a circle | @ ALIAS other / other ALIAS @ | lookup_failed unknown
      found SERVFAIL: ALIAS at example.test leads back to example.test (Vivarium’s DNS)
    one family of two | @ A 127.0.0.1 | lookup_failed unknown, alias_mismatch ok
      fails example.test AAAA: timeout
    one family, and a stray in the other | @ A 192.0.2.1 | lookup_failed unknown, alias_mismatch failed
      fails example.test AAAA: timeout
    the target’s addresses | @ A 192.0.2.1 | lookup_failed unknown
      fails ${TARGET}: SERVFAIL
      says of ${TARGET} was answered with SERVFAIL
    the target’s addresses of the stray’s family | @ AAAA 2001:db8::1 / @ A 127.0.0.1 | lookup_failed unknown
      fails ${TARGET} AAAA: timeout
    a resolver that has never heard of the platform | @ A 192.0.2.1 | lookup_failed unknown
      also localhost: other A 192.0.2.1
      other-resolver
      says but 192.0.2.53:53 does not know
      fix "local"
  `),
  'An apex that waits for propagation': factsOfApex(`
    an ALIAS that is not visible yet | @ A 192.0.2.1 | not_propagated failed
      stored ALIAS ${TARGET}
      visible-later
      found 192.0.2.1
    addresses that are not visible yet | | not_propagated failed
      stored AAAA 0::1
      visible-later
    not an ALIAS that will never be answered | | alias_unsupported failed
      without-alias
      stored ALIAS ${TARGET}
      visible-later
    not an ALIAS beside a stray address | | no_record failed
      stored ALIAS ${TARGET}
      stored A 192.0.2.1
      visible-later
    not a CNAME | | no_record failed
      stored CNAME ${TARGET}.
      visible-later
    not nothing | | no_record failed
      stored
      visible-later
  `),
};

for (const [title, facts] of Object.entries(tables)) {
  describe(title, () => {
    it.each(facts)('$fact', async ({ hostname, checks: expectedChecks, told: expected, ...fact }) => {
      const own = fact.zone === null ? [] : [carelessZone('example.test', fact.zone)];
      const platform = fact.more.some(({ apex }) => apex === 'localhost') ? [] : [PLATFORM];
      const dns = dnsOver([...platform, ...own, ...fact.more], fact.failures, fact.source);
      const kind = kindOf(hostname);
      const proofNames = fact.claim?.proofs.map(({ name }) => name) ?? [];
      const asked = { hostname, kind, cnameTarget: TARGET, randomLabel: () => 'random', proofNames };
      const observation = await observe(dns, asked);
      const { verifiedBefore, provider, claim } = fact;
      const rules = { persona: PERSONAS['animal-store'], kind, cnameTarget: TARGET };
      const checks = evaluate(observation, { ...rules, verifiedBefore, provider, claim });
      expect(checks.map(({ code, outcome }) => `${code} ${outcome}`).sort()).toEqual([...expectedChecks].sort());
      const places = checks.map(({ code }) => VERIFICATION_CODES.indexOf(code));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      const decided = { verdict: verdictOf(checks), foundNothing: hasFoundNothing(checks) };
      expect(decided).toEqual(verdictFrom(expectedChecks));
      const told = checks.find(({ outcome }) => outcome !== 'ok');
      const { says, fix, ...exact } = expected;
      expect(told ?? {}).toMatchObject(exact);
      if (says !== undefined) expect(told?.message).toContain(says);
      if (fix !== undefined) expect(told?.fix).toContain(fix);
      for (const one of checks) {
        expect(check.parse(one)).toEqual(one);
        for (const told of [one.expected, one.found]) expect(told).toBeTruthy();
        expect(one.message).toMatch(/\.$/);
        if (one.outcome !== 'ok') expect(one.fix).toBeTruthy();
      }
    });
  });
}

describe('a verdict', () => {
  it('without checks is unknown', () => {
    expect(verdictOf([])).toBe('unknown');
  });

  it('every code of verification occurs in the tables, except those of an HTTP check', () => {
    const looks: readonly string[] = ['proxied', 'not_served'];
    const seen = new Set(Object.values(tables).flatMap((facts) => facts.flatMap(({ checks }) => checks)));
    const codes = new Set([...seen].filter((text) => !text.endsWith(' ok')).map((text) => text.split(' ')[0]));
    expect([...codes].sort()).toEqual(VERIFICATION_CODES.filter((code) => !looks.includes(code)).sort());
  });
});
