import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import type { CDPSession } from 'playwright-core';
import { fault } from './driver.ts';
import { type Carried, StandInPort, unpack } from './message-port.ts';
import { createEvent, strictly } from './strict.ts';

const WORLD = 'electron-preload';
const BINDING = 'electronStandInSend';
/** Passes the exposed names from the isolated world to the page's own; both run before the page's first script. */
export const EXPOSE_EVENT = 'electron-stand-in-expose';

type FromPreload =
  | { kind: 'post'; channel: string; message: Carried; ports: number[] }
  | { kind: 'port-message'; port: number; message: Carried }
  | { kind: 'port-close'; port: number }
  | { kind: 'fault'; message: string };

/** Messages of pages, by channel. The program names its channels: none is unknown. */
export const ownIpcMain = new EventEmitter();
export const ipcMain = strictly('ipcMain', ownIpcMain);

/** The part of a frame that a message comes from. */
export interface Sender {
  contents: object;
  frame: () => object | null;
}

/**
 * Runs a preload script as a sandboxed one: in a separate world beside the page's, in the main frame, before the page,
 * with no modules except those that Electron provides. @returns a function that closes the ports of a closed page
 */
export async function attachPreload(cdp: CDPSession, file: string, sender: Sender): Promise<() => void> {
  const source = readFileSync(file, 'utf8');
  if (/^\s*(import|export)\s/m.test(source)) fault(`cannot run ${file}: a sandboxed preload script is CommonJS.`);
  /** Ports by their number in the context that has their other end. */
  const ports = new Map<string, StandInPort>();
  const keyOf = (context: number, port: number) => `${context}:${port}`;

  function adopt(context: number, port: number): StandInPort {
    const call = (expression: string) => {
      // The page may have closed meanwhile; its port notices by itself.
      cdp.send('Runtime.evaluate', { contextId: context, expression }).catch(() => undefined);
    };
    const adopted = new StandInPort({
      send: (message) => call(`electronStandIn.deliver(${port}, ${JSON.stringify(message)})`),
      close: () => call(`electronStandIn.close(${port})`),
    });
    ports.set(keyOf(context, port), adopted);
    return adopted;
  }

  cdp.on('Runtime.bindingCalled', ({ name, payload, executionContextId: context }) => {
    if (name !== BINDING) return;
    const told = JSON.parse(payload) as FromPreload;
    switch (told.kind) {
      case 'fault':
        return fault(told.message);
      case 'port-message':
        return ports.get(keyOf(context, told.port))?.receive(unpack(told.message));
      case 'port-close':
        return ports.get(keyOf(context, told.port))?.disconnected();
      case 'post': {
        const adopted = told.ports.map((port) => adopt(context, port).facade);
        const event = createEvent(told.channel, {
          ports: adopted,
          sender: sender.contents,
          get senderFrame() {
            return sender.frame();
          },
        });
        if (ownIpcMain.listenerCount(told.channel) === 0) fault(`has no listener for the channel "${told.channel}".`);
        ownIpcMain.emit(told.channel, event, unpack(told.message));
      }
    }
  });
  const closePorts = () => {
    for (const port of ports.values()) port.disconnected();
    ports.clear();
  };
  cdp.on('Runtime.executionContextsCleared', closePorts);
  cdp.on('Runtime.executionContextDestroyed', ({ executionContextId: context }) => {
    for (const [key, port] of ports) if (key.startsWith(`${context}:`)) port.disconnected();
  });
  await cdp.send('Runtime.enable');
  await cdp.send('Page.enable');
  await cdp.send('Runtime.addBinding', { name: BINDING, executionContextName: WORLD });
  await cdp.send('Page.addScriptToEvaluateOnNewDocument', { worldName: WORLD, source: worldSource(source) });
  return closePorts;
}

/** The script with the modules that it may require. Any other module ends the stand-in with its name. */
const worldSource = (preload: string): string => `
if (window === window.top && location.href !== 'about:blank') (() => {
  const send = (told) => globalThis.${BINDING}(JSON.stringify(told));
  const fault = (message) => { send({ kind: 'fault', message }); throw new Error(message); };
  const strictly = (name, part) => new Proxy(part, {
    get: (target, property) => typeof property === 'symbol' || property in target || property === 'then'
      ? target[property] : fault('does not carry out ' + name + '.' + property + ' in a preload script.'),
  });
  const toBase64 = (bytes) => { let text = ''; for (const byte of bytes) text += String.fromCharCode(byte); return btoa(text); };
  const pack = (value) => {
    if (typeof value === 'string') return { text: value };
    if (value instanceof ArrayBuffer) return { bytes: toBase64(new Uint8Array(value)) };
    if (ArrayBuffer.isView(value)) return { bytes: toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) };
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return { json: JSON.stringify(value) };
    return fault('carries texts, bytes, numbers, booleans and null out of pages, not ' + typeof value + '.');
  };
  const unpack = (carried) => 'text' in carried ? carried.text : 'json' in carried ? JSON.parse(carried.json)
    : Uint8Array.from(atob(carried.bytes), (letter) => letter.charCodeAt(0));
  const ports = new Map();
  let last = 0;
  globalThis.electronStandIn = {
    deliver: (id, carried) => ports.get(id)?.postMessage(unpack(carried)),
    close: (id) => { ports.get(id)?.close(); ports.delete(id); },
  };
  const electron = strictly('electron', {
    contextBridge: strictly('contextBridge', {
      exposeInMainWorld(key, value) {
        if (!['string', 'number', 'boolean'].includes(typeof value)) fault('exposes texts, numbers and booleans only.');
        document.dispatchEvent(new CustomEvent('${EXPOSE_EVENT}', { detail: JSON.stringify([key, value]) }));
      },
    }),
    ipcRenderer: strictly('ipcRenderer', {
      postMessage(channel, message, transfer = []) {
        // The caller's own port is detached, as by every transfer.
        const moved = structuredClone(transfer, { transfer });
        const ids = moved.map((port) => {
          const id = ++last;
          ports.set(id, port);
          port.addEventListener('close', () => send({ kind: 'port-close', port: id }));
          return id;
        });
        send({ kind: 'post', channel, message: pack(message), ports: ids });
        for (const id of ids) ports.get(id).onmessage = ({ data, ports: more }) => {
          if (more.length > 0) fault('does not transfer ports through ports.');
          send({ kind: 'port-message', port: id, message: pack(data) });
        };
      },
    }),
  });
  const require = (name) => name === 'electron' ? electron : fault('gives a sandboxed preload script no module "' + name + '".');
  (function (require, module, exports) {\n${preload}\n})(require, { exports: {} }, {});
})();
`;
