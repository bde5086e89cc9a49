import { z } from 'zod';
import { base } from './base.ts';
import { timestamp } from './values.ts';

/** The longest zone file that one import reads, in characters. */
export const ZONE_TEXT_MAX = 16 * 1024 * 1024;

export const recordType = z.enum(['A', 'AAAA', 'CNAME', 'ALIAS', 'ANAME', 'TXT', 'CAA', 'MX', 'NS']);

const nameText = z.string().min(1).max(1000);

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
    .input(z.strictObject({ name: nameText, text: z.string().max(ZONE_TEXT_MAX) }))
    .output(
      z.object({
        created: z.int(),
        rejected: z.array(z.object({ line: z.int(), message: z.string() })),
        rejectedTotal: z.int(),
      }),
    ),
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
        ttl: z.int().min(0).max(2_147_483_647).default(3600),
        value: z.string().max(65_535),
        /** Store what a careless provider would accept, such as a CNAME beside an A. */
        force: z.boolean().default(false),
      }),
    )
    .output(record),
  remove: base
    .route({ summary: 'Remove a record' })
    .input(z.strictObject({ id: z.string().min(1).max(64) }))
    .output(record),
};

const answerRecord = z.object({ name: z.string(), type: z.string(), ttl: z.int(), value: z.string() });

export const dns = {
  query: base
    .route({ summary: 'Ask the resolver of the settings over real DNS' })
    .input(
      z.strictObject({
        name: nameText,
        type: z
          .string()
          .regex(/^[A-Za-z0-9]+$/)
          .max(20)
          .default('A'),
      }),
    )
    .output(
      z.object({
        rcode: z.string(),
        answer: z.array(answerRecord),
        authority: z.array(answerRecord),
        /** Who answered: `address:port`, over UDP or TCP. */
        source: z.string(),
      }),
    ),
};
