import { z } from 'zod';
import { base } from './base.ts';

/** How many hostnames a status names. */
export const LAN_HOSTNAMES_MAX = 50;

const lanChoice = z.object({
  interface: z.string(),
  address: z.string(),
  /** Whether it is chosen without being named, where it is the only such one. */
  automatic: z.boolean(),
});

const lanStatus = z.object({
  /** `waiting`: the interface has no address at present, or a port is taken there; it is served again by itself. */
  state: z.enum(['off', 'on', 'waiting']),
  /** Whether it is on again at the next start. */
  keep: z.boolean(),
  /** The interface or address that was chosen. */
  wanted: z.string().optional(),
  interface: z.string().optional(),
  address: z.string().optional(),
  /** Why it waits. */
  problem: z.string().optional(),
  /** The interfaces of this machine that other devices can be served on. */
  choices: z.array(lanChoice),
  /** The page for other devices, and its other name, which is announced by multicast DNS. */
  url: z.url().optional(),
  localUrl: z.url().optional(),
  /** Of `url`: the side in modules, and the dark ones as the path of an SVG. */
  qr: z.object({ size: z.int(), path: z.string() }).optional(),
  /** A proxy auto-configuration file for devices. */
  pacUrl: z.url().optional(),
  /** DNS over UDP and TCP, for the hostnames below. */
  dns: z.string().optional(),
  /** The first of the served hostnames that devices can have: those below localhost mean the device itself. */
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
    description: 'an interface or one of its addresses; may be left out where there is only one',
    examples: ['en0', '192.168.1.5'],
  });

export const lan = {
  status: base
    .route({ summary: 'Whether other devices reach the hostnames, on which interface, and how' })
    .input(z.strictObject({}).optional())
    .output(lanStatus),
  start: base
    .route({
      summary: 'Let other devices on one interface reach the hostnames, until it is stopped or the engine ends',
    })
    .input(
      z
        .strictObject({
          interface: wanted.optional(),
          keep: z.boolean().default(false).meta({ description: 'also after the next start' }),
        })
        .optional(),
    )
    .output(lanStatus),
  stop: base.route({ summary: 'Serve this machine only' }).input(z.strictObject({}).optional()).output(lanStatus),
};
