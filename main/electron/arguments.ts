/**
 * Chromium takes switches from the same words as we do, but nothing that stands after this one: so ours stand after it,
 * and `--log-level` or `--proxy-server` in them means nothing to it.
 */
const SEPARATOR = '--';

/** Before the separator: run a command, as the launcher `vivarium` asks for, and open no window. */
const COMMAND_LINE_SWITCH = '--command-line';

export interface OwnArguments {
  mode: 'window' | 'command-line';
  /** What stands after the separator. */
  words: string[];
}

/** Our part of `process.argv`: `vivarium-desktop [switches] [-- words]`. */
export function readOwnArguments(argv: readonly string[]): OwnArguments {
  const at = argv.indexOf(SEPARATOR);
  const before = at < 0 ? argv : argv.slice(0, at);
  return {
    mode: before.slice(1).includes(COMMAND_LINE_SWITCH) ? 'command-line' : 'window',
    words: at < 0 ? [] : argv.slice(at + 1),
  };
}
