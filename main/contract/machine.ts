import { z } from 'zod';
import { call } from './base.ts';
import { hostnameInput } from './domains.ts';
import { about, timestamp } from './values.ts';

const changeKind = z.enum(['resolver', 'ports', 'hosts', 'browser', 'trust']);

/** One place of a change: a file, a kernel value, or a setting made by a command. */
const machineStep = z.object({
  path: z.string(),
  /** Whether it existed before; foreign contents are kept. */
  existed: z.boolean(),
  /** The removed and the added lines. */
  removes: z.array(z.string()),
  adds: z.array(z.string()),
  /** For a change in the ledger. `changed`: edited since, not by Vivarium. `unknown`: it cannot be read here. */
  state: z.enum(['before', 'applied', 'changed', 'unknown']).optional(),
});
export type MachineStep = z.infer<typeof machineStep>;

/** One change to this machine: planned, or from the ledger. */
const machineChange = z.object({
  id: z.string(),
  kind: changeKind,
  what: z.string(),
  /**
   * `planned`: it can be made. `obstacle`: it cannot, or need not, be made; `note` has the reason. In the ledger:
   * `applied`: all of it is in place. `pending`: none, because its command was not pasted yet. `partial`: a part, as
   * after a crash. `changed`: edited since, not by Vivarium. `unknown`: it cannot be read here. `undone`: undone.
   */
  state: z.enum(['planned', 'obstacle', 'applied', 'pending', 'partial', 'changed', 'unknown', 'undone']),
  /**
   * What to run next: `machine apply` for a planned change, `machine undo` for one in place; or, if Vivarium
   * cannot ask for the password, the command to paste into a terminal. Absent when there is nothing to run.
   */
  command: z.string().optional(),
  /** The previous text: a whole file, or a kernel value. Absent if there was none. */
  before: z.string().optional(),
  steps: z.array(machineStep),
  /** The commands that run after the steps. */
  runs: z.array(z.string()),
  note: z.string().optional(),
  /** For a planned change: identifies this change of the present state. */
  plan: z.string().optional(),
  /** With an obstacle: text for the system's own configuration. */
  instead: z.string().optional(),
  /** When it was written into the ledger, in real time. */
  at: timestamp.optional(),
  /** The data folder of the Vivarium that made the change. */
  dataDir: z.string().optional(),
  /** What the last attempt failed to do. */
  message: z.string().optional(),
});
export type MachineChange = z.infer<typeof machineChange>;

const machineChanges = z.object({ changes: z.array(machineChange) });
export type MachineChanges = z.infer<typeof machineChanges>;

const machinePlan = machineChanges.extend({
  hostname: z.string(),
  zone: z.string(),
  /** The addresses to which this system resolves the hostname at present; empty if unknown. */
  resolvesTo: z.array(z.string()),
  ledger: z.string(),
});
export type MachinePlan = z.infer<typeof machinePlan>;

const machineStatus = machineChanges.extend({
  ledger: z.string(),
  /** The script that undoes everything without Vivarium. */
  undoScript: z.string(),
});
export type MachineStatus = z.infer<typeof machineStatus>;

const entryId = about(z.string().min(1).max(300), 'ids from machine status', 'hosts:shop.acme.test');

export const machine = {
  plan: call('What would change on this machine for a hostname, line by line; changes nothing', machinePlan, {
    hostname: hostnameInput,
  }),
  apply: call('Make one planned change to this machine; it is written into the ledger first', machineChanges, {
    hostname: hostnameInput,
    plan: about(
      z.string().regex(/^[0-9a-f]{8}$/, 'must be the code of a planned change, such as 3f2a91c0'),
      'the code of the change, from machine plan',
      '3f2a91c0',
    ),
  }),
  undo: call('Undo changes to this machine; by default all of this data folder’s', machineChanges, {
    ids: z.array(entryId).min(1).max(200).optional(),
    take: about(z.boolean().default(false), 'also undo changes that were edited since'),
  }),
  status: call('The changes to this machine in the ledger', machineStatus),
  export: call(
    'The ledger as text, with the previous contents, for a security team',
    z.object({ fileName: z.string(), text: z.string() }),
  ),
};
