import { CNAME_TARGET, PLATFORM_ZONE } from '../../base/config.ts';
import { isWithin, normalizeHostname } from '../../base/text/hostname.ts';
import { nextTurn } from '../../base/turns.ts';
import type { Services } from '../../contract/index.ts';
import { PERSONA_IDS } from '../../contract/provider-table.ts';
import type { Settings } from '../../contract/settings.ts';
import { type RehearsedProvider, REHEARSED_RECORDS_MAX } from '../../contract/zones.ts';
import { answer } from '../../dns/server/responder.ts';
import { CLASS_IN, type RecordData, type ResourceRecord, type RRset, typeCode } from '../../dns/wire/record.ts';
import { NAME_SERVER, platformZone } from '../../dns/zones/own-zones.ts';
import { type ZoneFileFault, readZoneFileInParts } from '../../dns/zones/zone-file.ts';
import { findZone, ZoneSet } from '../../dns/zones/zone-set.ts';
import { createZone, DEFAULT_TTL_SECONDS, hostOf } from '../../dns/zones/zone.ts';
import { hasFoundNothing, verdictOf, instructionsFor } from '../../domains/checks/checks.ts';
import { observe } from '../../domains/checks/observe.ts';
import { evaluate } from '../../domains/checks/verification.ts';
import { ATTACHED, nextHostname } from '../../domains/hostname-machine.ts';
import { evaluateHostname } from '../../domains/hostname-rules.ts';
import { gateChecks } from '../../domains/issue.ts';
import { type Claim, claimOf, type DomainRules } from '../../domains/personas/claims.ts';
import { personaOf, worded, PUBLISHED } from '../../domains/personas/provider.ts';
import { type Persona, PERSONAS } from '../../domains/personas/personas.ts';
import type { DomainKind } from '../../domains/public-suffix.ts';
import type { CaaIssuer } from '../../model/caa/set.ts';
import type { DnsLookup, DnsRecord } from '../../model/dns-lookup.ts';
import { parentOf, parseName } from '../../model/dns-name.ts';
import { inputError } from '../projects/project-rules.ts';
import { boundedLine, ENTRIES_PER_TURN, LINES_LISTED_MAX } from './zones.ts';

/** Stands for an address that is not published (RFC 5737). */
const STAND_IN = '192.0.2.1';

/**
 * What each provider would say about a hostname if a zone file were in force. The zones are in memory and answer by
 * the rules of the server, without sockets; nothing outlasts the call.
 */
export function createZoneRehearsal(identity: () => Settings['caaIdentity']): Services['zones']['rehearse'] {
  return async ({ text, hostname: asked, target, persona }) => {
    const origin = /^\$ORIGIN[ \t]+([^\s;]+?)\.?(?:[\s;]|$)/im.exec(text)?.[1]?.toLowerCase();
    const verdict = evaluateHostname(asked ?? origin ?? '');
    if (!verdict.ok) throw inputError('hostname', `${verdict.refusal.message} ${verdict.refusal.fix}`);
    const { hostname, kind, apex } = verdict;
    const isZone = origin !== undefined && isWithin(hostname, origin) && isWithin(origin, apex);
    const zone = isZone ? origin : apex;
    const { records, ...read } = await readRecords(text, zone);
    const place = placeOf(records, target);
    const dns = lookupIn(zonesOf(zone, records, place.isHere ? null : place.named));
    const { domain, accountUri, method } = identity();
    const providers: RehearsedProvider[] = [];
    for (const id of persona === undefined ? PERSONA_IDS : [persona]) {
      const published = place.isHere ? undefined : PUBLISHED[id];
      const rules = {
        persona: PERSONAS[id],
        cnameTarget: place.nameFor(PERSONAS[id]),
        ...(published !== undefined && { address: published.addresses?.[0] ?? STAND_IN }),
      };
      const issuers = published?.issuers.map((issuer) => ({ issuer, accountUri: null, method }));
      const asks = { hostname, kind, zone, issuers: issuers ?? [{ issuer: domain, accountUri, method }] };
      providers.push(await rehearse(dns, rules, asks));
    }
    return { hostname, zone, records: records.length, ...read, providers };
  };
}

/** Reads what a careless provider would store, because its customers’ mistakes are to be found. */
async function readRecords(text: string, apex: string) {
  const records: ResourceRecord[] = [];
  const rejected: ZoneFileFault[] = [];
  let rejectedTotal = 0;
  for (const part of readZoneFileInParts(text, { apex, force: true }, ENTRIES_PER_TURN)) {
    records.push(...part.records);
    if (records.length > REHEARSED_RECORDS_MAX) {
      throw inputError('text', `has more than ${REHEARSED_RECORDS_MAX} records; leave out those of other names.`);
    }
    rejectedTotal += part.faults.length;
    rejected.push(...part.faults.slice(0, LINES_LISTED_MAX - rejected.length).map(boundedLine));
    await nextTurn();
  }
  if (records.length === 0) {
    const [why] = rejected.map(({ line, message }) => ` Line ${line}: ${message}`);
    throw inputError('text', `has no records of the zone "${apex}".${why ?? ''}`);
  }
  return { records, rejected, rejectedTotal };
}

/** Where the hostname should lead: to Vivarium’s own names if the file or the caller has one, else to each provider’s. */
function placeOf(records: readonly ResourceRecord[], target: string | undefined) {
  const given = target === undefined ? undefined : normalizeHostname(target);
  if (given?.ok === false) throw inputError('target', 'must be a hostname, such as "customers.acme.example".');
  const isOwn = (name: string | null): boolean => name !== null && isWithin(name, PLATFORM_ZONE);
  const hosts = records.map(({ data }) => hostOf(data));
  const named = given?.hostname ?? hosts.find(isOwn) ?? null;
  const isHere = isOwn(named);
  /** A customer's own name at a provider is the one that the file leads to. */
  const nameAt = ({ id, target: whose }: Persona): string => {
    const { target: published } = PUBLISHED[id] ?? { target: CNAME_TARGET };
    const isCustomers = (host: string | null): host is string => host !== null && isWithin(host, parentOf(published));
    return (whose === 'project' ? hosts.find(isCustomers) : undefined) ?? published;
  };
  const nameFor = (persona: Persona): string =>
    isHere && persona.target === 'shared' ? CNAME_TARGET : (named ?? nameAt(persona));
  return { isHere, named, nameFor };
}

/** The file’s zone beside those that its records may lead to. */
function zonesOf(apex: string, records: readonly ResourceRecord[], target: string | null): ZoneSet {
  const set = new ZoneSet();
  const put = (zone: string, own: readonly ResourceRecord[]) =>
    set.put(createZone({ apex: zone, nameServer: NAME_SERVER, records: own }));
  set.put(platformZone({ hostnames: [`*.${PLATFORM_ZONE}`] }));
  for (const published of Object.values(PUBLISHED)) {
    if (published === undefined) continue;
    const { target: own, others = [], addresses = [STAND_IN] } = published;
    put(parentOf(own), addressRecords(`*.${parentOf(own)}`, addresses));
    for (const other of others) put(parentOf(other), [record(other, { type: 'CNAME', target: own })]);
  }
  put(apex, records);
  if (target !== null && findZone(set, target) === null) put(target, addressRecords(target, [STAND_IN]));
  return set;
}

const record = (name: string, data: RecordData): ResourceRecord => ({ name, ttlSeconds: DEFAULT_TTL_SECONDS, data });

const addressRecords = (name: string, addresses: readonly string[]): ResourceRecord[] =>
  addresses.map((address) => record(name, { type: address.includes(':') ? 'AAAA' : 'A', address }));

/** A name in none of the zones has no records. */
function lookupIn(set: ZoneSet): DnsLookup {
  const source = { local: true, name: 'the zone file' };
  return {
    query(text, mnemonic) {
      const name = parseName(text);
      const type = typeCode(mnemonic);
      if (!name.ok || type === null) return Promise.resolve({ kind: 'failed', reason: 'malformed', source });
      const { rcode, detail, ...found } = answer(set, { name: name.name, type, class: CLASS_IN });
      return Promise.resolve({
        kind: 'answered',
        rcode: rcode === 'REFUSED' ? 'NOERROR' : rcode,
        answers: recordsIn(found.answer),
        authority: recordsIn(found.authority),
        source,
        ...(rcode !== 'REFUSED' && detail !== undefined && { detail: detail.text }),
      });
    },
  };
}

const recordsIn = (rrsets: readonly RRset[]): DnsRecord[] =>
  rrsets.flatMap(({ data, ...rest }) => data.map((each) => ({ ...rest, data: each })));

async function rehearse(
  dns: DnsLookup,
  own: Omit<DomainRules, 'claim'>,
  asked: { hostname: string; kind: DomainKind; zone: string; issuers: readonly CaaIssuer[] },
): Promise<RehearsedProvider> {
  const { hostname, kind, zone, issuers } = asked;
  const { persona, cnameTarget } = own;
  const claim = await claimIn(dns, persona, hostname);
  const proofNames = claim?.proofs.map(({ name }) => name);
  const randomLabel = (): string => 'no-name-of-this-zone';
  const observation = await observe(dns, { hostname, kind, zone, cnameTarget, randomLabel, proofNames });
  const rules = { ...own, claim };
  const provider = { zone, supportsAlias: true, records: [], visibleAtMs: null };
  const checks = evaluate(observation, { ...rules, kind, verifiedBefore: false, provider });
  const event = { atMs: 0, verdict: verdictOf(checks), hasFoundNothing: hasFoundNothing(checks) };
  const { state, verifiedAtMs } = nextHostname(ATTACHED, { type: 'checked', ...event });
  const gate = await gateFor(dns, hostname, issuers);
  const isAllowed = gate.some(({ outcome }) => outcome === 'ok');
  const issuance = state !== 'verified' ? 'none' : isAllowed ? 'issued' : 'pending';
  const refusal = isAllowed ? null : ({ code: 'caa_forbids', message: '' } as const);
  const moments = { verifiedAtMs, lastCheckedAtMs: 0, nextCheckAtMs: 0 };
  const says = personaOf(persona, { state, checks, certificate: { state: issuance, refusal }, ...moments });
  return {
    persona: persona.id,
    name: persona.name,
    state,
    ...(says?.state !== undefined && { says: says.state }),
    checks: checks.map((check) => worded(check, persona, hostname)),
    instructions: instructionsFor(hostname, kind, rules, provider),
    certificate: {
      state: issuance,
      ...(says?.certificate !== undefined && { says: says.certificate }),
      issuers: issuers.map(({ issuer }) => issuer),
      checks: gate.map((check) => worded(check, persona, hostname)),
    },
  };
}

/** CAA for the first CA that may issue, else for the first one. */
async function gateFor(dns: DnsLookup, hostname: string, issuers: readonly CaaIssuer[]) {
  const gates = await Promise.all(issuers.map((issuer) => gateChecks(dns, hostname, issuer)));
  return gates.find(([{ outcome }]) => outcome === 'ok') ?? gates[0] ?? [];
}

/** The value of a proof is between the provider and its customer, so any text at the name counts. */
async function claimIn(dns: DnsLookup, persona: Persona, hostname: string): Promise<Claim | null> {
  if (persona.claim !== 'required' && persona.claim !== 'alternative') return null;
  const project = { id: '', name: '', slug: '' };
  const claim = claimOf(persona, { hostname, project, verifiedBefore: false, rival: null });
  if (claim === null) return null;
  const proofs = claim.proofs.map(async ({ name }) => {
    const reply = await dns.query(name, 'TXT');
    const texts = reply.kind === 'answered' ? reply.answers.flatMap(({ data }) => data.strings?.join('') ?? []) : [];
    return { name, value: texts[0] ?? `the text that ${persona.name} shows` };
  });
  return { ...claim, proofs: await Promise.all(proofs) };
}
