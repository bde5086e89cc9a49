import type { BaseWindow, Dialog, MessageBoxOptions, MessageBoxReturnValue } from 'electron';
import { ownApp, requireReady } from './app.ts';
import { fault, onCommand, tell } from './driver.ts';
import { refuseUnknown, strictly } from './strict.ts';

const OPTIONS = ['type', 'title', 'message', 'detail', 'buttons', 'cancelId', 'defaultId', 'signal'];

const waiting = new Map<number, (response: number) => void>();
let lastId = 0;

onCommand((command) => {
  if (command.kind !== 'answer') return;
  waiting.get(command.id)?.(command.response);
  waiting.delete(command.id);
});

/**
 * Shown to the test, which answers; closed with `cancelId` when its signal is aborted, as documented: on macOS with a
 * parent window only. Without one, macOS blocks the process, which then receives no signal either. A sheet of a window
 * that is not visible never appears there (electron/electron#22671, mended for `showMessageBoxSync` only).
 */
function ask(options: MessageBoxOptions, parent?: BaseWindow): Promise<MessageBoxReturnValue> {
  requireReady('dialog.showMessageBox');
  refuseUnknown('a message box', options, OPTIONS);
  const { message, detail = '', buttons = ['OK'], cancelId = 0, signal } = options;
  if (cancelId >= buttons.length) throw new Error('cancelId is no button.');
  const id = ++lastId;
  const shown = { kind: 'dialog', id, message, detail, buttons, parent: parent?.getTitle() ?? null } as const;
  return new Promise((resolve) => {
    const isBlocking = process.platform === 'darwin' && parent === undefined;
    if (process.platform === 'darwin' && parent !== undefined && (!parent.isVisible() || parent.isMinimized())) return;
    const answer = (response: number) => {
      if (isBlocking) ownApp.standIn.blockingBoxes--;
      resolve({ response, checkboxChecked: false });
    };
    waiting.set(id, answer);
    if (isBlocking) {
      ownApp.standIn.blockingBoxes++;
      return tell(shown);
    }
    signal?.addEventListener('abort', () => {
      if (waiting.delete(id)) tell({ kind: 'dialog-closed', id });
      answer(cancelId);
    });
    tell(shown);
  });
}

export const dialog = strictly('dialog', {
  showMessageBox: (...given: [MessageBoxOptions] | [BaseWindow, MessageBoxOptions]) =>
    given.length === 1 ? ask(given[0]) : ask(given[1], given[0]),
  showErrorBox(title, content) {
    if (ownApp.standIn.windows.size > 0) fault('stands still while it shows an error box.');
    tell({ kind: 'error-box', title, content });
  },
} satisfies Partial<Dialog>);
