import { z } from 'zod';
import { call } from './base.ts';
import { runningBreak } from './breaks.ts';
import { about, timestamp } from './values.ts';

/** On POSIX or Windows. A relative path would depend on the engine's working folder. */
const absolutePath = z
  .string()
  .max(4_096)
  .regex(/^(?:\/|[A-Za-z]:[\\/]|\\\\)[^\0]+$/, 'Give an absolute path.')
  .meta({ examples: ['/home/anna/vivarium-backup.db'] });

export const writtenBackup = z.object({
  file: z.string(),
  bytes: z.int(),
  /** The schema number of its database; this and newer Vivariums can restore it. */
  schema: z.int(),
  /** Whether the root's private key in it is sealed with this system's keyring, which another machine cannot open. */
  sealed: z.boolean(),
});
export type WrittenBackup = z.infer<typeof writtenBackup>;

export const backup = {
  create: call('Write everything that the data folder keeps into one file: database, root and keys', writtenBackup, {
    file: absolutePath,
    force: about(z.boolean(), 'replace an older backup of that name').default(false),
  }),
};

const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'must be 1 to 64 lower-case letters, digits, dots, hyphens and underscores, such as "before-demo"',
  )
  .meta({ examples: ['before-demo'] });

/** A copy of the whole world under a name. */
export const snapshotInfo = z.object({
  name: z.string(),
  /** The moment from which the clock continues after a restoration. */
  createdAt: timestamp,
  /** Present if the clock showed the real time then, to which a restoration returns. */
  realTime: z.literal(true).optional(),
  bytes: z.int(),
  /** The number of recorded requests in it; absent if it does not replace the traffic. */
  requests: z.int().optional(),
  /** Why it cannot be restored; absent if nothing is wrong. */
  fault: z.string().optional(),
});
export type SnapshotInfo = z.infer<typeof snapshotInfo>;

/** `ended`: the breaks that were repaired first, and the drill that was ended; absent without any. */
const restoredSnapshot = snapshotInfo.extend({ ended: z.array(runningBreak).optional() });
export type RestoredSnapshot = z.infer<typeof restoredSnapshot>;

/** The pets, projects, zones, domains, certificates, keys, limits, settings and the clock; the traffic on request. */
export const snapshots = {
  list: call('The snapshots, newest first', z.array(snapshotInfo)),
  save: call('Save the whole world, with its clock, under a name', snapshotInfo, {
    name,
    /** Without private keys of certificates, keys for updates and the readable key of the demo. */
    file: about(absolutePath, 'a file to share, instead of a snapshot in the data folder').optional(),
    force: about(z.boolean(), 'replace an older snapshot of that name').default(false),
    /** Without secrets, as Traffic shows them. A restoration then replaces the traffic too. */
    traffic: about(z.boolean(), 'also save the recorded traffic, without its secrets').default(false),
  }),
  restore: call('Replace the whole world, with its clock, with a snapshot, without a restart', restoredSnapshot, {
    name,
    keep: about(
      name,
      'first save the present world under this name, which replaces an older snapshot',
      'before-restore',
    ).optional(),
  }),
  /** `previous`: the snapshot that keeps the world of before. There are three of these, under names of their own. */
  restoreFile: call(
    'Replace the whole world with a snapshot from a file, such as one from another machine',
    restoredSnapshot.extend({ previous: z.string() }),
    { file: absolutePath },
  ),
  remove: call('Remove a snapshot', snapshotInfo, { name }),
};
