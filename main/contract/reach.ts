import { z } from 'zod';
import { call } from './base.ts';
import { about } from './values.ts';
import { hostnameInput } from './domains.ts';

export const reachProxy = z.object({
  /** A forward proxy limited to the hostnames below, for programs with a proxy setting. */
  url: z.url(),
  /** A proxy auto-configuration file that sends these hostnames through the proxy and leaves others alone. */
  pacUrl: z.url(),
  /** DNS over HTTPS, for browsers and other programs that take one. */
  dohUrl: z.url(),
  /** How many hostnames it covers. */
  hostnames: z.int(),
});
export type ReachProxy = z.infer<typeof reachProxy>;

const pathInput = z
  .string()
  .max(2_000)
  .regex(/^\/(?!\/)[\x21-\x7e]*$/, 'must be a path that begins with one slash, percent-encoded')
  .meta({ examples: ['/v1/openapi.json'] });

const browserKind = z.enum(['chromium', 'firefox']);
/** By the options that a browser takes: Chrome, Edge and Brave are of Chromium’s kind. */
export type BrowserKind = z.infer<typeof browserKind>;

export const openedBrowser = z.object({
  url: z.url(),
  browser: z.string(),
  /**
   * `root`: trusts only Vivarium's root, with normal verification. `keys`: the fallback, which accepts the current
   * certificates of the project's hostnames by their public keys.
   */
  trust: z.enum(['root', 'keys']),
});
export type OpenedBrowser = z.infer<typeof openedBrowser>;

export const browserState = z.object({
  /** The browser that `reach.open` would open, and its program; absent when none is installed. */
  browser: z.string().optional(),
  program: z.string().optional(),
  /** The installed browser of the other kind, if there is one. */
  other: z.object({ kind: browserKind, browser: z.string() }).optional(),
  /** Why no browser can be opened, and what to do. */
  problem: z.string().optional(),
  /** Throw-away browsers currently open. */
  opened: z.int(),
  /** Whether `reach.preview` can open a window of the desktop app. */
  preview: z.boolean(),
});
export type BrowserState = z.infer<typeof browserState>;

const snippetId = z.enum([
  'curl',
  'httpie',
  'powershell',
  'node',
  'requests',
  'urllib',
  'java',
  'go',
  'csharp',
  'php',
  'ruby',
  'playwright',
  'environment',
  'doh',
  'dig',
]);
const snippetLanguage = z.enum(['sh', 'powershell', 'js', 'python', 'java', 'go', 'csharp', 'php', 'ruby']);

export const snippet = z.object({
  id: snippetId,
  title: z.string(),
  language: snippetLanguage,
  /** Works unchanged; the API key is read from `VIVARIUM_KEY`. */
  text: z.string(),
  note: z.string().optional(),
});
export type Snippet = z.infer<typeof snippet>;

export const instructionStep = z.object({
  title: z.string(),
  note: z.string(),
  /** Commands for users who want to change their system. Vivarium never runs them. */
  commands: z.string(),
  /** The commands that undo the change. */
  undo: z.string(),
});
export type InstructionStep = z.infer<typeof instructionStep>;

export const reachSnippets = z.object({
  hostname: z.string(),
  /** The address for a browser that uses the proxy. */
  url: z.url(),
  /** The address for clients that resolve the name to this machine, with the listener's own port. */
  direct: z.url(),
  /** Whether HTTPS is served at the hostname; it is refused without a certificate. */
  secure: z.boolean(),
  proxyUrl: z.url(),
  pacUrl: z.url(),
  dohUrl: z.url(),
  snippets: z.array(snippet),
  /** How all browsers of this system take the PAC file. */
  pac: instructionStep,
});
export type ReachSnippets = z.infer<typeof reachSnippets>;

const systemNames = z.object({
  hostname: z.string(),
  /** A path of it that shows something without a key. */
  path: z.string(),
  /** The addresses that programs get from the system; empty if it does not know the hostname. */
  addresses: z.array(z.string()),
  /** The line of the hosts file with another address; absent if it comes from DNS. */
  hosts: z.object({ file: z.string(), line: z.int(), address: z.string() }).optional(),
  /** Present if an address is not this machine's: its source, the consequence, and the remedy. */
  elsewhere: z.object({ message: z.string(), effect: z.string(), fix: z.string() }).optional(),
});
export type SystemNames = z.infer<typeof systemNames>;

export const reach = {
  proxy: call(
    'The proxy, the PAC file and the secure DNS that reach every hostname without changes to system files',
    reachProxy,
  ),
  browser: call('The installed browser for opening a hostname', browserState),
  open: call(
    'Open a hostname at ports 80 and 443 in an installed browser, with a throw-away profile that trusts the root',
    openedBrowser,
    {
      hostname: hostnameInput,
      path: pathInput.optional(),
      /** By default Chrome, Chromium, Edge or Brave if one is installed, else Firefox. */
      browser: about(browserKind, 'the kind of browser; default: chromium, if there is one').optional(),
    },
  ),
  preview: call(
    'Show a hostname in a window of the desktop app, without a browser or a trusted root',
    z.object({ url: z.url() }),
    { hostname: hostnameInput, path: pathInput.optional() },
  ),
  lookup: call('How this system resolves a hostname, and why; asks its resolver', systemNames, {
    hostname: hostnameInput,
  }),
  snippets: call(
    'Instructions for programs and systems to reach a hostname: texts to copy; nothing is run',
    reachSnippets,
    {
      hostname: hostnameInput,
      /** `https` by default, when the hostname has a certificate. */
      scheme: z.enum(['http', 'https']).optional(),
      language: about(
        z.enum([...new Set([...snippetId.options, ...snippetLanguage.options])]),
        'only the texts of one language or program',
      ).optional(),
    },
  ),
};

/** The number of hostnames that a status lists. */
export const LAN_HOSTNAMES_MAX = 50;

const lanChoice = z.object({
  interface: z.string(),
  address: z.string(),
  /** Whether it is the default, if it is the only such interface. */
  automatic: z.boolean(),
});

const lanStatus = z.object({
  /** `waiting`: the interface has no address at present, or a port is taken; serving resumes automatically. */
  state: z.enum(['off', 'on', 'waiting']),
  /** Whether the next start serves it again. */
  keep: z.boolean(),
  /** The chosen interface or address. */
  wanted: z.string().optional(),
  interface: z.string().optional(),
  address: z.string().optional(),
  /** Why it waits. */
  problem: z.string().optional(),
  /** The interfaces of this machine on which other devices can be served. */
  choices: z.array(lanChoice),
  /** The page for other devices, and its other name, which is announced by multicast DNS. */
  url: z.url().optional(),
  localUrl: z.url().optional(),
  /** The QR code of `url`: the side in modules, and the dark modules as an SVG path. */
  qr: z.object({ size: z.int(), path: z.string() }).optional(),
  /** A proxy auto-configuration file for devices. */
  pacUrl: z.url().optional(),
  /** DNS over UDP and TCP, for the hostnames below. */
  dns: z.string().optional(),
  /** The first of the hostnames served to devices; names under localhost mean the device itself. */
  hostnames: z.array(z.string()).max(LAN_HOSTNAMES_MAX),
  hostnamesTotal: z.int(),
});
export type LanStatus = z.infer<typeof lanStatus>;

const wanted = about(
  z.string().trim().min(1).max(100),
  'an interface or one of its addresses; may be omitted if there is only one',
  'en0',
  '192.168.1.5',
);

export const lan = {
  status: call('Whether other devices reach the hostnames, on which interface, and how', lanStatus),
  start: call(
    'Serve the hostnames to other devices on one interface, until it is stopped or the engine ends',
    lanStatus,
    { interface: wanted.optional(), keep: about(z.boolean().default(false), 'also after the next start') },
  ),
  stop: call('Serve this machine only', lanStatus),
};
