import { z } from 'zod';
import { base } from './base.ts';
import { hostnameInput } from './domains.ts';
import { caName, validationMethod } from './values.ts';

export const caaStep = z.object({
  /** The name that was asked. */
  name: z.string(),
  /** The CAA records seen there, in zone-file notation, with the alias chain's end as owner where one was followed. */
  records: z.array(z.string()),
  decision: z.enum(['climb', 'allow', 'forbid', 'error']),
  reason: z.string(),
});
export type CaaStep = z.infer<typeof caaStep>;

/** A CAA record that comes or goes; `value` as `records.put` takes it: `0 issue "ca.example"`. */
const caaEdit = z.object({ action: z.enum(['add', 'remove']), name: z.string(), value: z.string() });

export const caaVerdict = z.object({
  verdict: z.enum(['allowed', 'forbidden', 'lookup_failed']),
  /** Where the relevant record set was found; absent when there is none up to the root. */
  foundAt: z.string().optional(),
  /** The verdict and its reason, in sentences. */
  message: z.string(),
  /** The smallest change to the DNS that would turn the verdict around. */
  change: z.string(),
  /** The same as edits of records, in order; empty where name servers have to be mended first. */
  edits: z.array(caaEdit),
  /** The records that the verdict rests on, in zone-file notation. */
  decisive: z.array(z.string()),
  trace: z.array(caaStep),
  warnings: z.array(z.string()),
});
export type CaaVerdict = z.infer<typeof caaVerdict>;

export const caa = {
  explain: base
    .route({ summary: 'Walk up the CAA records of a name, and say who may issue' })
    .input(
      z.strictObject({
        hostname: hostnameInput,
        issuer: caName.optional(),
        wildcard: z.boolean().default(false),
        method: validationMethod.default('http-01'),
        accountUri: z.string().max(1000).optional(),
      }),
    )
    .output(caaVerdict),
};
