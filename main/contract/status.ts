import { z } from 'zod';
import { call } from './base.ts';
import { about, projectReference, advance, moment, timestamp, environment, identifier } from './values.ts';
import { eventIterator } from '@orpc/contract';

const port = z.int().min(1).max(65535);

export const statusReport = z.object({
  version: z.string(),
  /**
   * What to type for `vivarium` in any folder: `npm --prefix CLONE run -s vivarium --` for a clone, and with the data
   * folder unless it is the default one. Absent if the same.
   */
  command: z.string().optional(),
  platformZone: z.string(),
  dataDir: z.string(),
  ports: z.object({ http: port, https: port, dns: port.optional(), control: port }),
  urls: z.object({
    control: z.url(),
    http: z.url(),
    https: z.url(),
    /** The page for other devices, while they are served. */
    devices: z.url().optional(),
  }),
  counts: z.object({
    projects: z.int(),
    keys: z.int(),
    domains: z.int(),
    pets: z.int(),
    /** Since this start: requests, and how many of them a limit refused. */
    requests: z.int(),
    refused: z.int(),
    /** Connections open now, on the HTTP and HTTPS listeners. */
    connections: z.int(),
  }),
  /** Problems, in sentences: no IPv6, a moved clock, a file that could not be written. */
  warnings: z.array(z.string()),
  /** The warning about a moved clock, separately, for views that display the clock themselves. */
  clockWarning: z.string().optional(),
});
export type StatusReport = z.infer<typeof statusReport>;

export const requestRates = z.object({
  /** How long ago the last of the seconds below ended, in real milliseconds. */
  ageMs: z.int(),
  /** API responses in each of the last 300 whole seconds of real time, oldest first. */
  requests: z.array(z.int()),
  /** How many of them were 429. */
  refused: z.array(z.int()),
  /** API responses so far in the current second. */
  running: z.int(),
});

export const status = {
  get: call('Version, addresses, counts, warnings', statusReport),
  rates: call('Requests per second over the last five minutes of real time, of one project or of all', requestRates, {
    projectId: projectReference.optional(),
  }),
};

export const access = {
  /** The new token is in the files `control-token` and `runtime.json` only. */
  renewToken: call(
    'Replace the token of the control port; everything signed in with the old one is signed out',
    z.object({ signInLink: about(z.string(), 'Opens the interface, once, within a minute') }),
  ),
};

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

/**
 * Announces a change without its new state: views query again. `lagged` means that the subscriber was too slow and
 * missed events; it should query everything again, as after `world.restored`, when a snapshot has replaced everything.
 */
export const changeEvent = z.object({
  type: z.enum([
    'ready',
    'lagged',
    'projects.changed',
    'deploys.changed',
    'keys.changed',
    'limits.changed',
    'requests.changed',
    'pets.changed',
    'orders.changed',
    'zones.changed',
    'records.changed',
    'domains.changed',
    'certificates.changed',
    'ca.changed',
    'acme.changed',
    'machine.changed',
    'lan.changed',
    'clock.changed',
    'settings.changed',
    'status.changed',
    'traffic.changed',
    'snapshots.changed',
    'breaks.changed',
    'examinations.changed',
    'world.restored',
  ]),
  projectId: identifier.optional(),
  environment: environment.optional(),
  /** Of `records.changed`: the changed zone, when there is exactly one. */
  zone: z.string().optional(),
  /** Of `ready`: names this run of the engine, which alone knows the outcomes of its calls by idempotency key. */
  run: z.string().optional(),
  at: timestamp,
});
export type ChangeEvent = z.infer<typeof changeEvent>;

export const events = { watch: call('A stream of everything that changes', eventIterator(changeEvent)) };
