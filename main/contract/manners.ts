import { z } from 'zod';
import { call } from './base.ts';
import { GRADES, MANNERS_RULES } from './grades.ts';
import { planLimits } from './projects.ts';
import { PLAN_IDS } from './plans.ts';
import { about, duration, identifier, projectReference, timestamp } from './values.ts';

const finding = z.object({
  rule: z.enum(MANNERS_RULES),
  /** How often the rule could be observed, and how often it was kept. */
  seen: z.int(),
  kept: z.int(),
  verdict: z.enum(['kept', 'broken', 'not_seen']),
  /** Ids of entries of the traffic: those that broke it or, if none did, that kept it; the newest. */
  entries: z.array(identifier),
});

const someCaller = z.object({
  /** `key:<id>` for an API key, `address:<ip>` without a valid one. */
  caller: z.string(),
  projectId: identifier,
  keyId: identifier.optional(),
  /** The API key's name, which may be empty, and the visible start of its secret. */
  key: z.object({ name: z.string(), prefix: z.string() }).optional(),
  requests: z.int(),
});

const gradedCaller = someCaller.extend({
  userAgent: z.string(),
  /** A call is a request with its repetitions. */
  calls: z.int(),
  /** Null if fewer than five rules could be observed. */
  grade: z.enum(GRADES).nullable(),
  rules: z.array(finding),
});
export type GradedCaller = z.infer<typeof gradedCaller>;
export type MannersFinding = z.infer<typeof finding>;

const part = {
  projectId: projectReference.optional(),
  since: about(duration, 'only the requests of the last 10m, 1h, …, in real time').optional(),
};

/** What the answer is about: entries were dropped from the traffic before this moment of real time, if at all. */
const extent = { requests: z.int(), recordedSince: timestamp.optional() };

const mannersReport = z.object({
  ...extent,
  callers: z.array(gradedCaller),
  /** How many callers with fewer requests were left out. */
  omitted: z.int(),
});
export type MannersReport = z.infer<typeof mannersReport>;

const decidedCaller = someCaller.extend({
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
  report: call('How each API client behaves when it is refused: twelve rules, and a grade from A to F', mannersReport, {
    ...part,
    caller: about(
      z.string().min(1).max(200),
      'only this one: a key’s id or name, address:127.0.0.1, or a User-Agent',
    ).optional(),
  }),
  whatIf: call(
    'The recorded requests decided again, under another plan or other limits',
    whatIf,
    z
      .strictObject({
        ...part,
        plan: about(z.enum(PLAN_IDS), 'the plan to decide by').optional(),
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
  ),
};
