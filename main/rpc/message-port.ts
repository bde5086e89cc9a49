import { onMessagePortClose, onMessagePortMessage, postMessagePortMessage } from '@orpc/client/message-port';
import type { ControlRouter } from './router.ts';
import { createRpcHandler, createSession, type SessionMessage } from './session.ts';

/** A port of Node, of the DOM or of Electron's main process. */
type ServedPort = Parameters<typeof onMessagePortMessage>[0] & { start?: () => void; close?: () => void };

/**
 * Serves `router` on a message port, for the desktop window. The other end gets full access to the contract: pass it to
 * the app window's own page only. Closes a port that violates the protocol. Returns a function that aborts all calls
 * and closes the port.
 */
export function upgradeMessagePort(router: ControlRouter, port: ServedPort): () => void {
  const session = createSession({
    handler: createRpcHandler(router),
    send: (message) => postMessagePortMessage(port, message),
    onViolation: () => close(),
  });
  const close = () => {
    session.close();
    port.close?.();
  };
  onMessagePortMessage(port, (message: unknown) => {
    if (isSessionMessage(message)) void session.receive(message);
    else close();
  });
  onMessagePortClose(port, () => session.close());
  port.start?.();
  return close;
}

function isSessionMessage(message: unknown): message is SessionMessage {
  return typeof message === 'string' || message instanceof Uint8Array || message instanceof ArrayBuffer;
}
