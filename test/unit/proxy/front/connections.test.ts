import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { silentLog } from '../../../../main/base/log.ts';
import { EMPTY_SNAPSHOT } from '../../../../main/model/route.ts';
import { loopbackPlace } from '../../../../main/proxy/front/own-paths.ts';
import { buildRouteTable } from '../../../../main/proxy/route-table.ts';
import type { Connection } from '../../../../main/proxy/front/connection.ts';
import { createConnections } from '../../../../main/proxy/front/connections.ts';
import { longestHeld } from '../../../../main/proxy/front/sweep.ts';
import { DEFAULT_PROXY_LIMITS } from '../../../../main/proxy/front/proxy-limits.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

test('a client that disconnects before it is accepted takes no place and does not count as a caller', () => {
  const limits = { ...DEFAULT_PROXY_LIMITS, connectionsMax: 1 };
  const connections = createConnections({
    clock: createFakeClock(),
    log: silentLog,
    limits,
    closingResponse: '',
    onLost: () => undefined,
  });
  // Without an address, as the socket of such a client.
  const socket = new Socket();
  const table = () => buildRouteTable(EMPTY_SNAPSHOT);
  expect(connections.open(socket, { scheme: 'http', port: 8080, own: loopbackPlace(new Map()), table })).toBeNull();
  expect([socket.destroyed, connections.size()]).toEqual([true, 0]);
});

test.each([
  [{}, true],
  [{ delayed: true }, false],
  [{ upgrade: true }, false],
  [{ startedMs: 11 }, false],
])('a connection whose request has the state %j waits for its client: %s', (state, waits) => {
  const record = { delayed: false, upgrade: false, startedMs: 10, route: null, ...state };
  const exchange = { record, request: { complete: true, headers: {} }, response: { writableEnded: true } };
  const connection = { phase: 'open', exchanges: [exchange] } as unknown as Connection;
  expect(longestHeld([connection], 10)).toBe(waits ? connection : null);
});
