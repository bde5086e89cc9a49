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
import { zoneOf } from '../../../support/dns/dns-tables.ts';
import { carelessZone, dnsOver, PLATFORM, RESOLVER, type Failures } from '../zones.ts';

const TARGET = 'cname.vivarium.localhost';

/** A customer's zone, and the result of its verification. */
interface Fact {
  fact: string;
  /** `www.example.test` by default. */
  hostname?: string;
  /** The zone `example.test` as zone-file text; null: it does not exist. */
  zone: string | null;
  more?: Zone[];
  /** `code outcome` in order. */
  checks: string[];
  failures?: Failures;
  source?: DnsSource;
  verifiedBefore?: true;
  provider?: Partial<ProviderFacts>;
  claim?: Claim;
  /** The name of the first check that is not ok. */
  expected?: string;
  found?: string;
  says?: string;
  fix?: string;
  until?: string;
}

const VISIBLE_AT_MS = Date.UTC(2026, 10, 20, 10, 0, 0);
const RIGHT = [{ type: 'CNAME', value: `${TARGET}.` }];
const RIGHT_ALIAS = [{ type: 'ALIAS', value: TARGET }];
const OK = ['wrong_target ok', 'a_conflict ok'];

const CLAIM: Claim = {
  proofs: [{ name: '_vivarium.example.test', value: 'www.example.test=prj_1' }],
  lack: 'warning',
  rival: { domain: 'example.test', project: 'Other' },
  foreign: [],
};

const apex = (facts: readonly Fact[]): Fact[] => facts.map((fact) => ({ hostname: 'example.test', ...fact }));

/** The checks that fail because records are just missing. */
const MISSING = ['no_record', 'ns_mismatch', 'not_propagated'].map((code) => `${code} failed`);

/** What follows from the outcomes: a failed check decides, then one without an answer. */
function verdictFrom(checks: readonly string[]): { verdict: string; foundNothing: boolean } {
  const failed = checks.filter((text) => text.endsWith(' failed'));
  const verdict = failed.length > 0 ? 'failed' : checks.some((text) => text.endsWith(' unknown')) ? 'unknown' : 'ok';
  return { verdict, foundNothing: verdict !== 'ok' && failed.every((text) => MISSING.includes(text)) };
}

const chain = Array.from({ length: 12 }, (_, index) => `c${index} CNAME c${index + 1}`).join('\n');

const tables: Record<string, Fact[]> = {
  'A subdomain that is right': [
    { fact: 'has a CNAME to the target', zone: `www CNAME ${TARGET}.`, checks: OK },
    { fact: 'in any case', zone: 'WWW CNAME CNAME.Vivarium.LOCALHOST.', checks: OK },
    { fact: 'over another name', zone: `www CNAME edge\nedge CNAME ${TARGET}.`, checks: OK },
    { fact: 'over ten CNAMEs', hostname: 'c3.example.test', zone: `${chain}\nc12 CNAME ${TARGET}.`, checks: OK },
    { fact: 'below a label of its own', hostname: 'a.b.example.test', zone: `a.b CNAME ${TARGET}.`, checks: OK },
    {
      fact: 'with other records at other names',
      zone: `www CNAME ${TARGET}.\n@ A 192.0.2.1\nmail MX 10 mail`,
      checks: OK,
    },
    {
      fact: 'as an internationalised name',
      hostname: 'xn--bcher-kva.example.test',
      zone: `xn--bcher-kva CNAME ${TARGET}.`,
      checks: OK,
    },
  ],
  'A subdomain without a record': [
    {
      fact: 'in a zone that does not have the name',
      zone: 'mail A 192.0.2.1',
      checks: ['no_record failed'],
      expected: `CNAME ${TARGET}`,
      found: 'NXDOMAIN',
      says: 'does not exist',
      fix: `Add this record to the zone example.test: www CNAME ${TARGET}`,
    },
    {
      fact: 'at a name that has only other types',
      zone: 'www TXT "hello"',
      checks: ['no_record failed'],
      found: 'no CNAME',
      says: 'has no CNAME record',
    },
    {
      fact: 'at a name that is an empty non-terminal',
      zone: 'x.www A 192.0.2.1',
      checks: ['no_record failed'],
      found: 'no CNAME',
    },
    {
      fact: 'under no zone of ours',
      zone: null,
      checks: ['no_record failed'],
      found: 'no zone',
      says: 'in no zone of Vivarium’s DNS',
      fix: 'Create the zone example.test, and add this record to it',
    },
    {
      fact: 'at a name that its zone delegates',
      zone: 'www NS ns1.elsewhere.test.\nwww NS ns2.elsewhere.test.',
      checks: ['ns_mismatch failed'],
      expected: 'no NS records at www.example.test',
      found: 'delegated to ns1.elsewhere.test, ns2.elsewhere.test',
      says: 'is delegated to ns1.elsewhere.test, ns2.elsewhere.test, outside Vivarium’s DNS',
      fix: `Remove the NS records of www.example.test from the zone example.test, and add this record there: www CNAME ${TARGET}`,
    },
    {
      fact: 'where a zone of ours has the very name, so that no CNAME can stand there',
      zone: 'mail A 192.0.2.1',
      more: [zoneOf('www.example.test', 'x TXT "x"')],
      provider: { zone: 'www.example.test' },
      checks: ['no_record failed'],
      found: 'no CNAME',
      fix: `Remove that zone, and add the record to the zone example.test: www CNAME ${TARGET}`,
    },
    {
      fact: 'below a delegation, where a record that is stored is none',
      hostname: 'shop.eu.example.test',
      zone: `eu NS ns1.elsewhere.test.\nshop.eu CNAME ${TARGET}.`,
      checks: ['ns_mismatch failed'],
      says: 'is below eu.example.test, which is delegated to ns1.elsewhere.test',
      fix: 'Or create the zone eu.example.test here',
    },
    {
      fact: 'of which the resolver knows only who would know',
      hostname: 'shop.eu.example.test',
      zone: 'eu NS ns1.elsewhere.test.',
      source: RESOLVER,
      checks: ['lookup_failed unknown'],
      found: 'a referral: ns1.elsewhere.test (192.0.2.53:53)',
      fix: 'Choose a resolver in the settings that answers recursive questions',
    },
    {
      fact: 'and was verified once',
      zone: 'mail A 192.0.2.1',
      verifiedBefore: true,
      checks: ['no_record failed', 'moved failed'],
    },
  ],
  'A subdomain that leads elsewhere': [
    {
      fact: 'by a CNAME',
      zone: 'www CNAME other\nother A 192.0.2.1',
      checks: ['wrong_target failed'],
      expected: TARGET,
      found: 'other.example.test',
      fix: `Replace CNAME other.example.test with CNAME ${TARGET}`,
    },
    {
      fact: 'to another name of the platform',
      zone: 'www CNAME demo.vivarium.localhost.',
      checks: ['wrong_target failed'],
      found: 'demo.vivarium.localhost',
    },
    {
      fact: 'over several names',
      zone: 'www CNAME one\none CNAME two\ntwo A 192.0.2.1',
      checks: ['wrong_target failed'],
      found: 'one.example.test',
      says: 'leads to two.example.test through one.example.test',
    },
    {
      fact: 'to a name that the platform no longer has',
      zone: 'www CNAME old.vivarium.localhost.',
      checks: ['stale_target failed'],
      expected: TARGET,
      found: 'old.vivarium.localhost',
      says: 'a name of the platform that no longer exists',
      fix: `Replace CNAME old.vivarium.localhost with CNAME ${TARGET}`,
    },
    {
      fact: 'to a name that does not exist',
      zone: 'www CNAME gone',
      checks: ['wrong_target failed'],
      says: 'does not exist (NXDOMAIN)',
    },
    {
      fact: 'to a name outside our DNS',
      zone: 'www CNAME shop.elsewhere.test.',
      checks: ['wrong_target failed'],
      found: 'shop.elsewhere.test',
      says: 'in no zone of Vivarium’s DNS',
    },
    {
      fact: 'to a name that is delegated',
      zone: 'www CNAME shop.eu\neu NS ns1.elsewhere.test.',
      checks: ['wrong_target failed'],
      found: 'shop.eu.example.test',
      says: 'That name is below eu.example.test, which is delegated to ns1.elsewhere.test',
    },
    {
      fact: 'because the dot at the end was forgotten',
      zone: `www CNAME ${TARGET}`,
      checks: ['wrong_target failed'],
      found: `${TARGET}.example.test`,
      says: 'end it with a dot',
    },
    {
      fact: 'and was verified once',
      zone: 'www CNAME other',
      verifiedBefore: true,
      checks: ['wrong_target failed', 'moved failed'],
    },
    {
      fact: 'in a circle',
      zone: 'www CNAME one\none CNAME www',
      checks: ['chain_loop failed'],
      found: 'www.example.test → one.example.test → www.example.test',
      says: 'form a loop',
    },
    { fact: 'to itself', zone: 'www CNAME www', checks: ['chain_loop failed'] },
    { fact: 'into a circle', zone: 'www CNAME one\none CNAME two\ntwo CNAME one', checks: ['chain_loop failed'] },
    {
      fact: 'over eleven CNAMEs',
      hostname: 'c2.example.test',
      zone: `${chain}\nc12 CNAME ${TARGET}.`,
      checks: ['chain_too_long failed'],
      says: 'More than 10',
    },
  ],
  'A CNAME that is not alone': [
    {
      fact: 'beside another one, whichever comes first',
      zone: `www CNAME ${TARGET}.\nwww CNAME other`,
      checks: ['cname_with_siblings failed'],
      expected: `CNAME ${TARGET} alone`,
      found: `CNAME ${TARGET}, CNAME other.example.test`,
      says: 'has 2 CNAMEs',
      fix: `keep only: www CNAME ${TARGET}`,
    },
    {
      fact: 'at a name on the way',
      zone: `www CNAME edge\nedge CNAME ${TARGET}.\nedge CNAME other`,
      checks: ['cname_with_siblings failed'],
      says: 'edge.example.test has 2 CNAMEs',
      fix: 'Remove all CNAMEs of edge.example.test but one',
    },
    ...['TXT "hello"', 'MX 10 mail', 'CAA 0 issue "ca.example"'].map((other) => ({
      fact: `beside ${other}`,
      zone: `www CNAME ${TARGET}.\nwww ${other}`,
      checks: ['wrong_target ok', 'cname_with_siblings failed'],
      found: `CNAME ${TARGET}, ${other.split(' ')[0] ?? ''}`,
      says: 'beside its CNAME',
      fix: `keep only: www CNAME ${TARGET}`,
    })),
    {
      fact: 'beside records of the target, which are not its own',
      zone: `www CNAME edge\nedge CNAME ${TARGET}.\n* TXT "hello"`,
      checks: OK,
    },
    {
      fact: 'at the apex of a zone of its own',
      zone: '',
      more: [carelessZone('www.example.test', `@ CNAME ${TARGET}.`)],
      checks: ['wrong_target ok', 'cname_at_apex failed'],
      found: `CNAME ${TARGET}, SOA`,
      fix: `Remove that zone, and add the record to the zone example.test: www CNAME ${TARGET}`,
    },
    {
      fact: 'would not be, beside an MX',
      zone: 'www A 192.0.2.1\nwww MX 10 mail',
      checks: ['a_conflict failed'],
      fix: 'First remove MX there',
    },
    {
      fact: 'would not be, beside a TXT',
      zone: 'www TXT "hello"',
      checks: ['no_record failed'],
      fix: 'First remove TXT there',
    },
  ],
  'A wildcard domain': [
    { fact: 'that is right', hostname: '*.example.test', zone: `* CNAME ${TARGET}.`, checks: OK },
    {
      fact: 'without its record',
      hostname: '*.shop.example.test',
      zone: `shop CNAME ${TARGET}.`,
      checks: ['no_record failed'],
      found: 'NXDOMAIN',
      fix: `*.shop CNAME ${TARGET}`,
    },
    {
      fact: 'that leads elsewhere',
      hostname: '*.example.test',
      zone: '* A 192.0.2.1',
      checks: ['a_conflict failed'],
      found: 'A 192.0.2.1',
    },
  ],
  'A record with the zone’s name twice': [
    {
      fact: 'is named',
      zone: `www.example.test CNAME ${TARGET}.`,
      checks: ['zone_doubled failed'],
      expected: `CNAME ${TARGET}`,
      found: `CNAME ${TARGET} at www.example.test.example.test`,
      fix: 'Name the record "www" in the zone example.test',
    },
    {
      fact: 'also at the apex',
      hostname: 'example.test',
      zone: 'example.test A 127.0.0.1',
      checks: ['zone_doubled failed'],
      expected: `ALIAS ${TARGET}`,
      found: 'A 127.0.0.1 at example.test.example.test',
      fix: 'Name the record "@" in the zone example.test',
    },
    {
      fact: 'is none where a wildcard answers',
      zone: `www TXT "hello"\n* CNAME ${TARGET}.`,
      checks: ['no_record failed', 'wildcard_risk warning'],
    },
  ],
  'A domain below another project’s': [
    {
      fact: 'is warned of, without a proof',
      zone: `www CNAME ${TARGET}.`,
      claim: CLAIM,
      checks: [...OK, 'claimed_elsewhere warning', 'txt_missing warning'],
      expected: 'no other project with a domain above www.example.test',
      found: 'example.test in the project "Other"',
      fix: 'prove that you own example.test',
    },
    {
      fact: 'with the proof of another hostname',
      zone: `www CNAME ${TARGET}.\n_vivarium TXT "api.example.test=prj_1"`,
      claim: CLAIM,
      checks: [...OK, 'claimed_elsewhere warning', 'txt_missing warning'],
    },
    {
      fact: 'is permitted by a TXT record',
      zone: `www CNAME ${TARGET}.\n_vivarium TXT "x"\n_vivarium TXT "www.example.test=prj_1"`,
      claim: CLAIM,
      checks: [...OK, 'txt_missing ok'],
    },
  ],
  'A subdomain with addresses': [
    {
      fact: 'beside the CNAME',
      zone: `www CNAME ${TARGET}.\nwww A 192.0.2.1`,
      checks: ['wrong_target ok', 'a_conflict failed'],
      expected: `CNAME ${TARGET}`,
      found: `CNAME ${TARGET}, A 192.0.2.1`,
      says: 'beside its CNAME',
      fix: 'Remove A 192.0.2.1',
    },
    {
      fact: 'beside a wrong CNAME',
      zone: 'www CNAME other\nother A 192.0.2.1\nwww AAAA 2001:db8::1',
      checks: ['wrong_target failed', 'a_conflict failed'],
    },
    {
      fact: 'instead of the CNAME',
      zone: 'www A 192.0.2.1\nwww AAAA 2001:DB8::0001',
      checks: ['a_conflict failed'],
      found: 'A 192.0.2.1, AAAA 2001:db8::1',
      says: 'instead of a CNAME.',
      fix: `Replace A 192.0.2.1, AAAA 2001:db8::1 with: www CNAME ${TARGET}`,
    },
    { fact: 'of IPv6 only', zone: 'www AAAA 2001:db8::1', checks: ['a_conflict failed'] },
    {
      fact: 'that are the platform’s',
      zone: 'www A 127.0.0.1',
      verifiedBefore: true,
      checks: ['a_conflict failed'],
      says: 'would be wrong as soon as',
    },
    {
      fact: 'from an ALIAS',
      zone: `www ALIAS ${TARGET}.`,
      checks: ['a_conflict failed'],
      found: 'A 127.0.0.1, AAAA ::1',
    },
    {
      fact: 'beside the CNAME does not count as moved',
      zone: `www CNAME ${TARGET}.\nwww A 192.0.2.1`,
      verifiedBefore: true,
      checks: ['wrong_target ok', 'a_conflict failed'],
    },
  ],
  'A subdomain with unknown records': [
    {
      fact: 'answered with SERVFAIL',
      zone: '',
      failures: { 'www.example.test': 'SERVFAIL' },
      checks: ['lookup_failed unknown'],
      found: 'SERVFAIL (Vivarium’s DNS)',
      says: 'The question for CNAME, A, AAAA of www.example.test was answered with SERVFAIL by Vivarium’s DNS',
    },
    {
      fact: 'not answered in time',
      zone: '',
      failures: { 'www.example.test': 'timeout' },
      checks: ['lookup_failed unknown'],
    },
    {
      fact: 'refused by another resolver',
      zone: null,
      source: RESOLVER,
      checks: ['lookup_failed unknown'],
      found: 'REFUSED: www.example.test. is in no zone here (192.0.2.53:53)',
      says: 'was REFUSED by 192.0.2.53:53',
    },
    {
      fact: 'a resolver that is not there',
      zone: null,
      failures: { 'www.example.test': 'unreachable' },
      checks: ['lookup_failed unknown'],
    },
    {
      fact: 'an answer that is garbage',
      zone: null,
      failures: { 'www.example.test': 'malformed' },
      checks: ['lookup_failed unknown'],
    },
    {
      fact: 'an answer with wrong signatures',
      zone: null,
      failures: { 'www.example.test': 'bogus' },
      checks: ['dnssec_bogus failed'],
      found: 'wrong signatures (Vivarium’s DNS)',
      says: 'resolvers that validate find nothing, and no CA issues',
    },
    {
      fact: 'another error code',
      zone: null,
      failures: { 'www.example.test': 'FORMERR' },
      checks: ['lookup_failed unknown'],
      found: 'an error: FORMERR (Vivarium’s DNS)',
    },
    {
      fact: 'past a CNAME',
      zone: 'www CNAME edge.other.test.',
      failures: { 'edge.other.test': 'SERVFAIL' },
      checks: ['lookup_failed unknown'],
      says: 'of www.example.test, which leads to edge.other.test,',
    },
    {
      fact: 'in one address type, so that a conflict cannot be excluded',
      zone: `www CNAME ${TARGET}.`,
      failures: { 'www.example.test AAAA': 'timeout' },
      checks: ['lookup_failed unknown', 'wrong_target ok'],
      says: 'The question for AAAA of',
    },
    {
      fact: 'in one address type, and wrong in another',
      zone: 'www A 192.0.2.1',
      failures: { 'www.example.test AAAA': 'timeout' },
      checks: ['lookup_failed unknown', 'a_conflict failed'],
    },
    {
      fact: 'is not called moved',
      zone: '',
      verifiedBefore: true,
      failures: { 'www.example.test': 'timeout' },
      checks: ['lookup_failed unknown'],
    },
    {
      fact: 'by an ALIAS that leads nowhere',
      zone: 'www ALIAS shop.elsewhere.test.',
      checks: ['lookup_failed unknown'],
      found:
        'SERVFAIL: ALIAS at www.example.test. leads to shop.elsewhere.test., which is in no zone here (Vivarium’s DNS)',
    },
    {
      fact: 'a random sibling that fails says nothing',
      zone: `www CNAME ${TARGET}.`,
      failures: { 'random.example.test': 'SERVFAIL' },
      checks: OK,
    },
    {
      fact: 'nor does the target, which is only compared by name',
      zone: `www CNAME ${TARGET}.`,
      failures: { [TARGET]: 'SERVFAIL' },
      checks: OK,
    },
  ],
  'A subdomain that waits for propagation': [
    {
      fact: 'nothing visible yet',
      zone: '',
      provider: { records: RIGHT, visibleAtMs: VISIBLE_AT_MS },
      checks: ['not_propagated failed'],
      expected: `CNAME ${TARGET}`,
      found: 'NXDOMAIN',
      says: 'visible at 2026-11-20T10:00:00.000Z',
      fix: 'advance the clock',
      until: '2026-11-20T10:00:00.000Z',
    },
    {
      fact: 'the old record is still visible',
      zone: 'www CNAME other',
      provider: { records: RIGHT, visibleAtMs: VISIBLE_AT_MS },
      checks: ['not_propagated failed'],
      found: 'other.example.test',
    },
    {
      fact: 'a removed address is still visible',
      zone: `www CNAME ${TARGET}.\nwww A 192.0.2.1`,
      provider: { records: RIGHT, visibleAtMs: VISIBLE_AT_MS },
      checks: ['wrong_target ok', 'not_propagated failed'],
    },
    {
      fact: 'a domain that was verified: it is still moved',
      zone: 'www CNAME other',
      verifiedBefore: true,
      provider: { records: RIGHT, visibleAtMs: VISIBLE_AT_MS },
      checks: ['not_propagated failed', 'moved failed'],
    },
    {
      fact: 'but not a wrong record',
      zone: '',
      provider: { records: [{ type: 'CNAME', value: 'other.test' }], visibleAtMs: VISIBLE_AT_MS },
      checks: ['no_record failed'],
    },
    {
      fact: 'nor one with an address beside it',
      zone: '',
      provider: { records: [...RIGHT, { type: 'A', value: '192.0.2.1' }], visibleAtMs: VISIBLE_AT_MS },
      checks: ['no_record failed'],
    },
    {
      fact: 'nor one that is visible already',
      zone: 'www CNAME other',
      provider: { records: RIGHT },
      checks: ['wrong_target failed'],
    },
    {
      fact: 'what is right needs no explanation',
      zone: `www CNAME ${TARGET}.`,
      provider: { records: [], visibleAtMs: VISIBLE_AT_MS },
      checks: OK,
    },
    {
      fact: 'the provider’s word does not answer for the DNS',
      zone: '',
      failures: { 'www.example.test': 'timeout' },
      provider: { records: RIGHT, visibleAtMs: VISIBLE_AT_MS },
      checks: ['lookup_failed unknown'],
    },
  ],
  'A wildcard': [
    {
      fact: 'that leads to the platform is a risk',
      zone: `www CNAME ${TARGET}.\n* CNAME ${TARGET}.`,
      checks: [...OK, 'wildcard_risk warning'],
      expected: 'no answer for random.example.test',
      found: `CNAME ${TARGET}`,
      says: '*.example.test',
    },
    { fact: 'that the hostname itself lives by', zone: `* CNAME ${TARGET}.`, checks: [...OK, 'wildcard_risk warning'] },
    {
      fact: 'with the platform’s address',
      zone: `www CNAME ${TARGET}.\n* A 127.0.0.1`,
      checks: [...OK, 'wildcard_risk warning'],
      found: '127.0.0.1',
    },
    { fact: 'that leads elsewhere is none', zone: `www CNAME ${TARGET}.\n* A 192.0.2.1`, checks: OK },
    {
      fact: 'below an apex',
      hostname: 'example.test',
      zone: `@ ALIAS ${TARGET}.\n* CNAME ${TARGET}.`,
      checks: ['alias_mismatch ok', 'wildcard_risk warning'],
    },
    {
      fact: 'at another depth is none',
      hostname: 'a.b.example.test',
      zone: `a.b CNAME ${TARGET}.\n* CNAME ${TARGET}.`,
      checks: OK,
    },
  ],
  'An apex that is right': apex([
    { fact: 'has an ALIAS', zone: `@ ALIAS ${TARGET}.`, checks: ['alias_mismatch ok'] },
    { fact: 'or an ANAME', zone: `@ ANAME ${TARGET}.\n@ MX 10 mail`, checks: ['alias_mismatch ok'] },
    {
      fact: 'or an ALIAS to a name that leads there',
      zone: `@ ALIAS www\nwww CNAME ${TARGET}.`,
      checks: ['alias_mismatch ok'],
    },
    { fact: 'or the same addresses', zone: '@ A 127.0.0.1\n@ AAAA 0:0:0:0:0:0:0:1', checks: ['alias_mismatch ok'] },
    { fact: 'or a part of them', zone: '@ A 127.0.0.1', checks: ['alias_mismatch ok'] },
    {
      fact: 'by the public suffix list',
      hostname: 'example.co.uk',
      zone: null,
      more: [zoneOf('example.co.uk', `@ ALIAS ${TARGET}.`)],
      checks: ['alias_mismatch ok'],
    },
    {
      fact: 'even where the provider has no ALIAS, and the addresses were copied',
      zone: '@ A 127.0.0.1',
      provider: { supportsAlias: false, records: [{ type: 'A', value: '127.0.0.1' }] },
      checks: ['alias_mismatch ok'],
    },
  ]),
  'An apex that is wrong': apex([
    {
      fact: 'has no address',
      zone: '@ TXT "hello"',
      checks: ['no_record failed'],
      expected: `ALIAS ${TARGET}`,
      found: 'no A or AAAA',
      fix: `@ ALIAS ${TARGET}`,
    },
    { fact: 'is in no zone', zone: null, checks: ['no_record failed'], found: 'no zone' },
    {
      fact: 'has other addresses',
      zone: '@ A 192.0.2.1',
      checks: ['alias_mismatch failed'],
      expected: '127.0.0.1, ::1',
      found: '192.0.2.1',
      says: 'does not resolve to the addresses',
      fix: 'Replace A 192.0.2.1 with',
    },
    {
      fact: 'has a stray one beside the right ones',
      zone: '@ A 127.0.0.1\n@ A 192.0.2.1',
      checks: ['alias_mismatch failed'],
      found: '127.0.0.1, 192.0.2.1',
      says: 'also to others: 192.0.2.1',
      fix: 'Remove A 192.0.2.1',
    },
    {
      fact: 'has a stray one of the other family',
      zone: '@ A 127.0.0.1\n@ AAAA 2001:db8::1',
      checks: ['alias_mismatch failed'],
      fix: 'Remove AAAA 2001:db8::1',
    },
    {
      fact: 'has an ALIAS to another host',
      zone: '@ ALIAS other\nother A 192.0.2.1',
      checks: ['alias_mismatch failed'],
    },
    {
      fact: 'has a CNAME',
      zone: `@ CNAME ${TARGET}.`,
      checks: ['cname_at_apex failed'],
      expected: `ALIAS ${TARGET}`,
      found: `CNAME ${TARGET}`,
      fix: 'ALIAS or ANAME',
    },
    {
      fact: 'has a CNAME to the target, and was verified',
      zone: `@ CNAME ${TARGET}.`,
      verifiedBefore: true,
      checks: ['cname_at_apex failed'],
    },
    {
      fact: 'has a CNAME and a stray address',
      zone: `@ CNAME ${TARGET}.\n@ A 192.0.2.1`,
      checks: ['cname_at_apex failed', 'alias_mismatch failed'],
    },
    {
      fact: 'has a CNAME and the right address',
      zone: `@ CNAME ${TARGET}.\n@ A 127.0.0.1`,
      checks: ['cname_at_apex failed'],
    },
    { fact: 'has a CNAME in a circle', zone: '@ CNAME @', checks: ['cname_at_apex failed', 'chain_loop failed'] },
    {
      fact: 'moved away',
      zone: '@ A 192.0.2.1',
      verifiedBefore: true,
      checks: ['alias_mismatch failed', 'moved failed'],
    },
    {
      fact: 'a stray address does not count as moved',
      zone: '@ A 127.0.0.1\n@ A 192.0.2.1',
      verifiedBefore: true,
      checks: ['alias_mismatch failed'],
    },
    {
      fact: 'an ALIAS at a provider that has none',
      zone: '',
      provider: { supportsAlias: false, records: [{ type: 'ALIAS', value: `${TARGET}.` }] },
      checks: ['alias_unsupported failed'],
      found: `ALIAS ${TARGET}, not answered`,
      fix: `attach www.example.test with CNAME ${TARGET}`,
    },
    {
      fact: 'nothing, at a provider that has no ALIAS',
      zone: '',
      provider: { supportsAlias: false, records: [] },
      checks: ['alias_unsupported failed'],
      found: 'no A or AAAA',
      fix: `attach www.example.test with CNAME ${TARGET}`,
    },
    {
      fact: 'wrong addresses there',
      zone: '@ A 192.0.2.1',
      provider: { supportsAlias: false, records: [{ type: 'A', value: '192.0.2.1' }] },
      checks: ['alias_mismatch failed'],
      fix: 'Replace A 192.0.2.1 with A 127.0.0.1, AAAA ::1, because its provider supports neither ALIAS nor ANAME',
    },
    {
      fact: 'right addresses there',
      zone: '@ A 127.0.0.1',
      provider: { supportsAlias: false, records: [{ type: 'A', value: '127.0.0.1' }] },
      checks: ['alias_mismatch ok'],
    },
    {
      fact: 'the same beside another address',
      zone: '@ A 192.0.2.1',
      provider: { supportsAlias: false, records: [...RIGHT_ALIAS, { type: 'A', value: '192.0.2.1' }] },
      checks: ['alias_unsupported failed'],
      found: 'A 192.0.2.1',
    },
  ]),
  'An apex with unknown records': apex([
    {
      fact: 'an ALIAS in a circle',
      zone: '@ ALIAS other\nother ALIAS @',
      checks: ['lookup_failed unknown'],
      found: 'SERVFAIL: ALIAS at example.test. leads back to example.test. (Vivarium’s DNS)',
    },
    {
      fact: 'one family of two',
      zone: '@ A 127.0.0.1',
      failures: { 'example.test AAAA': 'timeout' },
      checks: ['lookup_failed unknown', 'alias_mismatch ok'],
    },
    {
      fact: 'one family, and a stray in the other',
      zone: '@ A 192.0.2.1',
      failures: { 'example.test AAAA': 'timeout' },
      checks: ['lookup_failed unknown', 'alias_mismatch failed'],
    },
    {
      fact: 'the target’s addresses',
      zone: '@ A 192.0.2.1',
      failures: { [TARGET]: 'SERVFAIL' },
      checks: ['lookup_failed unknown'],
      says: `of ${TARGET} was answered with SERVFAIL`,
    },
    {
      fact: 'the target’s addresses of the stray’s family',
      zone: '@ AAAA 2001:db8::1\n@ A 127.0.0.1',
      failures: { [`${TARGET} AAAA`]: 'timeout' },
      checks: ['lookup_failed unknown'],
    },
    {
      fact: 'a resolver that has never heard of the platform',
      zone: '@ A 192.0.2.1',
      source: RESOLVER,
      more: [zoneOf('localhost', 'other A 192.0.2.1')],
      checks: ['lookup_failed unknown'],
      says: 'but 192.0.2.53:53 does not know',
      fix: '"local"',
    },
  ]),
  'An apex that waits for propagation': apex([
    {
      fact: 'an ALIAS that is not visible yet',
      zone: '@ A 192.0.2.1',
      provider: { records: RIGHT_ALIAS, visibleAtMs: VISIBLE_AT_MS },
      checks: ['not_propagated failed'],
      found: '192.0.2.1',
    },
    {
      fact: 'addresses that are not visible yet',
      zone: '',
      provider: { records: [{ type: 'AAAA', value: '0::1' }], visibleAtMs: VISIBLE_AT_MS },
      checks: ['not_propagated failed'],
    },
    {
      fact: 'not an ALIAS that will never be answered',
      zone: '',
      provider: { supportsAlias: false, records: RIGHT_ALIAS, visibleAtMs: VISIBLE_AT_MS },
      checks: ['alias_unsupported failed'],
    },
    {
      fact: 'not an ALIAS beside a stray address',
      zone: '',
      provider: { records: [...RIGHT_ALIAS, { type: 'A', value: '192.0.2.1' }], visibleAtMs: VISIBLE_AT_MS },
      checks: ['no_record failed'],
    },
    {
      fact: 'not a CNAME',
      zone: '',
      provider: { records: RIGHT, visibleAtMs: VISIBLE_AT_MS },
      checks: ['no_record failed'],
    },
    {
      fact: 'not nothing',
      zone: '',
      provider: { records: [], visibleAtMs: VISIBLE_AT_MS },
      checks: ['no_record failed'],
    },
  ]),
};

for (const [title, facts] of Object.entries(tables)) {
  describe(title, () => {
    it.each(facts)('$fact', async (fact) => {
      const hostname = fact.hostname ?? 'www.example.test';
      const own = fact.zone === null ? [] : [carelessZone('example.test', fact.zone)];
      const platform = fact.more?.some(({ apex }) => apex === 'localhost') ? [] : [PLATFORM];
      const dns = dnsOver([...platform, ...own, ...(fact.more ?? [])], fact.failures, fact.source);
      const kind = kindOf(hostname);
      const observation = await observe(dns, {
        hostname,
        kind,
        cnameTarget: TARGET,
        randomLabel: () => 'random',
        proofNames: fact.claim?.proofs.map(({ name }) => name) ?? [],
      });
      const checks = evaluate(observation, {
        persona: PERSONAS['animal-store'],
        kind,
        cnameTarget: TARGET,
        verifiedBefore: fact.verifiedBefore ?? false,
        provider: fact.provider
          ? { zone: 'example.test', supportsAlias: true, records: [], visibleAtMs: null, ...fact.provider }
          : null,
        claim: fact.claim ?? null,
      });
      expect(checks.map(({ code, outcome }) => `${code} ${outcome}`).sort()).toEqual([...fact.checks].sort());
      expect(checks.map(({ code }) => VERIFICATION_CODES.indexOf(code))).toEqual(
        checks.map(({ code }) => VERIFICATION_CODES.indexOf(code)).sort((a, b) => a - b),
      );
      const decided = { verdict: verdictOf(checks), foundNothing: hasFoundNothing(checks) };
      expect(decided).toEqual(verdictFrom(fact.checks));
      const told = checks.find(({ outcome }) => outcome !== 'ok');
      if (fact.expected !== undefined) expect(told?.expected).toBe(fact.expected);
      if (fact.found !== undefined) expect(told?.found).toBe(fact.found);
      if (fact.says !== undefined) expect(told?.message).toContain(fact.says);
      if (fact.fix !== undefined) expect(told?.fix).toContain(fact.fix);
      if (fact.until !== undefined) expect(told?.until).toBe(fact.until);
      for (const one of checks) {
        expect(check.parse(one)).toEqual(one);
        expect(one.expected).toBeTruthy();
        expect(one.found).toBeTruthy();
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
