import { z } from 'zod';
import { base } from './base.ts';

export const reachProxy = z.object({
  /** A forward proxy that leads to the hostnames below and nowhere else; for programs that can be given one. */
  url: z.url(),
  /** A proxy auto-configuration file that sends the same hostnames through it, and everything else its own way. */
  pacUrl: z.url(),
  /** How many hostnames it leads to. */
  hostnames: z.int(),
});
export type ReachProxy = z.infer<typeof reachProxy>;

export const reach = {
  proxy: base
    .route({ summary: 'The proxy and the PAC file by which every hostname is reached without touching system files' })
    .input(z.strictObject({}).optional())
    .output(reachProxy),
};
