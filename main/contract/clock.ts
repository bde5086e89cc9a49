import { z } from 'zod';
import { base } from './base.ts';
import { duration, timestamp } from './values.ts';

const clockState = z.object({
  now: timestamp,
  realNow: timestamp,
  /** How far the app's clock is ahead of the real time; with a leading minus when it is behind. */
  offset: z.string(),
  frozen: z.boolean(),
});
export type ClockReading = z.infer<typeof clockState>;

const clockMove = clockState.extend({
  /** What fell due on the way, in sentences: checks, certificates, records that became visible, rate windows, bans. */
  happened: z.array(z.string()),
});
export type ClockMove = z.infer<typeof clockMove>;

const nothing = z.strictObject({}).optional();

export const clock = {
  get: base.route({ summary: 'The app’s clock and the real time' }).input(nothing).output(clockState),
  advance: base
    .route({ summary: 'Move the clock forward; what falls due on the way has run when this returns' })
    .input(z.strictObject({ by: duration }))
    .output(clockMove),
  set: base
    .route({ summary: 'Set the clock; what falls due on the way forward has run when this returns' })
    .input(z.strictObject({ to: timestamp }))
    .output(clockMove),
  freeze: base.route({ summary: 'Stop the clock where it is' }).input(nothing).output(clockState),
  resume: base.route({ summary: 'Let a frozen clock run on from where it is' }).input(nothing).output(clockState),
  reset: base.route({ summary: 'Back to the real time, running' }).input(nothing).output(clockMove),
};
