import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { headerField } from './api.ts';
import { base } from './base.ts';
import { STAGE_NAMES } from './stages.ts';
import { readFilter } from './traffic-filter.ts';
import { environment, identifier, timestamp } from './values.ts';

export const stageName = z.enum(STAGE_NAMES);

const rateState = z.object({ limit: z.int(), remaining: z.int(), resetSeconds: z.int() });

export const trafficEntry = z.object({
  /** Rises with every entry. */
  id: identifier,
  /** On the app's clock; `realAt` is the real time. */
  at: timestamp,
  realAt: timestamp,
  method: z.string(),
  /** In origin form: path and query. */
  target: z.string(),
  scheme: z.enum(['http', 'https']),
  httpVersion: z.string(),
  /** As the client wrote it, with the port; null where the request did not say. */
  authority: z.string().nullable(),
  /** Null where the client left before there was an answer. 101: a tunnel was opened. */
  status: z.int().nullable(),
  stage: stageName,
  /** Absent where no project was found. */
  projectId: identifier.optional(),
  environment: environment.optional(),
  /** Where the answer came from. */
  answeredBy: z.enum(['proxy', 'api', 'upstream']),
  /** The API key that it was counted for, if there was one. */
  keyId: identifier.optional(),
  address: z.string(),
  /** Why it was refused by the limit, if it was. */
  refusal: z.enum(['rate_limit_exceeded', 'api_key_banned']).optional(),
  requestBytes: z.int(),
  responseBytes: z.int(),
  /** Real milliseconds to the first byte of the answer, and to its end. */
  firstByteMs: z.number().nullable(),
  durationMs: z.number(),
  /** Whether it ended before its answer was whole. */
  aborted: z.boolean(),
  /** The entry that this one repeats. */
  replayOf: identifier.optional(),
});
export type TrafficEntry = z.infer<typeof trafficEntry>;

const recordedBody = z.object({
  /** As text; in base64 where it is not UTF-8. */
  text: z.string(),
  encoding: z.enum(['utf8', 'base64']),
  /** How much was sent. `text` is made of the first 64 KiB of that, and has 64 KiB itself at most; `cut` says that it is not all. */
  bytes: z.int(),
  cut: z.boolean(),
  /** The content coding that was taken off for `text`. */
  decoded: z.enum(['gzip', 'deflate', 'br', 'zstd']).optional(),
});

export const trafficDetail = trafficEntry.extend({
  /** Which stage answered and why, in a sentence. */
  explanation: z.string(),
  /** How long it was with each part: the stages, the target until its first byte, and the rest of the answer. */
  timings: z.array(z.object({ part: z.enum(['stages', 'waiting', 'receiving']), ms: z.number() })),
  /** The caller's state in the rate window that runs out first, at that moment. */
  rate: rateState.nullable(),
  upstream: z.string().optional(),
  /** Secrets are redacted: of `Authorization` and cookies only enough is left to tell them apart. */
  requestHeaders: z.array(headerField),
  responseHeaders: z.array(headerField),
  /** Null where there was none, or bodies were not recorded. */
  requestBody: recordedBody.nullable(),
  responseBody: recordedBody.nullable(),
});
export type TrafficDetail = z.infer<typeof trafficDetail>;

const counts = z.array(z.int());
const times = z.array(z.number().nullable());

export const trafficSummary = z.object({
  /** Everything below is in whole steps of so many seconds of real time, oldest first. */
  stepSeconds: z.int(),
  /** How long ago the last of them ended, in milliseconds of real time. */
  ageMs: z.int(),
  requests: counts,
  /** Of the requests, those that a limit refused. */
  refused: counts,
  /** Of the requests, those that were answered so; `none`: the client left before. */
  statuses: z.object({ none: counts, '1xx': counts, '2xx': counts, '3xx': counts, '4xx': counts, '5xx': counts }),
  /** Percentiles of real milliseconds to the answer's end, off by a fifth at most; null where there were none. */
  latencyMs: z.object({ p50: times, p90: times, p99: times }),
  /** Of the caller that came closest to its limit, how much of it was used, from 0 to 1; null where none was counted. */
  quotaUsed: times,
  /** Of all the steps together. */
  whole: z.object({
    requests: z.int(),
    refused: z.int(),
    /** Answered with 5xx, or not at all. */
    failed: z.int(),
    p50: z.number().nullable(),
    p90: z.number().nullable(),
    p99: z.number().nullable(),
  }),
});
export type TrafficSummary = z.infer<typeof trafficSummary>;

const filterText = z
  .string()
  .max(1_000)
  .superRefine((text, context) => {
    const read = readFilter(text);
    if (!read.ok) context.addIssue({ code: 'custom', message: read.message });
  })
  .meta({ examples: ['status:4xx method:POST'] });

const narrowed = z.strictObject({ projectId: identifier.optional(), filter: filterText.optional() });

const one = z.strictObject({ id: identifier });

/** Entries that one answer has at most. */
export const TRAFFIC_LIST_MAX = 1_000;
export const TRAFFIC_LIST_DEFAULT = 100;

/** How far back a summary goes. */
export const SUMMARY_MINUTES_MAX = 30;
export const SUMMARY_MINUTES_DEFAULT = 5;

export const traffic = {
  list: base
    .route({ summary: 'What was asked and answered, newest first' })
    .input(
      narrowed
        .extend({
          limit: z.int().min(1).max(TRAFFIC_LIST_MAX).default(TRAFFIC_LIST_DEFAULT),
          /** Only entries before this one. */
          before: identifier.optional(),
        })
        .optional(),
    )
    .output(
      z.object({
        items: z.array(trafficEntry),
        /** How many entries are kept in all, and whether recording is on. */
        kept: z.int(),
        recording: z.boolean(),
        next: identifier.optional(),
      }),
    ),
  get: base.route({ summary: 'One entry with headers, bodies and timings' }).input(one).output(trafficDetail),
  watch: base
    .route({ summary: 'A stream of new entries, several at a time; `missed` counts those that came too fast to show' })
    .input(narrowed.optional())
    .output(
      eventIterator(
        z.object({
          entries: z.array(trafficEntry),
          missed: z.int(),
          /** Whether all entries before these were forgotten. */
          cleared: z.boolean(),
        }),
      ),
    ),
  summary: base
    .route({
      summary: 'Requests, statuses, latencies and quota over the last minutes, whether or not requests are recorded',
    })
    .input(
      z
        .strictObject({
          projectId: identifier.optional(),
          minutes: z.int().min(1).max(SUMMARY_MINUTES_MAX).default(SUMMARY_MINUTES_DEFAULT),
        })
        .optional(),
    )
    .output(trafficSummary),
  clear: base
    .route({ summary: 'Forget all entries' })
    .input(z.strictObject({}).optional())
    .output(z.object({ cleared: z.int() })),
  har: base
    .route({ summary: 'Entries as an HTTP archive (HAR 1.2), which the tools of browsers open; secrets are redacted' })
    .input(
      narrowed
        .extend({
          /** A part with at most so many entries, and fewer where they are large; without it, the archive is whole. */
          limit: z.int().min(1).max(TRAFFIC_LIST_MAX).optional(),
          /** Only entries after this one: `next` of the part before. */
          after: identifier.optional(),
        })
        .optional(),
    )
    .output(z.object({ log: z.looseObject({ entries: z.array(z.unknown()) }), next: identifier.optional() })),
  replay: base
    .route({ summary: 'Send a recorded request again, as the key that it came with; it is counted like any other' })
    .input(one)
    .output(trafficDetail),
};
