import { z } from 'zod';
import { base } from './base.ts';
import { hostnameInput } from './domains.ts';
import { timestamp } from './values.ts';

const changeKind = z.enum(['resolver', 'ports', 'hosts', 'browser', 'trust']);

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

/** One change of this machine: planned, or as the ledger has it. */
const machineChange = z.object({
  id: z.string(),
  kind: changeKind,
  what: z.string(),
  /**
   * `planned`: it can be made. `obstacle`: it cannot, or need not, be made; `note` has the reason. Of the ledger:
   * `applied`: all of it is there. `pending`: none of it, because its command was not pasted yet. `partial`: a part, as
   * after a crash. `changed`: somebody else has changed it since. `unknown`: it cannot be read here. `undone`: taken back.
   */
  state: z.enum(['planned', 'obstacle', 'applied', 'pending', 'partial', 'changed', 'unknown', 'undone']),
  /**
   * What to run next: `machine apply` for a planned change, and `machine undo` for one that is there; or, where Vivarium
   * cannot ask for the password, what to paste into a terminal. Absent when there is nothing to run.
   */
  command: z.string().optional(),
  /** The text that was there before: a whole file, or a value of the kernel. Absent where there was none. */
  before: z.string().optional(),
  steps: z.array(machineStep),
  /** The commands that run after the steps. */
  runs: z.array(z.string()),
  note: z.string().optional(),
  /** Of a planned change: names exactly this change of the present state. */
  plan: z.string().optional(),
  /** With an obstacle: what to put into the system's own configuration. */
  instead: z.string().optional(),
  /** When it was written into the ledger, in real time. */
  at: timestamp.optional(),
  /** The data folder of the Vivarium that made it. */
  dataDir: z.string().optional(),
  /** What the last attempt could not do. */
  message: z.string().optional(),
});
export type MachineChange = z.infer<typeof machineChange>;

const machineChanges = z.object({ changes: z.array(machineChange) });
export type MachineChanges = z.infer<typeof machineChanges>;

const machinePlan = machineChanges.extend({
  hostname: z.string(),
  zone: z.string(),
  /** Where this system's own resolver leads the hostname at present; empty when it does not know it. */
  resolvesTo: z.array(z.string()),
  ledger: z.string(),
});
export type MachinePlan = z.infer<typeof machinePlan>;

const machineStatus = machineChanges.extend({
  ledger: z.string(),
  /** Takes everything back without Vivarium. */
  undoScript: z.string(),
});
export type MachineStatus = z.infer<typeof machineStatus>;

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
    .output(machineChanges),
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
    .output(machineChanges),
  status: base
    .route({ summary: 'The changes of this machine that the ledger has' })
    .input(z.strictObject({}).optional())
    .output(machineStatus),
  export: base
    .route({ summary: 'The ledger as text, with what was there before, for a security team' })
    .input(z.strictObject({}).optional())
    .output(z.object({ fileName: z.string(), text: z.string() })),
};
