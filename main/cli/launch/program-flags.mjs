/**
 * V8's flags for the engine. MiB of one of the two young-generation semi-spaces: a forwarded request allocates 35 kB,
 * most of it in Node; with 8 MB the GC runs twice as often and upstreams are a tenth slower; 32 MB gains nothing. V8
 * reads the flag only when a process starts. The tarball's `serve` does without: a second process for it would hold
 * 45 MB and come between the engine and its supervisor. Its `start -d` has the flag.
 */
export const PROGRAM_FLAGS = ['--max-semi-space-size=16'];
