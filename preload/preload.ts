/**
 * Runs before the page of the desktop window, sandboxed and in an isolated world. It only passes the page's port to the
 * main process, which checks the page's origin.
 */
import { contextBridge, ipcRenderer } from 'electron';

const CONNECT = 'vivarium:connect';

contextBridge.exposeInMainWorld('vivariumDesktop', true);

window.addEventListener('message', ({ source, origin, data, ports }) => {
  const [port] = ports;
  if (source !== window || origin !== window.origin || data !== CONNECT || port === undefined) return;
  ipcRenderer.postMessage(CONNECT, null, [port]);
});
