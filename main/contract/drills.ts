import { z } from 'zod';
import { call } from './base.ts';
import { hostnameInput } from './domains.ts';
import { identifier, timestamp } from './values.ts';

/** The name of a running drill in place of a break's, whose cause stays hidden. */
export const DRILL_ENTRY = 'drill';
export const DRILL_TITLE = 'A drill';

export const DRILL_SUBJECTS = ['names', 'tls', 'connection', 'http', 'api', 'limits', 'domains', 'ca'] as const;
export type DrillSubject = (typeof DRILL_SUBJECTS)[number];

const cause = z.object({ id: z.string(), text: z.string() });
const drillStep = z.object({ at: timestamp, what: z.string() });

/** The public state of a running drill. */
const runningDrill = z.object({
  /** The problem in the words of a user. */
  story: z.string(),
  /** A command to paste that shows the problem. */
  command: z.string(),
  hostname: hostnameInput,
  projectId: identifier,
  /** The possible causes. */
  causes: z.array(cause),
  /** The requested hints. */
  hints: z.array(z.string()),
  hintsLeft: z.int(),
  /** Wrong answers, with the reason. */
  wrong: z.array(z.object({ cause: z.string(), why: z.string() })),
  /** The right cause, once answered. */
  found: z.string().optional(),
  /** How to fix it, once the cause is found. */
  task: z.string().optional(),
  /** A command that helps with that. */
  taskCommand: z.string().optional(),
  /** What the fix still lacks, as the last answer found it. */
  missing: z.string().optional(),
  startedAt: timestamp,
  until: timestamp,
  steps: z.array(drillStep),
});

export const drillResult = z.object({
  at: timestamp,
  /** Real seconds from the start to the fix. */
  seconds: z.int(),
  hints: z.int(),
  wrong: z.int(),
  /** The number of requests to the practice project. */
  requests: z.int(),
  /** The user's steps, oldest first: hints, answers, and procedures that make changes. */
  steps: z.array(drillStep),
  cause: z.string(),
  /** How the problem was caused. */
  explanation: z.string(),
});
export type DrillResult = z.infer<typeof drillResult>;

export const drill = z.object({
  id: z.string(),
  title: z.string(),
  subject: z.enum(DRILL_SUBJECTS),
  teaches: z.string(),
  running: runningDrill.optional(),
  /** The result of the last time that it was fixed. */
  result: drillResult.optional(),
});
export type Drill = z.infer<typeof drill>;

export const drills = {
  list: call('Problems with a hidden cause to find and fix, and the running one', z.array(drill)),
  start: call('Start a drill: it creates a project and a zone in which something is wrong', drill, {
    drill: z
      .string()
      .max(100)
      .meta({ description: 'the drill', examples: ['hammering'] }),
  }),
  hint: call('The next hint of the running drill', drill),
  answer: call('Answer with the cause; once it is found, check the fix', drill, {
    cause: z
      .string()
      .max(100)
      .meta({
        description: 'the cause, by its id or number; omit it to check the fix',
        examples: ['key-revoked'],
      })
      .optional(),
  }),
  stop: call('End the running drill, and remove everything that it created', drill),
};
