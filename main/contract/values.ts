import { orElse } from './errors.ts';
import { z } from 'zod';
import { ALL_FIELDS, PET_FIELDS } from './pet-fields.ts';
import { mention } from './calls.ts';
import { DURATION_FORMS, formatDuration, isIsoDuration, parseDuration } from './duration.ts';

/** A schema with what it means and values to show, for the help, tools and the API's description. */
export const about = <Schema extends z.ZodType>(schema: Schema, description: string, ...examples: unknown[]): Schema =>
  schema.meta({ description, ...(examples.length > 0 && { examples }) });

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

const INT64_MESSAGE = `must be an integer from ${INT64_MIN} to ${INT64_MAX}, as a string of decimal digits, or a number within ±(2^53−1)`;

/** Whether `text` is a plain decimal integer (no plus sign, no leading zeros) within signed 64 bits. */
export function isInt64Text(text: string): boolean {
  if (!/^(0|-?[1-9][0-9]{0,18})$/.test(text)) return false;
  const value = BigInt(text);
  return value >= INT64_MIN && value <= INT64_MAX;
}

/** An int64 in output: a decimal string, exact over the whole range. */
export const int64Text = z
  .string()
  .refine(isInt64Text, INT64_MESSAGE)
  .meta({ format: 'int64', examples: ['42'] });

/**
 * An int64 in input: a decimal string, or a JSON integer that a double holds exactly. The JSON parser has already
 * rounded numbers beyond ±(2^53−1), so they are refused.
 */
export const int64Input = z
  .union(
    // Each part repeats the message, because zod reports only the part whose type matches.
    [z.string().refine(isInt64Text, INT64_MESSAGE), z.number().refine(Number.isSafeInteger, INT64_MESSAGE)],
    { error: INT64_MESSAGE },
  )
  .transform((value) => String(value))
  .meta({ format: 'int64', examples: ['42'] });

/** A moment in ISO 8601, UTC, milliseconds. */
export const timestamp = z.iso.datetime({ offset: true }).meta({ examples: ['2026-11-20T09:00:00.000Z'] });

/** A moment in stored values, in milliseconds since the epoch: `timestamp` writes it with a year of four digits. */
export const epochMs = z
  .number()
  .min(Date.UTC(1900, 0))
  .max(Date.UTC(9999, 11, 31));

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** A moment in input: ISO 8601, or a date alone, which is its beginning in UTC. */
export const moment = z
  .string()
  .max(64)
  .overwrite((text) => (DATE.test(text) ? `${text}T00:00:00.000Z` : text))
  .refine(
    (text) => timestamp.safeParse(text).success,
    'must be a moment in ISO 8601, such as "2026-11-20T09:00:00.000Z", or a date, such as "2030-01-01" (00:00 UTC)',
  )
  .meta({ examples: ['2030-01-01'] });

const durationOf = (text: z.ZodString) =>
  text
    .overwrite(isoForm)
    .refine(isIsoDuration, { error: `must be ${DURATION_FORMS}`, abort: true })
    .meta({ examples: ['10m'] });

/** A duration, weeks to milliseconds. In input also as people write it (`10m`); it becomes ISO 8601. */
export const duration = durationOf(z.string().max(64));

/** How far the clock advances. */
export const advance = durationOf(
  z
    .string()
    .max(64)
    .refine((text) => !text.trimStart().startsWith('-'), {
      error: `is negative, but the clock only advances. To go back: ${mention('clock.set', { to: '2030-01-01' })}`,
      abort: true,
    }),
);

/** A duration between two bounds, in milliseconds; `message` names them. */
export const durationWithin = (leastMs: number, mostMs: number, message: string) =>
  duration.refine((text) => {
    const milliseconds = durationOrNull(text);
    return milliseconds !== null && milliseconds >= leastMs && milliseconds <= mostMs;
  }, message);

/** Keeps ISO 8601 as written, and also texts that are not durations, for the schema to refuse. */
function isoForm(text: string): string {
  if (isIsoDuration(text)) return text;
  const milliseconds = durationOrNull(text);
  return milliseconds === null ? text : formatDuration(milliseconds);
}

/** Null when the text is not a duration, or too long to count in milliseconds. */
const durationOrNull = (text: string): number | null => orElse(() => parseDuration(text), null);

export const identifier = z.string().min(1).max(64);

const reference = z.string().min(1).max(100);

/** A project in input: its id, its slug, or its exact name if no other project has that name. */
export const projectReference = reference.meta({ title: 'project' });

/** An API key in input: its id, or its name if no other key that is not revoked has that name. */
export const keyReference = reference.meta({ title: 'key' });

export const environment = z.enum(['production', 'staging']);
export type Environment = z.infer<typeof environment>;

export const petStatus = z.enum(PET_FIELDS.status.options);
export type PetStatus = z.infer<typeof petStatus>;

/** The sort keys of a list of pets. Equal pets are ordered by id. */
export const petSort = z.enum(ALL_FIELDS);
export type PetSort = z.infer<typeof petSort>;

const PET_NAME_LENGTH_MAX = 1000;

/** C0 and C1: no terminal, log or page shows them as they are. */
export const hasNoControls = (name: string): boolean => !/\p{Cc}/u.test(name);
export const NO_CONTROLS = 'must not have control characters such as tabs, line breaks and ESC';

/** An animal's name. Characters are Unicode code points. */
export const petName = z
  .string({ error: 'must be a string of 1 to 1,000 characters' })
  .superRefine((name, context) => {
    const fault = petNameFault(name);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  })
  .meta({ minLength: 1, maxLength: PET_NAME_LENGTH_MAX, pattern: '\\S' });

/** Any other text of a pet. */
export const petText = z
  .string()
  .max(PET_NAME_LENGTH_MAX)
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode: it has a lone surrogate');

function petNameFault(name: string): string | null {
  if (name.trim() === '') return 'must have at least one character other than spaces';
  // UTF-8 cannot encode a lone surrogate; the stored name would differ.
  if (!name.isWellFormed()) return 'must be well-formed Unicode: it has a lone surrogate';
  const length = codePointCount(name);
  return length > PET_NAME_LENGTH_MAX ? `must have at most 1,000 characters; it has ${length}` : null;
}

function codePointCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff) count--;
  }
  return count;
}

/** A CA as named in CAA records. */
export const caName = z
  .string()
  .max(254)
  .regex(
    /^(?=.*[A-Za-z])[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\.?$/,
    'must be the CA’s domain name, such as "letsencrypt.org"',
  )
  .transform((name) => name.toLowerCase().replace(/\.$/, ''));

/** How a CA validates control of a domain (RFC 8657 §4): an ACME method, or one of the CA's own. */
export const validationMethod = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9-]+$/, 'must be the label of a validation method, such as "http-01"');

/** The form of every time on the wire (ISO 8601, UTC). */
export const iso = (atMs: number): string => new Date(atMs).toISOString();

/** Which limit refused a request. */
export const refusalCode = z.enum(['rate_limit_exceeded', 'api_key_banned']);
