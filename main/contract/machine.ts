import { z } from 'zod';
import { base } from './base.ts';
import { hostnameInput } from './domains.ts';
import { timestamp } from './values.ts';

const changeKind = z.enum(['resolver', 'ports', 'hosts', 'trust']);

/** One place that a change touches: a file, a value of the kernel, or what a command sets. */
const machineStep = z.object({
  path: z.string(),
  /** Whether it was there before; what others have in it stays. */
  existed: z.boolean(),
  /** The lines that go and come. */
  removes: z.array(z.string()),
  adds: z.array(z.string()),
  /** Of a change in the ledger. `changed`: somebody else has edited it since. `unknown`: it cannot be read here. */
  state: z.enum(['before', 'applied', 'changed', 'unknown']).optional(),
});
export type MachineStep = z.infer<typeof machineStep>;

export const machineEntry = z.object({
  id: z.string(),
  kind: changeKind,
  title: z.string(),
  /** When it was written into the ledger, in real time. */
  at: timestamp,
  /** The data folder of the Vivarium that made it. */
  dataDir: z.string(),
  /**
   * `applied`: all of it is there. `pending`: none of it, because its command was not pasted yet. `partial`: a part, as
   * after a crash. `changed`: somebody else has changed it since. `unknown`: it cannot be read here.
   */
  state: z.enum(['applied', 'pending', 'partial', 'changed', 'unknown']),
  steps: z.array(machineStep),
  /** What the last attempt could not do. */
  message: z.string().optional(),
  /** To paste into a terminal, where Vivarium cannot ask for the password. */
  command: z.string().optional(),
});
export type MachineEntry = z.infer<typeof machineEntry>;

export const plannedChange = z.object({
  id: z.string(),
  kind: changeKind,
  title: z.string(),
  note: z.string(),
  /** Names exactly this change of the present state; absent when there is nothing that can be done. */
  plan: z.string().optional(),
  steps: z.array(machineStep),
  /** The commands that run after the steps. */
  runs: z.array(z.string()),
  /** Why it cannot or need not be done, and what to do. */
  obstacle: z.string().optional(),
  /** What to put into the system's own configuration instead. */
  instead: z.string().optional(),
  /** The change, where the ledger has it already. */
  entry: machineEntry.optional(),
});
export type PlannedChange = z.infer<typeof plannedChange>;

export const machinePlan = z.object({
  hostname: z.string(),
  zone: z.string(),
  /** Where this system's own resolver leads the hostname at present; empty when it does not know it. */
  resolvesTo: z.array(z.string()),
  changes: z.array(plannedChange),
  ledger: z.string(),
});
export type MachinePlan = z.infer<typeof machinePlan>;

export const machineStatus = z.object({
  ledger: z.string(),
  /** Takes everything back without Vivarium. */
  undoScript: z.string(),
  entries: z.array(machineEntry),
});
export type MachineStatus = z.infer<typeof machineStatus>;

export const machineUndone = z.object({
  undone: z.array(z.object({ id: z.string(), title: z.string() })),
  /** What is still to be taken back, and why. */
  left: z.array(machineEntry),
});
export type MachineUndone = z.infer<typeof machineUndone>;

const entryId = z
  .string()
  .min(1)
  .max(300)
  .meta({ description: 'as machine status lists them', examples: ['hosts:shop.acme.test'] });

export const machine = {
  plan: base
    .route({ summary: 'What would change on this machine for a hostname, line by line; changes nothing' })
    .input(z.strictObject({ hostname: hostnameInput }))
    .output(machinePlan),
  apply: base
    .route({ summary: 'Do one planned change of this machine; the ledger has it before it is done' })
    .input(
      z.strictObject({
        hostname: hostnameInput,
        plan: z
          .string()
          .regex(/^[0-9a-f]{8}$/, 'must be the code of a planned change, such as 3f2a91c0')
          .meta({ description: 'the code of the change, from machine plan', examples: ['3f2a91c0'] }),
      }),
    )
    .output(machineEntry),
  undo: base
    .route({ summary: 'Take back changes of this machine; by default all of this data folder’s' })
    .input(
      z
        .strictObject({
          ids: z.array(entryId).min(1).max(200).optional(),
          take: z.boolean().default(false).meta({ description: 'also take back what somebody else has changed since' }),
        })
        .optional(),
    )
    .output(machineUndone),
  status: base
    .route({ summary: 'The changes of this machine that the ledger has' })
    .input(z.strictObject({}).optional())
    .output(machineStatus),
  export: base
    .route({ summary: 'The ledger as text, with what was there before, for a security team' })
    .input(z.strictObject({}).optional())
    .output(z.object({ fileName: z.string(), text: z.string() })),
};
