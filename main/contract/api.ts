import { z } from 'zod';
import { base } from './base.ts';
import { environment, identifier } from './values.ts';

/** A name and its value, in the spelling and the order of the wire. */
export const headerField = z.object({ name: z.string(), value: z.string() });
export type HeaderField = z.infer<typeof headerField>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** What follows the base address, with the query: a request target without its `/v1` (RFC 9112 §3.2.1). */
const pathBelowBase = z
  .string()
  .max(8_000)
  .regex(
    /^\/[!"$-~]*$/,
    'must begin with "/" and have visible ASCII characters only; percent-encode others, "#" as %23 included',
  )
  .meta({ examples: ['/pets?limit=5'] });

/** A body that is just too large for the API can be tried; one far beyond is no trial. */
const BODY_LENGTH_MAX = 2 * 1024 * 1024;

const sentRequest = z.object({
  method: z.enum(METHODS),
  url: z.string(),
  /** As they went over the wire, but for the secret: `Bearer $VIVARIUM_KEY` stands for it. */
  headers: z.array(headerField),
  body: z.string().nullable(),
});
export type SentRequest = z.infer<typeof sentRequest>;

const receivedResponse = z.object({
  httpVersion: z.string(),
  status: z.int(),
  reason: z.string(),
  headers: z.array(headerField),
  /** As text; in base64 where it is not UTF-8. */
  body: z.string(),
  bodyEncoding: z.enum(['utf8', 'base64']),
  bodyBytes: z.int(),
  /** Whether there was more of it than is read here, or it had not ended in time. */
  cut: z.boolean(),
  /** Real milliseconds from the first byte out to the first and to the last byte in. */
  firstByteMs: z.number(),
  totalMs: z.number(),
});

export type ReceivedResponse = z.infer<typeof receivedResponse>;

const apiExchange = z.object({ request: sentRequest, response: receivedResponse });
export type ApiExchange = z.infer<typeof apiExchange>;

export const api = {
  describe: base
    .route({ summary: 'The OpenAPI document that a project serves at its base address' })
    .input(z.strictObject({ projectId: identifier, environment: environment.default('production') }))
    .output(
      z.object({
        baseUrl: z.string(),
        /** As served, byte for byte: its integers can be beyond 2^53. Null where an upstream serves none. */
        document: z.string().nullable(),
      }),
    ),
  send: base
    .route({ summary: 'Send one request to a project’s own listener; it is counted like any other' })
    .input(
      z.strictObject({
        projectId: identifier,
        environment: environment.default('production'),
        method: z.enum(METHODS).default('GET'),
        path: pathBelowBase,
        /** Host, framing and connection are Vivarium's matter, and so is Authorization. */
        headers: z
          .record(z.string().max(200), z.string().max(8_000))
          .meta({ examples: [{ Accept: 'application/json' }] })
          .optional(),
        body: z.string().max(BODY_LENGTH_MAX).optional(),
        /** Sends it as this API key of the project, whose secret need not be known. */
        keyId: identifier.optional(),
        /** Sends it with this secret, right or wrong. It is not kept. */
        secret: z
          .string()
          .max(1_000)
          .regex(/^[!-~]+$/, 'must have visible ASCII characters only')
          .optional(),
      }),
    )
    .output(apiExchange),
};
