import { SvelteMap } from 'svelte/reactivity';
import type { MachineChange, MachinePlan, MachineStatus } from '../../../main/contract/machine.ts';
import { describeFailure } from '../../connection/failure.ts';
import type { Client } from '../../connection/transport.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';

/** The problem of the last attempt, and the command to paste instead. */
export type ChangeReport = Pick<MachineChange, 'message' | 'command'>;

/**
 * The changes that let this machine reach one hostname, or without one all in the ledger. Other programs may change the
 * same files.
 */
export class MachineChanges {
  readonly query: LiveQuery<MachinePlan | MachineStatus>;
  readonly #client: Client;
  readonly #hostname: string | undefined;
  /** The system asks for a password in one dialogue at a time. */
  busy = $state<string | undefined>(undefined);
  readonly #reports = new SvelteMap<string, ChangeReport>();

  constructor(source: Source & { hostname: string | undefined }) {
    const { client, hostname } = source;
    this.#client = client;
    this.#hostname = hostname;
    this.query = new LiveQuery<MachinePlan | MachineStatus>(
      source,
      ['machine.changed', 'domains.changed', 'zones.changed'],
      (signal) =>
        hostname === undefined ? client.machine.status({}, { signal }) : client.machine.plan({ hostname }, { signal }),
    );
  }

  /** The report of a change; the command to paste only until it has been run. */
  reportOn({ id, state, command }: MachineChange): ChangeReport {
    return { ...(state === 'pending' && command !== undefined && { command }), ...this.#reports.get(id) };
  }

  /** Makes a planned change, exactly as it is shown. */
  async apply({ id, plan }: MachineChange): Promise<void> {
    const hostname = this.#hostname;
    if (plan === undefined || hostname === undefined) return;
    await this.#change(id, async () => {
      const { changes } = await this.#client.machine.apply({ hostname, plan });
      return changes.find(({ state }) => state !== 'applied');
    });
  }

  /** Undoes a change; with `take`, also if it was edited since. */
  async undo({ id, state: shown }: MachineChange): Promise<void> {
    await this.#change(id, async () => {
      const { changes } = await this.#client.machine.undo({ ids: [id], take: shown === 'changed' });
      return changes.find(({ state }) => state !== 'undone');
    });
  }

  /** Files may have been edited, and commands pasted, while another window was in front. */
  look(): void {
    this.#reports.clear();
    this.query.reread();
  }

  close(): void {
    this.query.close();
  }

  async #change(id: string, change: () => Promise<ChangeReport | undefined>): Promise<void> {
    if (this.busy !== undefined) return;
    this.busy = id;
    this.#reports.delete(id);
    try {
      const left = await change();
      if (left !== undefined) this.#reports.set(id, left);
    } catch (error) {
      this.#reports.set(id, { message: describeFailure(error) });
    } finally {
      this.busy = undefined;
      this.query.reread('now');
    }
  }
}
