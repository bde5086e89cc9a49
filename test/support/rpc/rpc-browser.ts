import { once } from 'node:events';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import type { ContractRouterClient } from '@orpc/contract';
import { onTestFinished } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import type { Contract } from '../../../main/contract/index.ts';
import { CONTROL_TOKEN, type Control } from './rpc-control.ts';

export type ContractClient = ContractRouterClient<Contract>;

/** A WebSocket as a browser tab of the interface opens it; closed after the test. */
export function openBrowserSocket(
  { port }: Pick<Control, 'port'>,
  options: { protocols?: string[]; path?: string } & ClientOptions = {},
): WebSocket {
  const { protocols = ['vivarium', `token.${CONTROL_TOKEN}`], path = '/rpc', ...more } = options;
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, {
    origin: `http://127.0.0.1:${port}`,
    ...more,
  });
  socket.on('error', () => undefined);
  onTestFinished(() => socket.terminate());
  return socket;
}

/** The same with oRPC's own client on it. */
export async function connectBrowser(
  control: Pick<Control, 'port'>,
): Promise<{ socket: WebSocket; client: ContractClient }> {
  const socket = openBrowserSocket(control);
  const client: ContractClient = createORPCClient(
    new RPCLink({ websocket: socket as unknown as globalThis.WebSocket }),
  );
  await once(socket, 'open');
  return { socket, client };
}

/** The HTTP status with which a WebSocket was refused. */
export async function refusedStatus(socket: WebSocket): Promise<number> {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number; resume(): void }];
  response.resume();
  return response.statusCode;
}
