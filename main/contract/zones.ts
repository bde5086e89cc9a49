import { z } from 'zod';
import { call } from './base.ts';
import { certificateState, check, domainState, hostnameInput, instruction } from './domains.ts';
import { persona } from './projects.ts';
import { NAMED_TYPES } from './record-types.ts';
import { about, timestamp } from './values.ts';

/** The maximum length of a zone file to import, in characters. */
export const ZONE_TEXT_MAX = 16 * 1024 * 1024;

/** The maximum number of records in all zones; the DNS server’s published measurements use it. */
export const RECORDS_MAX = 100_000;

/** The maxima of a zone file to rehearse, in characters and records. */
const REHEARSED_TEXT_MAX = 1024 * 1024;
export const REHEARSED_RECORDS_MAX = 10_000;

/** Included texts of one import. */
const ZONE_FILES_MAX = 100;

/**
 * A type by its name, or by its number where it has none here (RFC 3597). SOA: at the apex; the serial is the server's.
 */
export const recordType = z.union([z.enum(NAMED_TYPES), z.templateLiteral(['TYPE', z.number()])], {
  error: `must be one of ${NAMED_TYPES.join(', ')}, or a number such as "TYPE65280"`,
});

export const nameText = z.string().min(1).max(1000);
const ttl = z.int().min(0).max(2_147_483_647);
const value = z.string().max(65_535);
const recordId = z.string().min(1).max(64);

export const zone = z.object({
  name: z.string(),
  /** Whether the zone's provider offers ALIAS and ANAME records. */
  supportsAlias: z.boolean(),
  records: z.int(),
  /** Present while answers are signed (DNSSEC). */
  signed: z.literal(true).optional(),
  createdAt: timestamp,
});
export type ZoneInfo = z.infer<typeof zone>;

export const record = z.object({
  id: z.string(),
  zone: z.string(),
  /** Relative to the zone; `@` is the apex. */
  name: z.string(),
  type: recordType,
  ttl: z.int(),
  value: z.string(),
  /** When the server starts to serve the record; until then it serves the previous one. */
  visibleAt: timestamp,
  warnings: z.array(z.string()).optional(),
  /** The running break that added it, for `breaks.stop`. */
  breakId: z.string().optional(),
});
export type RecordInfo = z.infer<typeof record>;

const answered = z.array(z.object({ ttl: z.int(), value: z.string() }));

/** An RRset with a pending change: the current answer, and later answers with their times. */
const propagatingRRset = z.object({
  /** Relative to the zone; `@` is the apex. */
  name: z.string(),
  type: recordType,
  /** Empty: queries currently find no such RRset. */
  answered,
  /** The first ten changes in order; with fewer, the last one is the final state. */
  changes: z.array(z.object({ at: timestamp, answered })),
});
export type PropagatingRRset = z.infer<typeof propagatingRRset>;

/** A finding about one line of a zone file, or all lines of a record; lines count from 1. */
const lineReport = z.object({ line: z.int(), message: z.string(), forcible: z.literal(true).optional() });

/** At most 100 lines of each kind are listed; the totals count all of them. */
const zoneImportReport = z.object({
  created: z.int(),
  /** Valid lines whose record already existed; it takes the file's TTL. */
  existing: z.int(),
  rejected: z.array(lineReport),
  rejectedTotal: z.int(),
  /** How many rejected lines `force` would accept. */
  forcible: z.int(),
  /** Lines accepted verbatim although they are probably mistakes. */
  warnings: z.array(lineReport),
  warningsTotal: z.int(),
});

/** What one provider would say about a hostname. */
const rehearsedProvider = z.object({
  persona,
  name: z.string(),
  state: domainState,
  /** What the provider calls the state. */
  says: z.string().optional(),
  checks: z.array(check),
  /** The records that it requires. */
  instructions: z.array(instruction),
  certificate: z.object({
    /** `pending`: CAA permits none of the issuers; `none`: the hostname is not verified. */
    state: certificateState,
    says: z.string().optional(),
    /** The provider’s CAs, by their names in CAA records; one of them has to be permitted. */
    issuers: z.array(z.string()),
    checks: z.array(check),
  }),
});
export type RehearsedProvider = z.infer<typeof rehearsedProvider>;

const zoneRehearsal = z.object({
  hostname: z.string(),
  zone: z.string(),
  /** Read from the file. */
  records: z.int(),
  /** Lines that were not read; the first 100. */
  rejected: z.array(lineReport),
  rejectedTotal: z.int(),
  providers: z.array(rehearsedProvider),
});
export type ZoneRehearsal = z.infer<typeof zoneRehearsal>;

/** A TSIG key (RFC 8945), good for one zone. */
const updateKey = z.object({
  name: z.string(),
  algorithm: z.literal('hmac-sha256'),
  /** In base64. */
  secret: z.string(),
  server: z.object({ address: z.string(), port: z.int() }),
  /** The key in the form of BIND's tools: `nsupdate -k FILE`. */
  file: z.string(),
});
export type UpdateKey = z.infer<typeof updateKey>;

/** Signatures that are expired, missing, or made with another key. */
export const zoneBreak = z.enum(['expired', 'missing', 'wrong-key']);
export type ZoneBreak = z.infer<typeof zoneBreak>;

/** How a zone's answers are signed. All times are on Vivarium's clock. */
const zoneDnssec = z.object({
  name: z.string(),
  signed: z.boolean(),
  /** This and the members below exist only while the zone is signed. */
  algorithm: z.string().optional(),
  /** Two during a roll; the values of their DS and DNSKEY records. */
  keys: z
    .array(
      z.object({
        tag: z.int(),
        ds: z.string(),
        dnskey: z.string(),
        /** When the roll to the next key ends. */
        retiresAt: timestamp.optional(),
      }),
    )
    .optional(),
  /** The validity period of the present signatures. */
  signatures: z.object({ from: timestamp, until: timestamp }).optional(),
  /** The fault of the signatures. */
  break: zoneBreak.optional(),
  /** The trust anchor as files: `trust-anchor-file` of unbound, and `delv -a`. */
  anchors: z.object({ unbound: z.string(), delv: z.string() }).optional(),
});
export type ZoneDnssec = z.infer<typeof zoneDnssec>;

/** The platform's own zone; it is generated from the projects. */
const platformZone = z.object({
  name: z.string(),
  records: z.array(z.object({ name: z.string(), type: z.string(), ttl: z.int(), value: z.string() })),
});

const forced = about(z.boolean(), 'also store records that a careful provider refuses, such as a CNAME next to an A');

export const zones = {
  list: call('The zones that the local DNS server answers for, besides the platform’s', z.array(zone)),
  create: call('Create a zone', zone, {
    name: nameText,
    supportsAlias: about(z.boolean(), 'accept ALIAS and ANAME records').default(true),
  }),
  remove: call('Remove a zone with its records', zone, { name: nameText }),
  export: call('A zone as zone-file text', z.object({ text: z.string() }), { name: nameText }),
  import: call('Add the records of a zone file; valid lines are added, invalid ones reported', zoneImportReport, {
    name: nameText,
    text: z.string().max(ZONE_TEXT_MAX),
    files: about(
      z
        .record(z.string().min(1).max(255), z.string().max(ZONE_TEXT_MAX))
        .refine((files) => Object.keys(files).length <= ZONE_FILES_MAX, `must be ${ZONE_FILES_MAX} texts at most`),
      'the texts of $INCLUDE lines, by file name',
    ).default({}),
    force: forced.default(false),
  }),
  rehearse: call(
    'What each provider would say about a hostname if a zone file were in force; changes nothing',
    zoneRehearsal,
    {
      text: z.string().max(REHEARSED_TEXT_MAX),
      hostname: about(hostnameInput, 'by default the $ORIGIN of the file').optional(),
      target: about(hostnameInput, 'where records should lead, instead of the provider’s own name').optional(),
      persona: about(persona, 'only this provider').optional(),
    },
  ),
  updateKey: call('The key that signs updates of a zone over DNS (RFC 2136), for tools that write records', updateKey, {
    name: nameText,
    renew: about(z.boolean(), 'replace the key; the previous one is refused').default(false),
  }),
  dnssec: call('How a zone’s answers are signed (DNSSEC), with its trust anchor; changes the given parts', zoneDnssec, {
    name: nameText,
    /** Start or stop signing the answers. The keys are kept. */
    signed: about(z.boolean(), 'whether answers are signed').optional(),
    roll: about(z.boolean(), 'add a new key beside the present one, which retires two days later').default(false),
    /** Answer with expired signatures, without signatures, or with those of a key other than the anchor’s. */
    break: z.union([z.literal('none'), zoneBreak]).optional(),
  }),
  platform: call('The platform’s own zone, which follows the projects', platformZone),
};

export const records = {
  list: call('A zone’s records, all of them or those at one name', z.array(record), {
    zone: nameText,
    /** Relative to the zone; `@` is the apex. */
    name: nameText.optional(),
  }),
  put: call('Add a record; the same record again only changes its TTL', record, {
    zone: nameText,
    name: nameText,
    type: recordType,
    ttl: ttl.default(3600),
    value,
    force: forced.default(false),
  }),
  update: call('Replace a record in one step, even with one that conflicts with it', record, {
    id: recordId,
    name: nameText.optional(),
    type: recordType.optional(),
    ttl: ttl.optional(),
    value: value.optional(),
    force: forced.default(false),
  }),
  remove: call('Remove a record', record, { id: recordId }),
  propagating: call('A zone’s pending changes, and the current answers until they arrive', z.array(propagatingRRset), {
    zone: nameText,
  }),
};

const answerRecord = z.object({
  name: z.string(),
  type: z.string(),
  ttl: z.int(),
  value: z.string(),
  /** The value as in a zone file: quoted strings, names with a trailing dot. */
  rdata: z.string(),
});
export type AnswerRecord = z.infer<typeof answerRecord>;

const dnsAnswer = z.object({
  rcode: z.string(),
  answer: z.array(answerRecord),
  authority: z.array(answerRecord),
  additional: z.array(answerRecord),
  /** The server that answered: `address:port`, and UDP or TCP. */
  source: z.string(),
  server: z.object({ address: z.string(), port: z.int(), transport: z.enum(['udp', 'tcp']) }),
  /** The message id, and the set flags in the notation of `dig`: `qr`, `aa`, `rd`. */
  id: z.int(),
  flags: z.array(z.string()),
  question: z.object({ name: z.string(), type: z.string() }),
  /** The UDP payload size that the server accepts; absent without EDNS. */
  ednsOctets: z.int().optional(),
  /** The server's extended errors (RFC 8914). */
  detail: z.string().optional(),
  /** The size of the response in octets. */
  octets: z.int(),
  /** Real time from query to response, retries included. */
  elapsedMs: z.number(),
});

export const dns = {
  query: call('Query the configured resolver over real DNS', dnsAnswer, {
    name: nameText,
    type: z
      .string()
      .regex(/^[A-Za-z0-9]+$/, 'must be a record type such as "A", "CAA" or "TYPE65"')
      .max(20)
      .default('A'),
  }),
};
