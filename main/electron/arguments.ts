/**
 * Chromium reads switches from the same command line but ignores everything after this separator. Vivarium's options
 * follow it, so Chromium does not act on `--log-level` or `--proxy-server`.
 */
const SEPARATOR = '--';

/** Before the separator: run a command without a window, as the launcher `vivarium` requests. */
const COMMAND_LINE_SWITCH = '--command-line';

export interface OwnArguments {
  mode: 'window' | 'command-line';
  /** The words after the separator. */
  words: string[];
}

/** Vivarium's part of `process.argv`: `vivarium-desktop [switches] [-- words]`. */
export function readOwnArguments(argv: readonly string[]): OwnArguments {
  const at = argv.indexOf(SEPARATOR);
  const before = at < 0 ? argv : argv.slice(0, at);
  return {
    mode: before.slice(1).includes(COMMAND_LINE_SWITCH) ? 'command-line' : 'window',
    words: at < 0 ? [] : argv.slice(at + 1),
  };
}
