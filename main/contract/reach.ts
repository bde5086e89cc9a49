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
  /** Whether `reach.preview` can open a window of the desktop app. */
  preview: z.boolean(),
});
export type BrowserState = z.infer<typeof browserState>;

export const snippet = z.object({
  id: z.enum(['curl', 'node', 'requests', 'urllib', 'java', 'playwright', 'environment', 'dig']),
  title: z.string(),
  language: z.enum(['sh', 'js', 'python', 'java']),
  /** Works as it is; an API key is read from `VIVARIUM_KEY`. */
  text: z.string(),
  note: z.string().optional(),
});
export type Snippet = z.infer<typeof snippet>;

export const instructionStep = z.object({
  id: z.string(),
  title: z.string(),
  note: z.string(),
  /** To be pasted by somebody who wants the system changed. Never run by Vivarium. */
  commands: z.string(),
  /** What takes it back. */
  undo: z.string(),
});
export type InstructionStep = z.infer<typeof instructionStep>;

export const systemInstructions = z.object({
  system: z.enum(['linux', 'macos', 'windows']),
  title: z.string(),
  /** Whether it is the system that Vivarium runs on. */
  here: z.boolean(),
  steps: z.array(instructionStep),
});
export type SystemInstructions = z.infer<typeof systemInstructions>;

export const reachSnippets = z.object({
  hostname: z.string(),
  /** Where a browser that goes through the proxy finds it. */
  url: z.url(),
  /** Where it is for whoever finds this machine by its name: at the listener's own port. */
  direct: z.url(),
  /** Whether HTTPS is served there; refused without a certificate. */
  secure: z.boolean(),
  proxyUrl: z.url(),
  pacUrl: z.url(),
  snippets: z.array(snippet),
  /** The running system first. */
  systems: z.array(systemInstructions),
});
export type ReachSnippets = z.infer<typeof reachSnippets>;

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
  preview: base
    .route({ summary: 'Show a hostname in a window of the desktop app, which needs neither a browser nor trust' })
    .input(z.strictObject({ hostname: hostnameInput, path: pathInput.optional() }))
    .output(z.object({ url: z.url() })),
  snippets: base
    .route({ summary: 'How programs ask for a hostname, and how a system is taught it: texts to copy; nothing is run' })
    .input(
      z.strictObject({
        hostname: hostnameInput,
        /** `https` by default, where there is a certificate. */
        scheme: z.enum(['http', 'https']).optional(),
      }),
    )
    .output(reachSnippets),
};
