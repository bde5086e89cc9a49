import { test } from 'vitest';
import { createEndpoint, type Endpoint } from '../../../main/acme/endpoint.ts';
import type { Outcome, Task } from '../../../main/acme/outcome.ts';
import type { AcmeParts } from '../../../main/acme/parts.ts';
import { createAcmeFaults } from '../../../main/acme/faults.ts';
import { createRates } from '../../../main/acme/rates.ts';
import { createRefusals, AcmeError } from '../../../main/acme/problem.ts';
import { silentLog } from '../../../main/base/log.ts';
import { permits, parseLeafName } from '../../../main/ca/names.ts';
import { createRequestedLeaf } from '../../../main/ca/leaf.ts';
import { createRoot } from '../../../main/ca/root.ts';
import { readSigningRequest } from '../../../main/ca/signing-request.ts';
import type { AcmeLimitName, AcmeRate } from '../../../main/contract/acme-rates.ts';
import { isWildcard } from '../../../main/contract/hostnames.ts';
import { apexOf } from '../../../main/domains/public-suffix.ts';
import type { CaaRecord } from '../../../main/model/caa/value.ts';
import { explainCaa } from '../../../main/model/caa/walk.ts';
import type { FaultSource } from '../../../main/model/fault.ts';
import { openStore } from '../../../main/store/store.ts';
import { ORIGIN, createTestClient } from './acme-client.ts';
import { createFakeClock, FAKE_NOW_MS } from '../fake-clock.ts';

export const root = createRoot({ realNowMs: FAKE_NOW_MS, owner: 'anna@laptop' });

export type TestServer = ReturnType<typeof createTestServer>;

/** A server with an account. */
export async function registered(server: TestServer = createTestServer()) {
  const client = createTestClient(server.endpoint);
  await client.register();
  return Object.assign(server, { client });
}

/** `test` with a server that has an account, and the parts of both. */
export const accountTest = test
  .extend('server', () => registered())
  .extend('client', ({ server }) => server.client)
  .extend('endpoint', ({ server }) => server.endpoint)
  .extend('clock', ({ server }) => server.clock)
  .extend('store', ({ server }) => server.store);

/** A validation that fails. */
export const failing = async () => ({ attempts: [], error: new AcmeError('connection', 'There is no server.') });

/**
 * An ACME server on a store in memory, with a clock and a DNS that tests control; its validations succeed by default.
 */
export function createTestServer() {
  const clock = createFakeClock();
  const store = openStore({ file: ':memory:', clock, log: silentLog });
  const refusals = createRefusals();
  const parts: AcmeParts = {
    clock,
    log: {
      error(message, details) {
        if (server.writesLeft <= 0) return;
        throw new Error(message, { cause: details });
      },
    },
    rows: {
      ...store.acme,
      save(changes) {
        if (server.writesLeft-- <= 0) throw new Error('The engine has crashed.');
        store.acme.save(changes);
      },
      stored: () => server.stored(),
    },
    issuer: {
      refusal: ({ value }) =>
        permits(root.constraints, parseLeafName(value)) ? null : `Not permitted: vivarium ca extend ${value}`,
      notAfterMs: () => root.notAfterMs,
      keyIdentifier: () => root.keyIdentifier.toString('hex'),
      issue(request) {
        const { serial, certificatePem: pem } = createRequestedLeaf({ ...request, issuer: root, filesUrl: null });
        return { serial, pem };
      },
      chains: () => [[root.certificatePem], []],
    },
    readRequest: readSigningRequest,
    validate: (_method, task) => server.validate(task),
    askCaa: ({ name, method, accountUri }) =>
      explainCaa({
        ...{ hostname: name, method, accountUri, wildcard: isWildcard(name), issuer: 'vivarium.localhost' },
        async lookup(owner) {
          const records = server.caa.get(owner);
          return records === undefined
            ? { kind: 'empty', aliasChain: [] }
            : { kind: 'records', records, aliasChain: [] };
        },
      }),
    externalAccountRequired: () => server.bound,
    caaDomain: () => 'vivarium.localhost',
    revocations: store.revocations,
    origin: () => ORIGIN,
    rates: createRates({ now: () => clock.now(), enforced: () => server.limited, changed: () => server.rates }),
    refusals,
    faults: createAcmeFaults(
      {
        get named() {
          return server.broken;
        },
        giveBack: () => undefined,
      },
      { now: () => clock.now() },
    ),
    registeredDomain: apexOf,
    onChanged: () => undefined,
  };
  let running: Endpoint;
  const server = {
    endpoint: {
      answer: (request) => running.answer(request),
      get orders() {
        return running.orders;
      },
      get authorizations() {
        return running.authorizations;
      },
      get accounts() {
        return running.accounts;
      },
    } as Endpoint,
    ...{ clock, store, refusals },
    limited: false,
    /** Whether new accounts need an external account binding. */
    bound: false,
    /** The running breaks; null for none. */
    broken: null as FaultSource['named'],
    /** Limits that replace Let’s Encrypt’s. */
    rates: new Map<AcmeLimitName, AcmeRate>(),
    caa: new Map<string, CaaRecord[]>(),
    /** Writes until a crash; all later ones fail. */
    writesLeft: Infinity,
    /** Replaces the outcome of validations. */
    validate: async (_task: Task): Promise<Outcome> => ({ attempts: [], error: null }),
    /** Replaces the wait for the disk. */
    stored: store.acme.stored,
    /** Continues with what was written, as after a crash. */
    restart() {
      server.writesLeft = Infinity;
      running = createEndpoint(parts);
    },
  };
  server.restart();
  return server;
}
