import { z } from 'zod';
import { call } from './base.ts';
import { projectReference } from './values.ts';

const port = z.int().min(1).max(65535);

export const statusReport = z.object({
  version: z.string(),
  /**
   * What to type for `vivarium` where this one was started: `npm run -s vivarium --` in a clone, and with the data
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
    /** Since this start: API responses, and how many of them were 429. */
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
    z.object({ signInLink: z.string().meta({ description: 'Opens the interface, once, within a minute' }) }),
  ),
};
