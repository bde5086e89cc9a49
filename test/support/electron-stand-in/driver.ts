/**
 * The stand-in's connection to the test that started it, over the process's own IPC channel: events go out, and the
 * test's actions in the outer world (answers to dialogs, functions to run in the main process) come in.
 */

/** What the stand-in tells the test. */
export type StandInEvent =
  /** Chromium runs; the test may drive its pages through this address. */
  | { kind: 'browser'; endpoint: string }
  /** A message box waits for an answer; `parent` is the title of its window. */
  | { kind: 'dialog'; id: number; message: string; detail: string; buttons: string[]; parent: string | null }
  | { kind: 'dialog-closed'; id: number }
  | { kind: 'error-box'; title: string; content: string }
  /** An address or a folder was opened in another program. */
  | { kind: 'opened'; what: string }
  /** A page starts a download, or fails to because the program prevented it. */
  | { kind: 'download'; url: string; prevented: boolean }
  | { kind: 'notification'; title: string; body: string }
  /** The program used something that the stand-in does not support; the process ends. */
  | { kind: 'fault'; message: string }
  | { kind: 'evaluated'; id: number; value?: unknown; error?: string };

/** What the test tells the stand-in. */
export type StandInCommand =
  | { kind: 'evaluate'; id: number; source: string; argument: unknown }
  | { kind: 'answer'; id: number; response: number };

const FAULT_EXIT_CODE = 70;

export function tell(event: StandInEvent): void {
  process.send?.(event);
}

export function onCommand(listener: (command: StandInCommand) => void): void {
  process.on('message', (command) => listener(command as StandInCommand));
  // The channel must not keep the process alive; the process ends when the app does.
  process.channel?.unref();
}

/** Ends the process: the program relies on something that the stand-in does differently from Electron. */
export function fault(message: string): never {
  const text = `The electron stand-in ${message}`;
  process.stderr.write(`${text}\n`);
  tell({ kind: 'fault', message: text });
  process.exit(FAULT_EXIT_CODE);
}
