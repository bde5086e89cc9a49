import { z } from 'zod';
import { call } from './base.ts';
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

export const clock = {
  get: call('The app’s clock and the real time', clockState),
  advance: call('Move the clock forward; everything that falls due has run when this returns', clockMove, {
    by: advance,
  }),
  set: call('Set the clock; everything that falls due has run when this returns', clockMove, { to: moment }),
  freeze: call('Freeze the clock at its current time', clockState),
  resume: call('Resume a frozen clock from its current time', clockState),
  reset: call('Return the clock to the real time, running', clockMove),
};
