import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { BODY_LENGTH_MAX, headerField, requestTarget } from './api.ts';
import { call } from './base.ts';
import { providerId } from './providers.ts';
import { STAGE_NAMES } from './stages.ts';
import { readFilter } from './traffic-filter.ts';
import { environment, identifier, keyReference, projectReference, refusalCode, timestamp } from './values.ts';

export const stageName = z.enum(STAGE_NAMES);

const rateState = z.object({ limit: z.int(), remaining: z.int(), resetSeconds: z.int() });

export const trafficEntry = z.object({
  /** Increases with every entry. */
  id: identifier,
  /** On the app's clock; `realAt` is the real time. */
  at: timestamp,
  realAt: timestamp,
  method: z.string(),
  /** In origin form: path and query. */
  target: z.string(),
  scheme: z.enum(['http', 'https']),
  httpVersion: z.string(),
  /** As the client sent it, port included; null when the request has no host. */
  authority: z.string().nullable(),
  /** Null when the client disconnected before an answer. 101: a tunnel was opened. */
  status: z.int().nullable(),
  stage: stageName,
  /** The break that struck: the entry of the catalogue with its title, and the id of the running break. */
  fault: z.object({ entry: z.string(), title: z.string().optional(), breakId: z.string() }).optional(),
  /** Absent when the host belongs to no project. */
  projectId: identifier.optional(),
  /** Its slug; absent also when the project was removed since. */
  project: z.string().optional(),
  environment: environment.optional(),
  /** The source of the answer. */
  answeredBy: z.enum(['proxy', 'api', 'provider', 'upstream']),
  /** The provider whose emulated API the host is. */
  provider: providerId.optional(),
  /** The API key, or the connection to a provider, that the request was counted for, if any. */
  keyId: identifier.optional(),
  address: z.string(),
  /** Which limit refused the request, if one did. */
  refusal: refusalCode.optional(),
  /** The exhausted rate window; absent for a ban. */
  window: z.enum(['minute', 'day']).optional(),
  requestBytes: z.int(),
  responseBytes: z.int(),
  /** Real milliseconds to the first byte of the answer and to its end. */
  firstByteMs: z.number().nullable(),
  durationMs: z.number(),
  /** Whether the exchange ended before the answer was complete. */
  aborted: z.boolean(),
  /** Present while it runs: sizes, times and answer are those so far. */
  running: z.literal(true).optional(),
  replayOf: identifier.optional(),
});
export type TrafficEntry = z.infer<typeof trafficEntry>;

const recordedBody = z.object({
  /** Text; base64 when the body is not UTF-8. */
  text: z.string(),
  encoding: z.enum(['utf8', 'base64']),
  /** Bytes sent. `text` holds at most 64 KiB, decoded from the first 64 KiB of the body; `cut` marks a partial text. */
  bytes: z.int(),
  cut: z.boolean(),
  /** The content coding that was removed for `text`. */
  decoded: z.enum(['gzip', 'deflate', 'br', 'zstd']).optional(),
});

const frame = z.object({
  /** Real milliseconds since the start of the request. */
  atMs: z.number(),
  from: z.enum(['client', 'upstream']),
  kind: z.enum(['continuation', 'text', 'binary', 'close', 'ping', 'pong', 'other']),
  /** Whether it ends its message. */
  final: z.boolean(),
  /** The first KiB, as text; base64 when they are compressed or not UTF-8. */
  text: z.string(),
  encoding: z.enum(['utf8', 'base64']),
  compressed: z.boolean(),
  bytes: z.int(),
  cut: z.boolean(),
});
export type TrafficFrame = z.infer<typeof frame>;

export const trafficDetail = trafficEntry.extend({
  /** Why `stage` answered so, in a sentence. */
  explanation: z.string(),
  /** Time per part: the stages, the target until its first byte, and the rest of the answer. */
  timings: z.array(z.object({ part: z.enum(['stages', 'waiting', 'receiving']), ms: z.number() })),
  /** The caller's state in the rate window that would run out first, at the time of the request. */
  rate: rateState.nullable(),
  upstream: z.string().optional(),
  /** Secrets are redacted: `Authorization` and cookies keep only enough to tell them apart. */
  requestHeaders: z.array(headerField),
  responseHeaders: z.array(headerField),
  /** Null when the message had no body, or bodies were not recorded. */
  requestBody: recordedBody.nullable(),
  responseBody: recordedBody.nullable(),
  /** The newest frames of a WebSocket, oldest first, and how many there were. */
  frames: z.object({ items: z.array(frame), total: z.int() }).optional(),
});
export type TrafficDetail = z.infer<typeof trafficDetail>;

const counts = z.array(z.int());
const times = z.array(z.number().nullable());

export const trafficSummary = z.object({
  /** All series below consist of steps of this many real seconds, oldest first. */
  stepSeconds: z.int(),
  /** How long ago the last step ended, in real milliseconds, and when, in real time. */
  ageMs: z.int(),
  until: timestamp,
  requests: counts,
  /** Requests that a limit refused. */
  refused: counts,
  /** Requests by status class; `none` counts clients that disconnected before the answer. */
  statuses: z.object({ none: counts, '1xx': counts, '2xx': counts, '3xx': counts, '4xx': counts, '5xx': counts }),
  /** Percentiles of the real milliseconds to the answer's end, accurate to a fifth; null without requests. */
  latencyMs: z.object({ p50: times, p90: times, p99: times }),
  /** The highest share of its limit that any caller used, from 0 to 1; null when no request was counted. */
  quotaUsed: times,
  /** Totals over all steps; unless an earlier range was asked for, with those since the last one ended. */
  whole: z.object({
    requests: z.int(),
    refused: z.int(),
    /** Answered with 5xx, or without an answer. */
    failed: z.int(),
    p50: z.number().nullable(),
    p90: z.number().nullable(),
    p99: z.number().nullable(),
  }),
});
export type TrafficSummary = z.infer<typeof trafficSummary>;

export const filterText = z
  .string()
  .max(1_000)
  .superRefine((text, context) => {
    const read = readFilter(text);
    if (!read.ok) context.addIssue({ code: 'custom', message: read.message });
  })
  .meta({ examples: ['status:4xx method:POST'] });

const narrowed = { projectId: projectReference.optional(), filter: filterText.optional() };

/** RFC 9110, sections 5.1 and 5.5. */
const fieldName = z
  .string()
  .max(200)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header field');
const fieldValue = z
  .string()
  .max(8_000)
  .regex(/^[\t -~\u0080-\u00ff…]*$/, 'must have no line break and no character beyond Latin-1');

const headersOf = (value: typeof fieldValue) => z.array(z.strictObject({ name: fieldName, value })).max(100);

const method = z
  .string()
  .max(32)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be a method, such as POST')
  .refine((name) => name !== 'CONNECT', 'must not be CONNECT');

const hostname = z
  .string()
  .max(253)
  .regex(/^[!-~]+$/, 'must be a hostname, without a port');

const one = { id: identifier };

/** Maximum entries per answer. */
export const TRAFFIC_LIST_MAX = 1_000;
export const TRAFFIC_LIST_DEFAULT = 100;

/** How far back a summary goes. */
export const SUMMARY_MINUTES_MAX = 30;
export const SUMMARY_MINUTES_DEFAULT = 5;

export const traffic = {
  list: call(
    'Recorded requests and answers, newest first',
    z.object({
      items: z.array(trafficEntry),
      /** How many entries are kept in all, and whether requests are being recorded. */
      kept: z.int(),
      /** How many entries of the project, or of everything, made room for newer ones. */
      dropped: z.int(),
      recording: z.boolean(),
      next: identifier.optional(),
    }),
    {
      ...narrowed,
      limit: z.int().min(1).max(TRAFFIC_LIST_MAX).default(TRAFFIC_LIST_DEFAULT),
      /** Only entries before this one. */
      before: identifier.optional(),
    },
  ),
  get: call('One entry with headers, bodies and timings', trafficDetail, one),
  running: call('Requests in progress, with their state so far', z.object({ items: z.array(trafficEntry) }), narrowed),
  watch: call(
    'A stream of new entries in batches; `missed` counts entries that arrived too fast',
    eventIterator(
      z.object({
        entries: z.array(trafficEntry),
        missed: z.int(),
        /** As in `list`. */
        dropped: z.int(),
        /** Whether all entries before these have been dropped. */
        cleared: z.boolean(),
      }),
    ),
    narrowed,
  ),
  summary: call(
    'Requests, statuses, latencies and quota over the last minutes, whether or not requests are recorded',
    trafficSummary,
    {
      projectId: projectReference.optional(),
      minutes: z.int().min(1).max(SUMMARY_MINUTES_MAX).default(SUMMARY_MINUTES_DEFAULT),
      /** Real times within the last half hour, instead of `minutes`: the whole steps between them. */
      since: timestamp.optional(),
      until: timestamp.optional(),
    },
  ),
  clear: call('Delete all entries', z.object({ cleared: z.int() })),
  har: call(
    'Entries as an HTTP archive (HAR 1.2) for browser developer tools; secrets are redacted',
    z.object({ log: z.looseObject({ entries: z.array(z.unknown()) }), next: identifier.optional() }),
    {
      ...narrowed,
      /** Maximum entries in a part, fewer if they are large; without it, the archive is returned whole. */
      limit: z.int().min(1).max(TRAFFIC_LIST_MAX).optional(),
      /** Only entries after this one: `next` of the previous part. */
      after: identifier.optional(),
    },
  ),
  replay: call(
    'Send a recorded request again, or a changed one, over the same scheme; it is counted like any other',
    trafficDetail,
    {
      ...one,
      method: method.optional(),
      target: requestTarget.optional(),
      hostname: hostname.optional(),
      /** Replaces all; a value whose secret is redacted (`…`) is sent as it was recorded. */
      headers: headersOf(fieldValue).optional(),
      body: z.string().max(BODY_LENGTH_MAX).optional(),
      /** The API key to send it with; null for none. Without it, the recorded one. */
      keyId: keyReference.nullable().meta({ title: 'key' }).optional(),
    },
  ),
  send: call('Send a request to a served hostname; it is recorded and counted like any other', trafficDetail, {
    hostname,
    target: requestTarget.default('/'),
    method: method.default('GET').meta({ examples: ['POST'] }),
    scheme: z.enum(['http', 'https']).default('http'),
    /** Vivarium sets host, framing and connection fields itself. */
    headers: headersOf(fieldValue.regex(/^[^…]*$/, 'must have the secret in place of …')).optional(),
    body: z.string().max(BODY_LENGTH_MAX).optional(),
    /** The API key to send it with; its secret need not be known. */
    keyId: keyReference.meta({ title: 'key' }).optional(),
  }),
};
