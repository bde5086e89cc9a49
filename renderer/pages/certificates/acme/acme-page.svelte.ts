import { ORPCError } from '@orpc/client';
import type { AcmeExplanation, AcmeOrderInfo } from '../../../../main/contract/acme.ts';
import { closestZone, type RecordPlan } from '../../../../main/contract/record-plan.ts';
import type { Domain } from '../../../../main/contract/domains.ts';
import type { Run } from '../../../../main/contract/runs.ts';
import type { ZoneInfo } from '../../../../main/contract/zones.ts';
import type { Client } from '../../../connection/transport.ts';
import { LiveQuery, type Source } from '../../../connection/live-query.svelte.ts';

/** The filter of the list of orders: a part of a name or an account's id, and a state; empty texts match everything. */
export interface OrderFilter {
  search: string;
  state: string;
}

/** Orders shown at first, and more each time. */
export const ORDERS_STEP = 100;

const PAGE_SIZE = 200;

const STATES = ['open', 'valid', 'invalid'] as const;

/** The orders, accounts and refusals of ACME clients, and the use of their limits. */
export class AcmePage {
  /** One more than is shown, if there are more. */
  readonly orders: LiveQuery<readonly AcmeOrderInfo[]>;
  readonly rest: LiveQuery<Awaited<ReturnType<typeof readRest>>>;
  #filter: OrderFilter;
  shown = $state(ORDERS_STEP);

  constructor(source: Source, filter: OrderFilter) {
    const { client } = source;
    this.#filter = filter;
    this.orders = new LiveQuery(source, CONCERNS, async (signal) => {
      const rows: AcmeOrderInfo[] = [];
      for (;;) {
        const limit = Math.min(PAGE_SIZE, this.shown + 1 - rows.length);
        const after = rows.at(-1)?.id;
        const input = { ...inputOf(this.#filter), limit, ...(after !== undefined && { after }) };
        const page = await client.acme.orders(input, { signal });
        rows.push(...page);
        if (page.length < limit || rows.length > this.shown) return rows;
      }
    });
    this.rest = new LiveQuery(
      source,
      [...CONCERNS, 'domains.changed', 'settings.changed', 'zones.changed', 'records.changed'],
      (signal) => readRest(client, signal),
    );
  }

  showMore(): void {
    this.shown += ORDERS_STEP;
    this.orders.reread('now');
  }

  narrow(filter: OrderFilter): void {
    if (JSON.stringify(filter) === JSON.stringify(this.#filter)) return;
    this.#filter = filter;
    this.shown = ORDERS_STEP;
    this.orders.reread('now');
  }

  close(): void {
    this.orders.close();
    this.rest.close();
  }
}

const CONCERNS = ['acme.changed', 'clock.changed'] as const;

async function readRest(client: Client, signal: AbortSignal) {
  const { acme, zones, domains, runs } = client;
  const [accounts, refusals, limits, local, attached, running] = await Promise.all([
    acme.accounts({}, { signal }),
    acme.refusals({}, { signal }),
    acme.limits({}, { signal }),
    zones.list({}, { signal }),
    domains.list({}, { signal }),
    runs.list({}, { signal }),
  ]);
  const proposed = await propose(client, { zones: local, attached, running }, signal);
  return { accounts, refusals, limits, zones: local, domains: attached, proposed };
}

/** A hostname for a client to order, and how it gets the record that it lacks. */
export interface Proposed {
  hostname: string;
  plan?: Extract<RecordPlan, { kind: 'put' }>;
}

/** Zones whose CAA records are asked for. */
const ZONES_TRIED = 5;

const RECORD = { name: 'acme', type: 'A', ttl: 3600, value: '127.0.0.1' } as const;

/** Below a zone that no run holds and whose CAA records permit it; where there is none, in a new zone. */
async function propose(
  { caa, records }: Client,
  { zones, attached, running }: { zones: readonly ZoneInfo[]; attached: readonly Domain[]; running: readonly Run[] },
  signal: AbortSignal,
): Promise<Proposed> {
  const held = running.flatMap(({ hostnames }) => hostnames.map((of) => closestZone(of, zones)?.name));
  const taken = attached.map((domain) => domain.hostname);
  const planIn = (zone: string, createsZone: boolean) =>
    ({ kind: 'put', zone, createsZone, record: RECORD, replaced: [] }) as const;
  const free = zones.filter(({ name }) => !held.includes(name) && !taken.includes(`acme.${name}`));
  for (const { name: zone } of free.slice(0, ZONES_TRIED)) {
    const hostname = `acme.${zone}`;
    if ((await caa.explain({ hostname }, { signal })).verdict !== 'allowed') continue;
    const there = await records.list({ zone, name: RECORD.name }, { signal });
    return { hostname, ...(there.length === 0 && { plan: planIn(zone, false) }) };
  }
  return { hostname: 'acme.client.test', plan: planIn('client.test', true) };
}

/** The input for a filter from an address, which may contain an unknown state. */
function inputOf({ search, state }: OrderFilter) {
  const known = STATES.find((each) => each === state);
  return { search: search.trim(), ...(known !== undefined && { state: known }) };
}

/** One order; null if it is no longer kept. */
export const orderQuery = (source: Source, orderId: string): LiveQuery<AcmeExplanation | null> =>
  new LiveQuery(source, CONCERNS, async (signal) => {
    try {
      return await source.client.acme.explain({ orderId }, { signal });
    } catch (error) {
      if (error instanceof ORPCError && error.code === 'not_found') return null;
      throw error;
    }
  });
