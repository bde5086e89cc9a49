import { join } from 'node:path';

/**
 * Whether a Node can run Vivarium's engine. Old syntax, because an old Node must be able to read it: the engine
 * decides about every HTTP upgrade itself (`shouldUpgradeCallback`), which came with these releases.
 */
export function isNodeNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 9) || (major === 22 && minor >= 21);
}

/** The Node that a clone installs for its engine. */
export const pinnedNode = (root) =>
  join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

/** The same as a range, which npm checks when it installs the tarball. */
export const NODE_RANGE = '^22.21.0 || >=24.9.0';

export const NODE_WANTED = `Vivarium needs Node 24.9 or newer (or 22 from 22.21) where it is installed; this is ${process.version}.`;

/**
 * V8's flags for the engine. MiB of one of the two young-generation semi-spaces: a forwarded request allocates 35 kB,
 * most of it in Node; with 8 MB the GC runs twice as often and upstreams are a tenth slower; 32 MB gains nothing. V8
 * reads the flag only when a process starts. The tarball's `serve` does without: a second process for it would hold
 * 45 MB and come between the engine and its supervisor. Its `start -d` has the flags.
 * From 2 MB instead of 1 MB, what a start loads is copied less often and the first full collection comes after it: a
 * tenth less processor time. From 4 MB, there is no full collection, without which V8 never returns memory when idle.
 * An installed app has the first flag only: menus and scripts would split a list of two.
 */
export const PROGRAM_FLAGS = ['--max-semi-space-size=16', '--min-semi-space-size=2'];
