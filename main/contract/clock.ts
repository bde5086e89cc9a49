import { z } from 'zod';
import { base } from './base.ts';
import { advance, moment, timestamp } from './values.ts';

const clockState = z.object({
  now: timestamp,
  realNow: timestamp,
  /** How far the app's clock is ahead of the real time; negative when it is behind. */
  offset: z.string(),
  frozen: z.boolean(),
});
export type ClockReading = z.infer<typeof clockState>;

const clockMove = clockState.extend({
  /** What fell due during the move, in sentences: checks, certificates, visible records, rate windows, bans. */
  happened: z.array(z.string()),
});
export type ClockMove = z.infer<typeof clockMove>;

const nothing = z.strictObject({}).optional();

export const clock = {
  get: base.route({ summary: 'The app’s clock and the real time' }).input(nothing).output(clockState),
  advance: base
    .route({ summary: 'Move the clock forward; everything that falls due has run when this returns' })
    .input(z.strictObject({ by: advance }))
    .output(clockMove),
  set: base
    .route({ summary: 'Set the clock; everything that falls due has run when this returns' })
    .input(z.strictObject({ to: moment }))
    .output(clockMove),
  freeze: base.route({ summary: 'Freeze the clock at its current time' }).input(nothing).output(clockState),
  resume: base.route({ summary: 'Resume a frozen clock from its current time' }).input(nothing).output(clockState),
  reset: base.route({ summary: 'Return the clock to the real time, running' }).input(nothing).output(clockMove),
};
