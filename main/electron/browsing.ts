import { app, BrowserWindow, clipboard, Menu } from 'electron';
import { contextTemplate, type MenuActions } from './menu.ts';

/** Back and forward in the window that has the focus: the app's own, or a preview. */
export const historyActions: Pick<MenuActions, 'goBack' | 'goForward'> = {
  goBack: () => BrowserWindow.getFocusedWindow()?.webContents.navigationHistory.goBack(),
  goForward: () => BrowserWindow.getFocusedWindow()?.webContents.navigationHistory.goForward(),
};

/** What the tab of a browser has, and a window of Electron has not. Install before the first window is created. */
export function addBrowsing(): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.on('context-menu', (_shown, pointed) => {
      const copy = (text: string) => void clipboard.writeText(text);
      const template = contextTemplate(pointed, contents.navigationHistory, { ...historyActions, copy });
      Menu.buildFromTemplate(template).popup();
    });
  });
  // The keys of a mouse, on Windows and Linux.
  app.on('browser-window-created', (_event, window) => {
    window.on('app-command', (_pressed, command) => {
      if (command === 'browser-backward') historyActions.goBack();
      if (command === 'browser-forward') historyActions.goForward();
    });
  });
}
