import { z } from 'zod';
import { call } from './base.ts';

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

const wanted = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .meta({
    description: 'an interface or one of its addresses; may be omitted if there is only one',
    examples: ['en0', '192.168.1.5'],
  });

export const lan = {
  status: call('Whether other devices reach the hostnames, on which interface, and how', lanStatus),
  start: call(
    'Serve the hostnames to other devices on one interface, until it is stopped or the engine ends',
    lanStatus,
    {
      interface: wanted.optional(),
      keep: z.boolean().default(false).meta({ description: 'also after the next start' }),
    },
  ),
  stop: call('Serve this machine only', lanStatus),
};
