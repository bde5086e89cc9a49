import { z } from 'zod';
import { base } from './base.ts';
import { timestamp } from './values.ts';

/** The longest zone file that one import reads, in characters. */
export const ZONE_TEXT_MAX = 16 * 1024 * 1024;

export const recordType = z.enum(['A', 'AAAA', 'CNAME', 'ALIAS', 'ANAME', 'TXT', 'CAA', 'MX', 'NS']);

const nameText = z.string().min(1).max(1000);
const ttl = z.int().min(0).max(2_147_483_647);
const value = z.string().max(65_535);
const recordId = z.string().min(1).max(64);

export const zone = z.object({
  name: z.string(),
  /** Whether the zone's provider offers ALIAS and ANAME records. */
  supportsAlias: z.boolean(),
  records: z.int(),
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
  /** When the server begins to answer with it; until then it answers with what was there before. */
  visibleAt: timestamp,
  warnings: z.array(z.string()).optional(),
});
export type RecordInfo = z.infer<typeof record>;

const answered = z.array(z.object({ ttl: z.int(), value: z.string() }));

/** One RRset of which something is on its way: what is answered now, and from when on something else. */
const propagatingRRset = z.object({
  /** Relative to the zone; `@` is the apex. */
  name: z.string(),
  type: recordType,
  /** Empty: there is no such RRset for those who ask now. */
  answered,
  /** The first ten, in their order; with fewer, the last one is what the zone's owner wants. */
  changes: z.array(z.object({ at: timestamp, answered })),
});
export type PropagatingRRset = z.infer<typeof propagatingRRset>;

/** Something about one line of a zone file, or the lines that a record goes over; lines count from 1. */
const lineReport = z.object({ line: z.int(), message: z.string(), forcible: z.literal(true).optional() });

/** At most 100 lines of each kind are listed; the totals count them all. */
const zoneImportReport = z.object({
  created: z.int(),
  /** Good lines whose record was there before; its TTL is the file's now. */
  existing: z.int(),
  rejected: z.array(lineReport),
  rejectedTotal: z.int(),
  /** How many of those that were rejected are taken with `force`. */
  forcible: z.int(),
  /** What was taken as it stands, although it was hardly meant so. */
  warnings: z.array(lineReport),
  warningsTotal: z.int(),
});

/** The platform's own zone: made from the projects, and changed through them only. */
const platformZone = z.object({
  name: z.string(),
  records: z.array(z.object({ name: z.string(), type: z.string(), ttl: z.int(), value: z.string() })),
});

export const zones = {
  list: base
    .route({ summary: 'The zones that the local DNS server answers for, besides the platform’s' })
    .input(z.strictObject({}).optional())
    .output(z.array(zone)),
  create: base
    .route({ summary: 'Create a zone' })
    .input(z.strictObject({ name: nameText, supportsAlias: z.boolean().default(true) }))
    .output(zone),
  remove: base
    .route({ summary: 'Remove a zone with its records' })
    .input(z.strictObject({ name: nameText }))
    .output(zone),
  export: base
    .route({ summary: 'A zone as zone-file text' })
    .input(z.strictObject({ name: nameText }))
    .output(z.object({ text: z.string() })),
  import: base
    .route({ summary: 'Add the records of a zone file; good lines are taken, bad ones are reported' })
    .input(
      z.strictObject({
        name: nameText,
        text: z.string().max(ZONE_TEXT_MAX),
        /** Take lines too that a careless provider would accept, such as a CNAME beside an A. */
        force: z.boolean().default(false),
      }),
    )
    .output(zoneImportReport),
  platform: base
    .route({ summary: 'The platform’s own zone, which follows the projects' })
    .input(z.strictObject({}).optional())
    .output(platformZone),
};

export const records = {
  list: base
    .route({ summary: 'A zone’s records, all of them or those at one name' })
    .input(
      z.strictObject({
        zone: nameText,
        /** Relative to the zone; `@` is the apex. */
        name: nameText.optional(),
      }),
    )
    .output(z.array(record)),
  put: base
    .route({ summary: 'Add a record; the same record again only changes its TTL' })
    .input(
      z.strictObject({
        zone: nameText,
        name: nameText,
        type: recordType,
        ttl: ttl.default(3600),
        value,
        /** Store what a careless provider would accept, such as a CNAME beside an A. */
        force: z.boolean().default(false),
      }),
    )
    .output(record),
  update: base
    .route({ summary: 'Change a record in one step, also where it could not stand beside what it was' })
    .input(
      z.strictObject({
        id: recordId,
        name: nameText.optional(),
        type: recordType.optional(),
        ttl: ttl.optional(),
        value: value.optional(),
        force: z.boolean().default(false),
      }),
    )
    .output(record),
  remove: base
    .route({ summary: 'Remove a record' })
    .input(z.strictObject({ id: recordId }))
    .output(record),
  propagating: base
    .route({ summary: 'What of a zone is on its way, and what is answered until it arrives' })
    .input(z.strictObject({ zone: nameText }))
    .output(z.array(propagatingRRset)),
};

const answerRecord = z.object({
  name: z.string(),
  type: z.string(),
  ttl: z.int(),
  value: z.string(),
  /** The value as in a zone file: quoted, names with the trailing dot. */
  rdata: z.string(),
});
export type AnswerRecord = z.infer<typeof answerRecord>;

const dnsAnswer = z.object({
  rcode: z.string(),
  answer: z.array(answerRecord),
  authority: z.array(answerRecord),
  additional: z.array(answerRecord),
  /** Who answered: `address:port`, over UDP or TCP. */
  source: z.string(),
  server: z.object({ address: z.string(), port: z.int(), transport: z.enum(['udp', 'tcp']) }),
  /** Of the header: the message's id, and the flags that are set, as `dig` writes them: `qr`, `aa`, `rd`. */
  id: z.int(),
  flags: z.array(z.string()),
  question: z.object({ name: z.string(), type: z.string() }),
  /** Octets of UDP that the server takes, where it knows EDNS. */
  ednsOctets: z.int().optional(),
  /** Why, in the server's own words (RFC 8914). */
  detail: z.string().optional(),
  /** The response's length. */
  octets: z.int(),
  /** Real time from question to answer, repeats included. */
  elapsedMs: z.number(),
});

export const dns = {
  query: base
    .route({ summary: 'Ask the resolver of the settings over real DNS' })
    .input(
      z.strictObject({
        name: nameText,
        type: z
          .string()
          .regex(/^[A-Za-z0-9]+$/, 'must be a record type such as "A", "CAA" or "TYPE65"')
          .max(20)
          .default('A'),
      }),
    )
    .output(dnsAnswer),
};
