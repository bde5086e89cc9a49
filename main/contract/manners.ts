import { z } from 'zod';
import { base } from './base.ts';
import { planLimits } from './projects.ts';
import { PLAN_IDS } from './plans.ts';
import { duration, identifier, projectReference, timestamp } from './values.ts';

/** The rules, in order: what each is called, and what an API client has to do. */
export const MANNERS = {
  'waits-for-retry-after': ['Waits for Retry-After', 'Repeats a request no earlier than the answer said.'],
  'backs-off': ['Backs off', 'Without Retry-After, waits longer each time: in the median at least 1.5 times as long.'],
  spreads: ['Spreads', 'Of eight or more that were refused together, most do not come back at the same moment.'],
  'gives-up': ['Gives up', 'Repeats a request at most five times.'],
  'stops-when-refused': ['Stops when refused', 'After 401, 403 or a ban, tries at most once more within a minute.'],
  'reads-remaining': ['Reads X-RateLimit-Remaining', 'At 0, sends at most one more request before the reset.'],
  'no-blind-repeat': ['No blind repeat', 'Repeats POST and PATCH after a failure only with the same Idempotency-Key.'],
  'follows-links': ['Follows Link', 'Takes the next page from the Link field, not from its own arithmetic.'],
  'reuses-connections': ['Reuses connections', 'Sends at least two requests over a connection that stays open.'],
  'has-a-timeout': ['Has a time limit', 'Ends a request that gets no answer, within a minute.'],
  'names-itself': ['Names itself', 'Sends a User-Agent of its own, not that of its library.'],
  'heeds-deprecation': [
    'Heeds Deprecation and Sunset',
    'No longer calls what has announced its end, after that moment.',
  ],
} as const satisfies Record<string, readonly [title: string, sentence: string]>;

export type MannersRule = keyof typeof MANNERS;
export const MANNERS_RULES = Object.keys(MANNERS) as MannersRule[];

export const GRADES = ['A', 'B', 'C', 'D', 'F'] as const;
export type Grade = (typeof GRADES)[number];

/** Fewer seen rules give no grade. */
export const SEEN_RULES_MIN = 5;

/** Maximum entries named for one rule: as many as a filter of Traffic can have. */
export const EVIDENCE_MAX = 40;

/** Maximum callers in one answer, those with the most requests. */
export const GRADED_MAX = 100;

const finding = z.object({
  rule: z.enum(MANNERS_RULES),
  /** How often the rule could be observed, and how often it was kept. */
  seen: z.int(),
  kept: z.int(),
  verdict: z.enum(['kept', 'broken', 'not_seen']),
  /** Ids of entries of the traffic: those that broke it or, if none did, that kept it; the newest. */
  entries: z.array(identifier),
});

const gradedCaller = z.object({
  /** `key:<id>` for an API key, `address:<ip>` without a valid one. */
  caller: z.string(),
  projectId: identifier,
  keyId: identifier.optional(),
  /** The API key's name, which may be empty, and the visible start of its secret. */
  key: z.object({ name: z.string(), prefix: z.string() }).optional(),
  userAgent: z.string(),
  requests: z.int(),
  /** A call is a request with its repetitions. */
  calls: z.int(),
  /** Null if fewer than five rules could be observed. */
  grade: z.enum(GRADES).nullable(),
  rules: z.array(finding),
});
export type GradedCaller = z.infer<typeof gradedCaller>;
export type MannersFinding = z.infer<typeof finding>;

const part = z.strictObject({
  projectId: projectReference.optional(),
  since: duration.meta({ description: 'only the requests of the last 10m, 1h, …, in real time' }).optional(),
});

/** What the answer is about: entries were dropped from the traffic before this moment of real time, if at all. */
const extent = { requests: z.int(), recordedSince: timestamp.optional() };

const mannersReport = z.object({
  ...extent,
  callers: z.array(gradedCaller),
  /** How many callers with fewer requests were left out. */
  omitted: z.int(),
});
export type MannersReport = z.infer<typeof mannersReport>;

const decidedCaller = z.object({
  caller: z.string(),
  projectId: identifier,
  keyId: identifier.optional(),
  key: z.object({ name: z.string(), prefix: z.string() }).optional(),
  requests: z.int(),
  refused: z.int(),
  /** On the app's clock. */
  firstRefusedAt: timestamp.optional(),
  bannedAt: timestamp.optional(),
});
export type DecidedCaller = z.infer<typeof decidedCaller>;

const whatIf = z.object({
  ...extent,
  refused: z.int(),
  firstRefusedAt: timestamp.optional(),
  bans: z.int(),
  bannedAt: timestamp.optional(),
  callers: z.array(decidedCaller),
  omitted: z.int(),
  /** The requests over real time: steps of equal length, the last of which ends at `until`. */
  steps: z.object({ stepSeconds: z.int(), until: timestamp, allowed: z.array(z.int()), refused: z.array(z.int()) }),
});
export type WhatIf = z.infer<typeof whatIf>;

export const manners = {
  report: base
    .route({ summary: 'How each API client behaves when it is refused: twelve rules, and a grade from A to F' })
    .input(
      part
        .extend({
          caller: z
            .string()
            .min(1)
            .max(200)
            .meta({ description: 'only this one: a key’s id or name, address:127.0.0.1, or a User-Agent' })
            .optional(),
        })
        .optional(),
    )
    .output(mannersReport),
  whatIf: base
    .route({ summary: 'The recorded requests decided again, under another plan or other limits' })
    .input(
      part
        .extend({
          plan: z.enum(PLAN_IDS).meta({ description: 'the plan to decide by' }).optional(),
          /** In place of a plan; without both, the limits that each project has. */
          limits: planLimits.optional(),
        })
        .refine(({ plan, limits }) => plan === undefined || limits === undefined, {
          path: ['limits'],
          message: 'must not be given together with a plan',
        })
        .refine(({ plan }) => plan !== 'enterprise', {
          path: ['plan'],
          message: 'must not be "enterprise", whose limits are agreed for each project: give the limits instead',
        })
        .optional(),
    )
    .output(whatIf),
};

/** A caller in words: its key or address, and its User-Agent. */
export function callerTitle({ caller, key, userAgent }: Pick<GradedCaller, 'caller' | 'key' | 'userAgent'>): string {
  const named = key === undefined || key.name === '' ? caller.replace(/^\w+:/, '') : key.name;
  return `${named}, ${userAgent === '' ? 'no User-Agent' : userAgent}`;
}

/** What came of a rule, in words: `8 of 9 kept`. */
export const keptText = ({ seen, kept }: Pick<MannersFinding, 'seen' | 'kept'>): string =>
  seen === 0 ? 'not seen' : `${kept} of ${seen} kept`;

const MARKS = { kept: '✓', broken: '✗', not_seen: '–' } as const;

/** The report as Markdown, for a pull request. */
export function mannersMarkdown({ callers }: Pick<MannersReport, 'callers'>): string {
  if (callers.length === 0) return 'No API client has sent requests.\n';
  const parts = callers.map((each) => {
    const rows = each.rules.map((found) => {
      const [title] = MANNERS[found.rule];
      return `| ${MARKS[found.verdict]} | ${title} | ${keptText(found)} |`;
    });
    return [
      `### ${each.grade ?? 'No grade'}: ${plain(callerTitle(each))}`,
      '',
      `${each.requests} requests, ${each.calls} calls.`,
      '',
      '| | Rule | |',
      '|---|---|---|',
      ...rows,
      '',
    ].join('\n');
  });
  return parts.join('\n');
}

/** Text of others, without what Markdown would read. */
const plain = (text: string): string => text.replaceAll(/[\\`*_{}[\]<>#|!&~]/g, '\\$&').replaceAll(/\s+/g, ' ');
