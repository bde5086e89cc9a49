import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { StoreTrust } from '../../../main/contract/certificates.ts';
import { describeFailure } from '../../connection/failure.ts';
import type { Client } from '../../connection/transport.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';

type Action = 'trust' | 'untrust';

/** The result of the last attempt to change a store. */
export type StoreReport =
  /** Advice from the attempt, or the command to run with a password. */
  { kind: 'answered'; action: Action; answer: StoreTrust } | { kind: 'failed'; message: string };

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

  trust(store: string): Promise<StoreTrust | undefined> {
    return this.#change(store, 'trust');
  }

  /** Removes the root, or another Vivarium's root by its fingerprint. */
  untrust(store: string, fingerprint?: string): Promise<StoreTrust | undefined> {
    return this.#change(store, 'untrust', fingerprint);
  }

  /** Undoes a change with the opposite one and throws its failure, for the caller to report. */
  async undo(store: string, change: Action): Promise<void> {
    await this.#send(store, change === 'trust' ? 'untrust' : 'trust');
  }

  close(): void {
    this.query.close();
  }

  async #change(store: string, action: Action, fingerprint?: string): Promise<StoreTrust | undefined> {
    if (this.#busy.has(store)) return undefined;
    try {
      const answer = await this.#send(store, action, fingerprint);
      this.#reports.set(store, { kind: 'answered', action, answer });
      return answer;
    } catch (error) {
      this.#reports.set(store, { kind: 'failed', message: describeFailure(error) });
      return undefined;
    }
  }

  async #send(store: string, action: Action, fingerprint?: string): Promise<StoreTrust> {
    const { ca } = this.#client;
    this.#busy.add(store);
    this.#reports.delete(store);
    try {
      if (action === 'trust') return await ca.trust({ store });
      return await ca.untrust({ store, ...(fingerprint !== undefined && { fingerprint }) });
    } finally {
      this.#busy.delete(store);
    }
  }
}
