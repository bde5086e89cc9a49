import { z } from 'zod';
import { BODY_LENGTH_MAX } from './api.ts';
import { startInput } from './breaks.ts';
import { DURATION_FORMS, HOUR_MS } from './duration.ts';
import { certificateState, checkCode, domainState } from './domains.ts';
import { filterText } from './traffic.ts';
import { about, advance, durationWithin, keyReference, moment } from './values.ts';

/** The steps of one file. */
export const STEPS_MAX = 1_000;

/** How often a step may send its request. */
const TIMES_MAX = 10_000;

/** Names in one expectation. */
const EXPECTED_MAX = 1_000;

const shellCommand = z
  .string()
  .min(1)
  .max(8_192)
  .refine((text) => !text.includes('\0'), 'must be a command');

/** A duration to advance by, with or without a leading plus; or a moment. */
const clockMove = z
  .string()
  .max(64)
  .overwrite((text) => text.replace(/^\+\s*/, ''))
  .refine(
    (text) => advance.safeParse(text).success || moment.safeParse(text).success,
    `must be ${DURATION_FORMS}, or a moment such as "2030-01-01"`,
  )
  .meta({ examples: ['+60d', '2030-01-01'] });

const requestLine = z
  .string()
  .max(8_300)
  .regex(
    /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+ )?https?:\/\/[^\s/?#:@]+(?:[/?]\S*)?$/,
    'must be a method and an address without a port, such as "GET https://shop.acme.test/v1/pets"',
  )
  .meta({ examples: ['GET https://shop.acme.test/v1/pets'] });

const question = z
  .string()
  .max(300)
  .regex(/^\S+(?: [A-Za-z0-9]+)?$/, 'must be a name and a record type, such as "shop.acme.test CNAME"')
  .meta({ examples: ['shop.acme.test CNAME'] });

const headerFields = z.record(z.string().max(200), z.string().max(8_000));

const atMost = <Schema extends z.ZodType<object>>(schema: Schema) =>
  schema.refine((value) => Object.keys(value).length <= EXPECTED_MAX, `must have at most ${EXPECTED_MAX} names`);

/** The expected answer; omitted parts are not checked. */
const expectedAnswer = z.strictObject({
  status: z.int().min(100).max(599).optional(),
  /** Headers by name; null for one that must be absent. */
  headers: atMost(z.record(z.string().max(200), z.string().max(8_000).nullable())).optional(),
  /** What the JSON body must contain: the given members of an object, all items of a list. */
  json: z.json().optional(),
  /** What the body must contain. */
  text: z.string().max(BODY_LENGTH_MAX).optional(),
  rcode: z
    .string()
    .max(20)
    .regex(/^[A-Z]+$/, 'must be a response code such as "NXDOMAIN"')
    .optional(),
  /** All answers of the queried type, in any order, as in a zone file. */
  answers: z.array(z.string().max(70_000)).max(EXPECTED_MAX).optional(),
});
export type ExpectedAnswer = z.output<typeof expectedAnswer>;

/** The names that a step may have in addition to its action. */
const STEP_FIELDS = {
  run: ['exitCode', 'timeout'],
  clock: [],
  request: ['times', 'key', 'headers', 'body', 'expect'],
  dns: ['expect'],
  break: ['on', 'first', 'after', 'rate', 'nth', 'seed', 'for', 'parameters'],
  repair: [],
} as const;
export type StepKind = keyof typeof STEP_FIELDS;
const STEP_KINDS = Object.keys(STEP_FIELDS) as StepKind[];

const EXPECTED_FIELDS: Partial<Record<StepKind, readonly string[]>> = {
  request: ['status', 'headers', 'json', 'text'],
  dns: ['rcode', 'answers'],
};

const { entry, on, first, after, rate, nth, seed, for: length, parameters } = startInput.shape;

/** One step: `run`, `clock`, `request`, `dns`, `break` or `repair`, each with its own names. */
const step = z
  .strictObject({
    run: about(shellCommand, 'a command for the shell').optional(),
    /** 0 by default. */
    exitCode: z.int().min(0).max(255).optional(),
    /** In real time; ten minutes by default. */
    timeout: durationWithin(1_000, 24 * HOUR_MS, 'must be from one second to 24 hours').optional(),
    clock: clockMove.optional(),
    request: requestLine.optional(),
    /** The number of repetitions; the expectation applies to the last answer. */
    times: z.int().min(1).max(TIMES_MAX).optional(),
    /** The name of the API key to send it with. */
    key: keyReference.optional(),
    headers: atMost(headerFields).optional(),
    /** A text, or anything else as JSON. */
    body: z.json().optional(),
    dns: question.optional(),
    break: entry.optional(),
    on: on.unwrap().optional(),
    first,
    after: after.unwrap().optional(),
    rate,
    nth: nth.unwrap().optional(),
    /** 0 by default, so that a file always gives the same report. */
    seed,
    for: length.unwrap().optional(),
    parameters: parameters.unwrap().optional(),
    repair: about(z.string().max(100), 'an entry that was broken before, or all', 'all').optional(),
    expect: expectedAnswer.optional(),
  })
  .superRefine((given, context) => {
    const named = STEP_KINDS.filter((kind) => given[kind] !== undefined);
    const [kind] = named;
    if (kind === undefined || named.length > 1) {
      const message = `must have one of ${STEP_KINDS.join(', ')}${named.length > 1 ? `, not ${named.join(' and ')}` : ''}`;
      context.addIssue({ code: 'custom', message });
      return;
    }
    const allowed: readonly string[] = [kind, ...STEP_FIELDS[kind]];
    for (const name of Object.keys(given).filter((each) => !allowed.includes(each))) {
      context.addIssue({ code: 'custom', path: [name], message: `does not belong to a step with "${kind}"` });
    }
    for (const name of Object.keys(given.expect ?? {})) {
      if (allowed.includes('expect') && EXPECTED_FIELDS[kind]?.includes(name) === false) {
        const message = `does not belong to the expectations for "${kind}"`;
        context.addIssue({ code: 'custom', path: ['expect', name], message });
      }
    }
  });
export type Step = z.output<typeof step>;

export const steps = z.array(step).max(STEPS_MAX);

const expectedDomain = z.strictObject({
  state: domainState.optional(),
  certificate: certificateState.optional(),
  /** Why it has no certificate, or what a check found. */
  reason: checkCode.optional(),
  /** A part of the message of a check that did not pass, in the persona's or the platform's words. */
  says: z.string().min(1).max(1_000).optional(),
  http: z.boolean().optional(),
  https: z.boolean().optional(),
});
export type ExpectedDomain = z.output<typeof expectedDomain>;

const count = z.int().min(0).max(1_000_000);
const expectedCount = z.union([count, z.strictObject({ atLeast: count.optional(), atMost: count.optional() })], {
  error: 'must be a number, or an object with atLeast or atMost',
});
export type ExpectedCount = z.output<typeof expectedCount>;

/** What must hold after the last step. */
export const expectations = z.strictObject({
  /** By hostname. */
  domains: atMost(z.record(z.string().max(253), expectedDomain)).optional(),
  /** Numbers of recorded requests, by filter. */
  traffic: atMost(z.record(filterText, expectedCount)).optional(),
});
export type Expectations = z.output<typeof expectations>;
