import { z } from 'zod';
import { call } from './base.ts';
import { about, environment, keyReference, projectReference, refusalCode } from './values.ts';
import { readHttpFile } from './http-file.ts';

/** A field name and value, in the spelling and order of the wire. */
export const headerField = z.object({ name: z.string(), value: z.string() });
export type HeaderField = z.infer<typeof headerField>;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** A request target in origin form (RFC 9112 §3.2.1), query included. */
export const requestTarget = z
  .string()
  .max(8_000)
  .regex(
    /^\/[!"$-~]*$/,
    'must begin with "/" and consist of visible ASCII characters; percent-encode others, "#" as %23 included',
  )
  .meta({ examples: ['/pets?limit=5'] });

/** Bounds bodies well above the API's own limit, to let callers try a body that is slightly too large. */
export const BODY_LENGTH_MAX = 2 * 1024 * 1024;

const sentRequest = z.object({
  method: z.enum(METHODS),
  url: z.string(),
  /** As sent, except for the secret: `Bearer $VIVARIUM_KEY` replaces it. */
  headers: z.array(headerField),
  body: z.string().nullable(),
});
export type SentRequest = z.infer<typeof sentRequest>;

const receivedResponse = z.object({
  httpVersion: z.string(),
  status: z.int(),
  reason: z.string(),
  headers: z.array(headerField),
  /** Text; base64 when the body is not UTF-8. */
  body: z.string(),
  bodyEncoding: z.enum(['utf8', 'base64']),
  bodyBytes: z.int(),
  /** Whether the body was longer than the part read here, or was still arriving. */
  cut: z.boolean(),
  /** Real milliseconds from the first byte sent to the first and the last byte received. */
  firstByteMs: z.number(),
  totalMs: z.number(),
});

export type ReceivedResponse = z.infer<typeof receivedResponse>;

const apiExchange = z.object({
  request: sentRequest,
  response: receivedResponse,
  /** The limit that refused it, as recorded; absent while nothing is recorded. */
  refusal: refusalCode.optional(),
});
export type ApiExchange = z.infer<typeof apiExchange>;

export const api = {
  describe: call(
    'The OpenAPI document that a project serves at its base address',
    z.object({
      baseUrl: z.string(),
      /** Served byte for byte, because its integers can exceed 2^53. Null when the upstream serves no document. */
      document: z.string().nullable(),
    }),
    { projectId: projectReference, environment: environment.default('production') },
  ),
  send: call('Send one request to a project’s own listener; it is counted like any other', apiExchange, {
    projectId: projectReference,
    environment: environment.default('production'),
    method: z.enum(METHODS).default('GET'),
    path: requestTarget,
    /** Vivarium sets Host, framing, connection and Authorization fields itself. */
    headers: z
      .record(z.string().max(200), z.string().max(8_000))
      .meta({ examples: [{ Accept: 'application/json' }] })
      .optional(),
    body: z.string().max(BODY_LENGTH_MAX).optional(),
    /** Sends the request with this API key of the project; the caller need not know its secret. */
    keyId: keyReference.optional(),
    /** Sends the request with this secret, valid or not, and does not store it. */
    secret: about(
      z
        .string()
        .max(1_000)
        .regex(/^[!-~]+$/, 'must consist of visible ASCII characters'),
      'send this as the key’s secret, valid or not',
    ).optional(),
  }),
};

/** The maximum length of a project's requests, in characters. */
export const REQUESTS_TEXT_MAX = 512 * 1024;
export const REQUESTS_MAX = 500;

const ofProject = { projectId: projectReference };

/** An `.http` text without secrets of keys. */
export const requestsText = z
  .string()
  .max(REQUESTS_TEXT_MAX)
  .superRefine((value, context) => {
    const secret = value.split('\n').findIndex((line) => /viv_[0-9A-Za-z]{32}/.test(line));
    if (secret !== -1) {
      const message = `has the secret of an API key in line ${secret + 1}; write {{key}} in its place`;
      context.addIssue({ code: 'custom', message });
    }
    if (readHttpFile(value).requests.length > REQUESTS_MAX) {
      context.addIssue({ code: 'custom', message: `must have at most ${REQUESTS_MAX} requests` });
    }
  })
  .meta({ examples: ['GET {{baseUrl}}/pets?status=sold'] });

export const requests = {
  /** `{{baseUrl}}` is the project's base address, `{{key}}` the key it is sent with. The history is newest first. */
  get: call(
    'The saved requests of a project and the last ones sent with api.send, as .http texts',
    z.object({ saved: z.string(), history: z.string() }),
    ofProject,
  ),
  save: call(
    'Replace the saved requests of a project with an .http text, which must not contain key secrets',
    z.object({ saved: z.string() }),
    { ...ofProject, text: requestsText },
  ),
  forget: call('Delete the history of the requests sent to a project; saved ones stay', z.object({}), ofProject),
};
