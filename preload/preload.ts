/**
 * Runs before the page of the desktop's window, sandboxed and in a world of its own. It hands the page's port over to
 * the main process, which checks whose page it is, and does nothing else.
 */
import { contextBridge, ipcRenderer } from 'electron';

const CONNECT = 'vivarium:connect';

contextBridge.exposeInMainWorld('vivariumDesktop', true);

window.addEventListener('message', ({ source, origin, data, ports }) => {
  const [port] = ports;
  if (source !== window || origin !== window.origin || data !== CONNECT || port === undefined) return;
  ipcRenderer.postMessage(CONNECT, null, [port]);
});
