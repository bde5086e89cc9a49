import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { StoreTrust } from '../../../main/contract/certificates.ts';
import { describeFailure } from '../../connection/failure.ts';
import type { Client } from '../../connection/transport.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';

/** The result of the last attempt to change a store. */
export type StoreReport =
  /** Advice from the attempt, or the command to run with a password. */
  { kind: 'answered'; action: 'trust' | 'untrust'; answer: StoreTrust } | { kind: 'failed'; message: string };

/** The trust stores of this machine and their actions. Other programs may change them too. */
export class TrustStores {
  readonly query: LiveQuery<StoreTrust[]>;
  readonly #client: Client;
  readonly #busy = new SvelteSet<string>();
  readonly #reports = new SvelteMap<string, StoreReport>();

  constructor(source: Source) {
    const { client } = source;
    this.#client = client;
    this.query = new LiveQuery(source, ['ca.changed'], (signal) => client.ca.trustStatus({}, { signal }));
  }

  isBusy(store: string): boolean {
    return this.#busy.has(store);
  }

  /** The message of the last attempt, if it adds to the store's own state. */
  reportOn({ store, state, message }: StoreTrust): StoreReport | undefined {
    const report = this.#reports.get(store);
    if (report?.kind !== 'answered') return report;
    const { answer } = report;
    // The store changed since, so the message is outdated.
    if (answer.state !== state) return undefined;
    return answer.message === message && answer.command === undefined ? undefined : report;
  }

  /** Returns whether the store now trusts the root. */
  async trust(store: string): Promise<StoreTrust | undefined> {
    return await this.#change(store, 'trust', () => this.#client.ca.trust({ store }));
  }

  /** Removes the root, or another Vivarium's root by its fingerprint. */
  async untrust(store: string, fingerprint?: string): Promise<StoreTrust | undefined> {
    const input = { store, ...(fingerprint !== undefined && { fingerprint }) };
    return await this.#change(store, 'untrust', () => this.#client.ca.untrust(input));
  }

  /** Undoes a change with the opposite one and throws its failure, for the caller to report. */
  async undo(store: string, change: 'trust' | 'untrust'): Promise<void> {
    const { ca } = this.#client;
    this.#busy.add(store);
    this.#reports.delete(store);
    try {
      await (change === 'trust' ? ca.untrust({ store }) : ca.trust({ store }));
    } finally {
      this.#busy.delete(store);
    }
  }

  close(): void {
    this.query.close();
  }

  async #change(
    store: string,
    action: 'trust' | 'untrust',
    change: () => Promise<StoreTrust>,
  ): Promise<StoreTrust | undefined> {
    if (this.#busy.has(store)) return undefined;
    this.#busy.add(store);
    this.#reports.delete(store);
    try {
      const answer = await change();
      this.#reports.set(store, { kind: 'answered', action, answer });
      return answer;
    } catch (error) {
      this.#reports.set(store, { kind: 'failed', message: describeFailure(error) });
      return undefined;
    } finally {
      this.#busy.delete(store);
    }
  }
}
