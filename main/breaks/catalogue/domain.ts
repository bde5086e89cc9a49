import { CNAME_TARGET } from '../../base/config.ts';
import type { BreakEntry } from '../../contract/breaks.ts';
import { isWildcard } from '../../contract/hostnames.ts';
import { isAtOrBelow, parentOf } from '../../model/dns-name.ts';
import {
  chain,
  leading,
  LEADING,
  ofApex,
  ofSubdomain,
  PROXY_ADDRESS,
  record,
  rightRecords,
  TARGET,
  type DomainEdits,
  type DomainFacts,
} from '../state-break.ts';
import { entryOf } from './entry.ts';

/** Addresses where nothing answers: documentation addresses, and a loopback address without a server. */
const ELSEWHERE = '192.0.2.1';
const MOVED_TO = '192.0.2.80';
const UNSERVED = '127.0.0.2';

/** One CNAME more than Vivarium and most resolvers follow. */
const CHAIN_LENGTH = 11;

const OTHER_CA = '0 issue "other-ca.example"';

/** The record edits after which verification reports the code of the entry's name. */
type DomainEdit = (facts: DomainFacts) => DomainEdits;

const textsOf = entryOf('domain', ['hostname']);

/** `on.hostname` must be an attached domain; further requirements are checked at the start. */
const entry = (name: string, { edit, ...texts }: Parameters<typeof textsOf>[1] & { edit?: DomainEdit }) => ({
  entry: textsOf(name, texts),
  edit,
});

/**
 * Custom domains: edits with an exact inverse; an entry without one here has it in `main/services`. Verification then
 * reports the code of the entry's name. Symptoms are those of the names that
 * `test/integration/engine/breaks/broken-domains.test.ts` queries.
 */
const BREAKS = [
  entry('no-record', {
    symptoms: { dig: 'NXDOMAIN', node: 'resolve4: ENOTFOUND' },
    title: 'The record is missing',
    cause: 'The record of the hostname was deleted, or the zone was moved without it. Verification: `no_record`.',
    remedy: 'Create the record that the domain’s instructions show.',
    edit: (facts) => [leading(facts)],
  }),
  entry('zone-doubled', {
    symptoms: {
      dig: 'NOERROR; CNAME cname.vivarium.localhost.; A 127.0.0.1 (HOST.ZONE A)',
      node: 'resolve4: ENOTFOUND',
    },
    title: 'The record is one zone too deep',
    cause:
      'The provider appends the zone to every name, but the full hostname was entered. Verification: `zone_doubled`.',
    remedy: 'Enter the name relative to the zone, or end it with a dot.',
    edit: (facts) => {
      const { hostname, zone } = facts;
      return [leading(facts), { name: `${hostname}.${zone}`, drop: [], add: rightRecords(facts) }];
    },
  }),
  entry('ns-mismatch', {
    symptoms: { dig: 'NOERROR; NS ns1.lame.invalid.', node: 'resolve4: ENODATA' },
    title: 'The name is delegated elsewhere',
    cause:
      'NS records at the subdomain delegate it to servers that do not have the zone, so its records here have no effect. Verification: `ns_mismatch`.',
    remedy: 'Delete the NS records of the subdomain, or create the zone on those servers.',
    edit: (facts) =>
      ofSubdomain(facts, () => [{ name: facts.hostname, drop: [], add: [record(facts, 'NS', 'ns1.lame.invalid.')] }]),
  }),
  entry('lookup-failed', {
    symptoms: { dig: 'SERVFAIL', node: 'resolve4: ESERVFAIL' },
    title: 'The lookup fails',
    cause:
      'The provider cannot resolve the target of an ALIAS and answers SERVFAIL. Verification: `lookup_failed`, with the outcome unknown rather than failed.',
    remedy: 'Point the ALIAS at a name that resolves.',
    edit: (facts) =>
      facts.supportsAlias
        ? [leading(facts, record(facts, 'ALIAS', 'gone.invalid.'))]
        : `its zone ${facts.zone} has no ALIAS records, which this break needs.`,
  }),
  entry('dnssec-bogus', {
    symptoms: { dig: 'NOERROR; CNAME cname.vivarium.localhost.; A 127.0.0.1', node: 'resolve4: 127.0.0.1' },
    title: 'The signatures are from another key',
    cause:
      'The zone is signed with a key that does not match its DS record, mostly after a move between providers. The zone must be signed in Vivarium. Verification: `dnssec_bogus`.',
    remedy: 'Replace the DS record at the registrar, or remove it until the new key is published.',
  }),
  entry('wrong-target', {
    symptoms: { dig: 'NOERROR; CNAME app.example.net.', node: 'resolve4: no address' },
    title: 'The CNAME points elsewhere',
    cause: 'The CNAME names another platform, or a misspelt target. Verification: `wrong_target`.',
    remedy: 'Point the CNAME to the target in the instructions, with a final dot if the provider needs one.',
    edit: (facts) => ofSubdomain(facts, () => [leading(facts, record(facts, 'CNAME', 'app.example.net.'))]),
  }),
  entry('stale-target', {
    symptoms: { dig: 'NXDOMAIN; CNAME removed.cname.vivarium.localhost.', node: 'resolve4: ENOTFOUND' },
    title: 'The CNAME points to an old target',
    cause: 'The platform’s target has changed, or its resource was removed. Verification: `stale_target`.',
    remedy: 'Replace the target with the one in the instructions.',
    edit: (facts) => ofSubdomain(facts, () => [leading(facts, record(facts, 'CNAME', `removed.${TARGET}`))]),
  }),
  entry('cname-with-siblings', {
    symptoms: { dig: 'NOERROR; TXT "left over" (HOST TXT)', node: 'resolve4: 127.0.0.1' },
    title: 'A TXT beside the CNAME',
    cause:
      'A careless provider stored another record at the name of a CNAME, which must be the only record (RFC 1034 §3.6.2). Verification: `cname_with_siblings`.',
    remedy: 'Move the TXT to a name of its own, or delete it.',
    edit: (facts) =>
      ofSubdomain(facts, () => [leading(facts, record(facts, 'CNAME', TARGET), record(facts, 'TXT', '"left over"'))]),
  }),
  entry('a-conflict', {
    symptoms: { dig: 'NOERROR; A 192.0.2.1', node: 'resolve4: 192.0.2.1' },
    title: 'An address beside the CNAME',
    cause: 'The A record of the old server was not deleted when the CNAME was added. Verification: `a_conflict`.',
    remedy: 'Delete the A and AAAA records, and keep only the CNAME.',
    edit: (facts) =>
      ofSubdomain(facts, () => [leading(facts, record(facts, 'CNAME', TARGET), record(facts, 'A', ELSEWHERE))]),
  }),
  entry('cname-at-apex', {
    symptoms: { dig: 'NOERROR; CNAME cname.vivarium.localhost. (HOST MX)', node: 'resolve4: 127.0.0.1' },
    title: 'A CNAME at the apex',
    cause: 'A careless provider accepted a CNAME beside SOA and NS. Verification: `cname_at_apex`.',
    remedy: 'Use ALIAS or ANAME, or attach www and redirect from there.',
    edit: (facts) => ofApex(facts, () => [leading(facts, record(facts, 'CNAME', TARGET))]),
  }),
  entry('alias-mismatch', {
    symptoms: { dig: 'NOERROR; A 192.0.2.1', node: 'resolve4: 192.0.2.1' },
    title: 'The apex has an old address',
    cause: 'The apex still has the A record of the previous host. Verification: `alias_mismatch`.',
    remedy: 'Replace the address with an ALIAS to the target.',
    edit: (facts) => ofApex(facts, () => [leading(facts, record(facts, 'A', ELSEWHERE))]),
  }),
  entry('alias-unsupported', {
    symptoms: { dig: 'NOERROR', node: 'resolve4: ENODATA' },
    title: 'The provider has no ALIAS',
    cause: 'The zone was moved to a provider that ignores ALIAS and ANAME. Verification: `alias_unsupported`.',
    remedy: 'Choose a provider with ALIAS, or attach www and redirect from there.',
  }),
  entry('chain-loop', {
    symptoms: { dig: 'NOERROR; CNAME loop.HOST.; CNAME HOST.', node: 'resolve4: no address' },
    title: 'CNAMEs in a loop',
    cause: 'The CNAME of the hostname points back to it. Verification: `chain_loop`.',
    remedy: 'Point the hostname directly to the target.',
    edit: (facts) => ofSubdomain(facts, () => chain(facts, [`loop.${facts.hostname}`, facts.hostname])),
  }),
  entry('chain-too-long', {
    symptoms: { dig: 'NOERROR; CNAME hop1.HOST.; CNAME hop2.HOST.; 8 more', node: 'resolve4: no address' },
    title: 'Too many CNAMEs',
    cause:
      'A chain of twelve CNAMEs leads to the target, and resolvers stop after 8 to 16. Verification: `chain_too_long`.',
    remedy: 'Point the hostname directly to the target.',
    edit: (facts) =>
      ofSubdomain(facts, () => {
        const hops = Array.from({ length: CHAIN_LENGTH }, (_, index) => `hop${index + 1}.${facts.hostname}`);
        return chain(facts, [...hops, CNAME_TARGET]);
      }),
  }),
  entry('not-propagated', {
    symptoms: { dig: 'NXDOMAIN', node: 'resolve4: ENOTFOUND' },
    title: 'The record has not propagated',
    cause: 'The right record is stored but only visible after the delay. Verification: `not_propagated`.',
    remedy: 'Wait, or advance the clock: `clock.advance`.',
    parameters: [
      {
        name: 'delayMs',
        description: 'the delay until the record is visible, in milliseconds of the app’s clock',
        default: 3_600_000,
        min: 1_000,
        max: 172_800_000,
      },
    ],
    edit: (facts) => {
      const { delayMs } = facts.parameters;
      return [{ ...leading(facts, ...rightRecords(facts)), afterMs: typeof delayMs === 'number' ? delayMs : 0 }];
    },
  }),
  entry('caa-forbids', {
    symptoms: { dig: 'NOERROR; CAA 0 issue "other-ca.example" (ZONE CAA)', node: 'resolve4: 127.0.0.1' },
    title: 'CAA permits another CA only',
    cause:
      'The CAA record of the zone, or of the parent name, names another CA, so no certificate is issued. Verification: `caa_forbids`.',
    remedy: 'Add a CAA record for this CA; `caa.explain` shows which one decides.',
    edit: (facts) => {
      const { hostname, zone } = facts;
      // A name with a CNAME cannot have CAA records; CAs then check the parent names.
      const name = hostname === zone ? hostname : parentOf(hostname);
      if (!isAtOrBelow(name, zone)) return `its zone begins at ${zone}, and the parent is not in a local zone.`;
      if (facts.at(name).some(({ type }) => type === 'CNAME')) return `${name} has a CNAME, so it can’t have CAA.`;
      return [{ name, drop: ['CAA'], add: [record(facts, 'CAA', OTHER_CA)] }];
    },
  }),
  entry('caa-on-target', {
    symptoms: {
      dig: 'NOERROR; CNAME edge.HOST.; CAA 0 issue "other-ca.example" (HOST CAA)',
      node: 'resolve4: 127.0.0.1',
    },
    title: 'CAA of the CNAME’s target forbids',
    cause:
      'The CNAME chain contains a name with a CAA record for another CA, which applies to the hostname (RFC 8659 §3). Verification: `caa_on_target`.',
    remedy: 'Change that CAA record, or point the CNAME to another name.',
    edit: (facts) =>
      ofSubdomain(facts, () => {
        const edge = `edge.${facts.hostname}`;
        const [first, second] = chain(facts, [edge, CNAME_TARGET]);
        if (first === undefined || second === undefined) return [];
        return [first, { ...second, add: [...second.add, record(facts, 'CAA', OTHER_CA)] }];
      }),
  }),
  entry('caa-lookup-failed', {
    symptoms: { dig: 'SERVFAIL (HOST CAA)', node: 'resolve4: 127.0.0.1' },
    title: 'CAA lookup fails',
    cause:
      'The name servers fail on CAA queries, so a CA must not issue (RFC 8659 §3). Verification: `caa_lookup_failed`.',
    remedy: 'Have the provider answer CAA queries: NOERROR without data is enough.',
    at: 'question',
  }),
  entry('proxied', {
    symptoms: { dig: 'NOERROR; A 127.0.0.3', node: 'resolve4: 127.0.0.3' },
    title: 'A proxy in front',
    cause:
      'The hostname points to a CDN or proxy that forwards requests: here one at 127.0.0.3, on the same ports. Verification warns: `proxied`.',
    remedy: 'None if the proxy is yours; otherwise point the record to the target in the instructions.',
    edit: (facts) => [leading(facts, record(facts, 'A', PROXY_ADDRESS))],
  }),
  entry('not-served', {
    symptoms: { dig: 'NOERROR; A 127.0.0.2', node: 'resolve4: 127.0.0.2' },
    title: 'Nothing answers at the address',
    cause:
      'The A record points to 127.0.0.2, where no server listens. Verification: `not_served`, with `a_conflict` or `alias_mismatch`.',
    remedy: 'Point the record to the target in the instructions.',
    edit: (facts) => [leading(facts, record(facts, 'A', UNSERVED))],
  }),
  entry('claimed-elsewhere', {
    symptoms: { dig: 'NOERROR; CNAME cname.vivarium.localhost.; A 127.0.0.1', node: 'resolve4: 127.0.0.1' },
    title: 'Another project has the parent name',
    cause:
      'The parent name of the hostname is attached to another project, whose owner could object. Verification warns: `claimed_elsewhere`, `txt_missing`.',
    remedy: 'Add the TXT record that the check shows to the zone: it proves that the owner permits the hostname.',
  }),
  entry('wildcard-risk', {
    symptoms: {
      dig: 'NOERROR; CNAME cname.vivarium.localhost.; A 127.0.0.1 (any.ZONE A)',
      node: 'resolve4: 127.0.0.1',
    },
    title: 'A wildcard also points to the platform',
    cause:
      'A wildcard CNAME points every sibling of the hostname to the platform, so others could attach those names. Verification warns: `wildcard_risk`.',
    remedy: 'Replace the wildcard with records for the names that are in use.',
    edit: (facts) => {
      const { hostname, kind, zone } = facts;
      if (isWildcard(hostname)) return 'it is a wildcard itself.';
      const above = kind === 'apex' || hostname === zone ? hostname : parentOf(hostname);
      return [{ name: `*.${above}`, drop: LEADING, add: [record(facts, 'CNAME', TARGET)] }];
    },
  }),
  entry('moved', {
    symptoms: { dig: 'NOERROR; A 192.0.2.80', node: 'resolve4: 192.0.2.80' },
    title: 'The domain has moved away',
    cause:
      'A verified domain was pointed to another host. Verification: `moved`; Vivarium serves it until it is removed.',
    remedy: 'Restore the record, or remove the domain.',
    edit: (facts) =>
      facts.verifiedBefore
        ? [leading(facts, record(facts, 'A', MOVED_TO))]
        : 'it has never been verified, so it can’t have moved; verify it first.',
  }),
];

export const DOMAIN_ENTRIES: readonly BreakEntry[] = BREAKS.map((each) => each.entry);

/** The edits of records, by entry. */
export const DOMAIN_EDITS: ReadonlyMap<string, DomainEdit> = new Map(
  BREAKS.flatMap(({ entry: { id }, edit }) => (edit === undefined ? [] : [[id, edit]])),
);
