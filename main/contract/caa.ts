import { z } from 'zod';
import { call } from './base.ts';
import { hostnameInput } from './domains.ts';
import { caName, validationMethod } from './values.ts';

export const caaStep = z.object({
  /** The queried name. */
  name: z.string(),
  /** The CAA records found there, in zone-file notation; the owner is the end of the alias chain, if there is one. */
  records: z.array(z.string()),
  decision: z.enum(['climb', 'allow', 'forbid', 'error']),
  reason: z.string(),
});
export type CaaStep = z.infer<typeof caaStep>;

/** A CAA record to add or remove; `value` has the form that `records.put` takes: `0 issue "ca.example"`. */
const caaEdit = z.object({ action: z.enum(['add', 'remove']), name: z.string(), value: z.string() });

export const caaVerdict = z.object({
  verdict: z.enum(['allowed', 'forbidden', 'lookup_failed']),
  /** Where the relevant record set was found; absent when no name up to the root has one. */
  foundAt: z.string().optional(),
  /** The verdict and its reason, in sentences. */
  message: z.string(),
  /** The smallest change to the DNS that reverses the verdict. */
  change: z.string(),
  /** The same fix as record edits, in order; empty when the name servers need repair first. */
  edits: z.array(caaEdit),
  /** The records that decide the verdict, in zone-file notation. */
  decisive: z.array(z.string()),
  trace: z.array(caaStep),
  warnings: z.array(z.string()),
});
export type CaaVerdict = z.infer<typeof caaVerdict>;

export const caa = {
  explain: call('Explain which CAs may issue for a name, from its CAA records', caaVerdict, {
    hostname: hostnameInput,
    issuer: caName.optional(),
    wildcard: z.boolean().meta({ description: 'ask for a wildcard certificate of the name' }).default(false),
    method: validationMethod.default('http-01'),
    accountUri: z.string().max(1000).optional(),
  }),
};
