import { spawnSync } from 'node:child_process';

/** Mounts a disk of the size `$1` on `$0`, runs the shell's command `$2`, then the program. */
const ON_SMALL_DISK = 'mount -t tmpfs -o size=$1 tmpfs "$0" && { sh -c "$2"; shift 2; exec "$@"; }';

export const hasSmallDisks = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

/** The words before a program that runs it with a small disk on `folder`, after `prepare`. */
export const onSmallDisk = (folder: string, size: string, prepare = ''): string[] => [
  ...['unshare', '-rm', 'sh', '-c', ON_SMALL_DISK],
  ...[folder, size, prepare],
];
