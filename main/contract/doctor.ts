import { z } from 'zod';
import { base } from './base.ts';
import { identifier, timestamp } from './values.ts';

/** What is looked at, in the order in which one thing depends on the other. */
export const doctorArea = z.enum([
  'engine',
  'listeners',
  'dns',
  'domains',
  'upstreams',
  'trust',
  'clock',
  'data',
  'root',
  'system',
]);
export type DoctorArea = z.infer<typeof doctorArea>;

/**
 * `warning`: it works, or could not be found out, and there is something to know. `skipped`: it does not apply here, or
 * cannot be looked at without what is missing. Only `failed` is wrong.
 */
export const doctorStatus = z.enum(['ok', 'warning', 'failed', 'skipped']);
export type DoctorStatus = z.infer<typeof doctorStatus>;

export const doctorCheck = z.object({
  /** The same in every run: `listeners.http`, `domains.shop.acme.test`. */
  id: z.string(),
  area: doctorArea,
  /** Whose it is, of a custom domain and an upstream. */
  projectId: identifier.optional(),
  title: z.string(),
  status: doctorStatus,
  /** What was found, in sentences. Never a secret. */
  evidence: z.array(z.string()),
  /** What to do, in a sentence. */
  fix: z.string().optional(),
  /** What to paste into a terminal for that, one command a line. Never run by Vivarium. */
  commands: z.string().optional(),
});
export type DoctorCheck = z.infer<typeof doctorCheck>;

export const doctorReport = z.object({
  /** When it began, on the app's clock. */
  examinedAt: timestamp,
  /** Real time. */
  elapsedMs: z.number(),
  /** Whether there was an engine to look at; else only what lies in the data folder was. */
  running: z.boolean(),
  counts: z.object({ failed: z.int(), warning: z.int(), ok: z.int(), skipped: z.int() }),
  checks: z.array(doctorCheck),
});
export type DoctorReport = z.infer<typeof doctorReport>;

export const doctor = {
  run: base
    .route({ summary: 'Look at everything that Vivarium stands on, and say what to mend; changes nothing' })
    .input(
      z
        .strictObject({
          /** Some areas only; all when left out. */
          areas: z.array(doctorArea).min(1).max(doctorArea.options.length).optional(),
        })
        .optional(),
    )
    .output(doctorReport),
};
