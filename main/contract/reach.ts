import { z } from 'zod';
import { base } from './base.ts';
import { hostnameInput } from './domains.ts';

export const reachProxy = z.object({
  /** A forward proxy that leads to the hostnames below and nowhere else; for programs that can be given one. */
  url: z.url(),
  /** A proxy auto-configuration file that sends the same hostnames through it, and everything else its own way. */
  pacUrl: z.url(),
  /** How many hostnames it leads to. */
  hostnames: z.int(),
});
export type ReachProxy = z.infer<typeof reachProxy>;

const pathInput = z
  .string()
  .max(2_000)
  .regex(/^\/(?!\/)[\x21-\x7e]*$/, 'must be a path that begins with one slash, percent-encoded')
  .meta({ examples: ['/v1/openapi.json'] });

export const openedBrowser = z.object({
  url: z.url(),
  browser: z.string(),
  /**
   * `root`: it trusts our root alone, and verifies certificates as always. `keys`: where that cannot be had, it takes the
   * certificates of the project's hostnames as they are at this moment.
   */
  trust: z.enum(['root', 'keys']),
});
export type OpenedBrowser = z.infer<typeof openedBrowser>;

export const browserState = z.object({
  /** The browser that `reach.open` would open, and its program; absent when there is none. */
  browser: z.string().optional(),
  program: z.string().optional(),
  /** Why none can be opened, and what to do. */
  problem: z.string().optional(),
  /** Throw-away browsers that are open now. */
  opened: z.int(),
});
export type BrowserState = z.infer<typeof browserState>;

export const reach = {
  proxy: base
    .route({ summary: 'The proxy and the PAC file by which every hostname is reached without touching system files' })
    .input(z.strictObject({}).optional())
    .output(reachProxy),
  browser: base
    .route({ summary: 'The installed browser that a hostname can be opened in' })
    .input(z.strictObject({}).optional())
    .output(browserState),
  open: base
    .route({
      summary:
        'Open a hostname in an installed browser with a throw-away profile that finds it and trusts the root, at ports 80 and 443',
    })
    .input(z.strictObject({ hostname: hostnameInput, path: pathInput.optional() }))
    .output(openedBrowser),
};
