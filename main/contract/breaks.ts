import { z } from 'zod';
import { call } from './base.ts';
import { hostnameInput } from './domains.ts';
import { DAY_MS } from './duration.ts';
import { about, durationWithin, environment, keyReference, projectReference, timestamp, identifier } from './values.ts';

/** The families of the catalogue, in the order of its page. */
export const BREAK_FAMILIES = ['api', 'http', 'connection', 'tls', 'dns', 'domain', 'ca', 'machine'] as const;
export type BreakFamily = (typeof BREAK_FAMILIES)[number];

/** The clients whose symptom the catalogue states. */
export const BREAK_CLIENTS = [
  'curl',
  'dig',
  'node',
  'python',
  'go',
  'java',
  'chromium',
  'firefox',
  'certbot',
  'lego',
  'dehydrated',
  'doctor',
] as const;
export type BreakClient = (typeof BREAK_CLIENTS)[number];

/** The selectors of an entry. */
export const BREAK_SELECTORS = ['hostname', 'projectId', 'path', 'method', 'keyId', 'header', 'type'] as const;
export type BreakSelector = (typeof BREAK_SELECTORS)[number];

/**
 * Where an entry strikes: a request that passed the stage `limit`, the time before it reaches its target (`delay`, beside
 * any other break), a DNS question, a TLS handshake, or a connection as
 * soon as its hostname is known: at the handshake over TLS, with the first request over plain HTTP. `issuance` is a
 * step of a CA: of the ACME server, or for custom domains' certificates. `probe` changes only the doctor's evidence.
 * `state` is an edit that is undone at the end.
 */
export const BREAK_POINTS = [
  'request',
  'delay',
  'question',
  'handshake',
  'connection',
  'issuance',
  'probe',
  'state',
] as const;
export type BreakPoint = (typeof BREAK_POINTS)[number];

const breakParameter = z.object({
  name: z.string(),
  /** Its meaning, with the unit. */
  description: z.string(),
  default: z.union([z.string(), z.number()]),
  /** Bounds of a number. */
  min: z.number().optional(),
  max: z.number().optional(),
  /** The permitted texts. */
  values: z.array(z.string()).optional(),
  /** A text that must be empty or one header field, `Name: value`. */
  form: z.literal('field').optional(),
});
export type BreakParameter = z.infer<typeof breakParameter>;

/** One way to break something. Its id is `family.name` and never changes. */
export const breakEntry = z.object({
  id: z.string(),
  family: z.enum(BREAK_FAMILIES),
  title: z.string(),
  /** What goes wrong, and how it happens in production. */
  cause: z.string(),
  /** The symptom of each client; absent for clients that are not affected. */
  symptoms: z.partialRecord(z.enum(BREAK_CLIENTS), z.string()),
  remedy: z.string(),
  selectors: z.array(z.enum(BREAK_SELECTORS)),
  /** Where it strikes; catalogue files state it only if it differs from the family's. */
  at: z.enum(BREAK_POINTS).optional(),
  /** The only version of HTTP that it applies to. */
  http: z.enum(['HTTP/1.1', 'HTTP/2']).optional(),
  /** The only environment that it applies to. */
  environment: environment.optional(),
  parameters: z.array(breakParameter),
  /** The default share that is broken; all if absent. */
  rate: z.number().optional(),
  /** A sentence about why Vivarium cannot produce it; absent if it can. */
  impossible: z.string().optional(),
  /** Further words by which a search finds it. */
  keywords: z.string().optional(),
  /** Its place among what people look for first, from 1. */
  mostUsed: z.int().optional(),
});
export type BreakEntry = z.infer<typeof breakEntry>;

/** What a rule selects; all given members must match. */
const breakSelection = z.strictObject({
  hostname: about(hostnameInput, 'a hostname, or *.NAME for all below it', 'shop.acme.test').optional(),
  projectId: about(projectReference, 'all hostnames of a project, also those that it gets later').optional(),
  path: z
    .string()
    .max(2_000)
    .regex(/^\//, 'must begin with "/"')
    .meta({ description: 'a path, or its beginning with a final *' })
    .optional(),
  method: about(
    z.string().regex(/^[A-Z]{1,20}$/, 'must be a method in capitals, such as "GET"'),
    'a method, such as POST',
  ).optional(),
  keyId: about(keyReference, 'the requests of one API key').optional(),
  header: about(
    z.strictObject({
      name: z
        .string()
        .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, 'must be the name of a header field, such as "X-Run"'),
      value: z.string().min(1, 'must be its value, such as "7"').max(1_000),
    }),
    'requests with a header field of exactly this value',
  ).optional(),
  type: about(
    z.string().regex(/^[A-Z0-9]{1,16}$/, 'must be a record type, such as "AAAA"'),
    'questions of one record type, such as AAAA',
  ).optional(),
});
export type BreakSelection = z.infer<typeof breakSelection>;

export const BREAK_FOR_MS_MAX = 7 * DAY_MS;
export const BREAK_FOR_DEFAULT = 'PT10M';
export const BREAKS_MAX = 1_000;
const COUNT_MAX = 1_000_000;
export const SEED_MAX = 4_294_967_295;

/** A break in force. */
export const runningBreak = z.object({
  id: z.string(),
  entry: z.string(),
  /** Of the entry. */
  title: z.string(),
  /** The name of the drill, in a break that is one. */
  drill: z.string().optional(),
  on: breakSelection,
  /** The name of the project in `on`. */
  project: z.string().optional(),
  /** The project in `on`, or that has the hostname in it. */
  projectId: identifier.optional(),
  /** Strikes so often, then no more. */
  first: z.int().optional(),
  /** Spares so many of what it selects, before it strikes. */
  after: z.int(),
  /** Breaks every n-th of the rest. */
  nth: z.int(),
  /** The broken share of these, from 0 to 1. */
  rate: z.number(),
  seed: z.int(),
  parameters: z.record(z.string(), z.union([z.string(), z.number()])),
  startedAt: timestamp,
  until: timestamp,
  /** How many requests, questions or handshakes it selected, and how many of them it broke. */
  seen: z.int(),
  struck: z.int(),
  /** The first N have been struck, so it strikes no more. */
  done: z.literal(true).optional(),
  /** After its repair: what was left unchanged, because it has been changed meanwhile. */
  left: z.array(z.string()).optional(),
});
export type RunningBreak = z.infer<typeof runningBreak>;

/** What to break, and how. */
export const startInput = z.strictObject({
  entry: about(z.string().max(100), 'the entry of the catalogue', 'dns.servfail'),
  on: breakSelection.default({}),
  first: about(z.int().min(1).max(COUNT_MAX), 'break so many only, then no more').optional(),
  after: about(z.int().min(0).max(COUNT_MAX), 'spare so many first').default(0),
  rate: about(
    z
      .number()
      .gt(0, 'must be more than 0 % and at most 100 % (in JSON, 0.1 is 10 %)')
      .max(1, 'must be more than 0 % and at most 100 % (in JSON, 0.1 is 10 %)'),
    'the share to break, such as 0.1; that of the entry, mostly 1, if omitted',
  ).optional(),
  nth: about(z.int().min(1).max(COUNT_MAX), 'break every n-th only').default(1),
  /** The same seed and requests give the same faults. */
  seed: about(z.int().min(0).max(SEED_MAX), 'repeat the choices of an earlier one').optional(),
  for: about(
    durationWithin(1_000, BREAK_FOR_MS_MAX, 'must be from 1 second to 7 days'),
    'how long, on the app’s clock',
  ).default(BREAK_FOR_DEFAULT),
  parameters: about(
    z.record(z.string().max(40), z.union([z.string().max(1_000), z.number()])),
    'settings of the entry, such as {"delayMs": 3000}',
  ).default({}),
});

export const breaks = {
  catalogue: call('Everything that can be broken, with what clients say and the remedy', z.array(breakEntry)),
  list: call('What is broken at present', z.array(runningBreak)),
  start: call('Break something, for a time', runningBreak, startInput),
  stop: call('Repair one break', runningBreak, {
    id: about(z.string().max(100), 'a running break', 'brk_7Qw2hB9xKd4sVf1L'),
  }),
  stopAll: call('Repair everything that was broken on purpose, and end a running drill', z.array(runningBreak)),
};

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
    drill: about(z.string().max(100), 'the drill', 'hammering'),
  }),
  hint: call('The next hint of the running drill', drill),
  answer: call('Answer with the cause; once it is found, check the fix', drill, {
    cause: about(
      z.string().max(100),
      'the cause, by its id or number; omit it to check the fix',
      'key-revoked',
    ).optional(),
  }),
  stop: call('End the running drill, and remove everything that it created', drill),
};
