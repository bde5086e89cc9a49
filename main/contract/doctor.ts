import { z } from 'zod';
import { call } from './base.ts';
import { identifier, timestamp } from './values.ts';

/** The areas in the order of their dependencies. */
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
  'desktop',
  'browsers',
]);
export type DoctorArea = z.infer<typeof doctorArea>;

/**
 * `warning`: it works, or its state is unknown, and there is something to know. `skipped`: it does not apply, or a
 * prerequisite is missing. Only `failed` is an error.
 */
export const doctorStatus = z.enum(['ok', 'warning', 'failed', 'skipped']);
export type DoctorStatus = z.infer<typeof doctorStatus>;

export const doctorCheck = z.object({
  /** Stable across runs: `listeners.http`, `domains.shop.acme.test`. */
  id: z.string(),
  area: doctorArea,
  /** The project of a custom domain or an upstream. */
  projectId: identifier.optional(),
  title: z.string(),
  status: doctorStatus,
  /** With `warning`: what the check is about does not work, although Vivarium does, such as a misconfigured domain. */
  down: z.literal(true).optional(),
  /** The finding, in sentences. Never contains a secret. */
  evidence: z.array(z.string()),
  /** The fix, in one sentence. */
  fix: z.string().optional(),
  /** Commands for the fix, one per line, for the user to paste into a terminal. Vivarium never runs them. */
  commands: z.string().optional(),
  /** What the commands do, for the place where they are shown. */
  about: z.string().optional(),
  /** Commands that are enough instead of `commands`. */
  otherwise: z.string().optional(),
});
export type DoctorCheck = z.infer<typeof doctorCheck>;

export const doctorReport = z.object({
  /** The start, on the app's clock. */
  checkedAt: timestamp,
  /** Real time. */
  elapsedMs: z.number(),
  /** Whether an engine was running; without one, the doctor checks the data folder only. */
  running: z.boolean(),
  counts: z.object({ failed: z.int(), warning: z.int(), ok: z.int(), skipped: z.int() }),
  checks: z.array(doctorCheck),
});
export type DoctorReport = z.infer<typeof doctorReport>;

export const doctor = {
  run: call('Check Vivarium and its environment and suggest fixes; changes nothing', doctorReport, {
    /** The areas to check; all by default, except that no browser is started. */
    areas: z.array(doctorArea).min(1).max(doctorArea.options.length).optional(),
  }),
};
