import type { LanStatus } from '../../../../main/contract/reach.ts';
import type { Client } from '../../../connection/transport.ts';
import { LiveQuery, type Source } from '../../../connection/live-query.svelte.ts';
import { Task } from '../../../shared/controls/task.svelte.ts';
import { serveThisMachineOnly } from '../../../shared/session/other-devices.ts';
import type { Toasts } from '../../../shared/session/toasts.svelte.ts';

/** Whether other devices are served, on which interface, and the switch for it. */
export class OtherDevices {
  readonly status: LiveQuery<LanStatus>;
  readonly change: Task<[change: (client: Client) => Promise<unknown>]>;
  readonly #client: Client;
  readonly #toasts: Toasts;
  #chosen = $state<string | undefined>(undefined);
  #keep = $state(false);
  readonly isOff: boolean = $derived.by(() => this.status.value?.state === 'off');

  constructor(source: Source & { toasts: Toasts }) {
    const { client, toasts } = source;
    this.#client = client;
    this.#toasts = toasts;
    this.status = new LiveQuery(source, ['lan.changed', 'domains.changed', 'projects.changed'], (signal) =>
      client.lan.status({}, { signal }),
    );
    this.change = new Task((change) => change(client));
  }

  /** The interface to serve: the chosen one while it is there, else the only likely one, else the first. */
  get chosen(): string {
    const choices = this.status.value?.choices ?? [];
    const found =
      choices.find((choice) => choice.interface === this.#chosen) ??
      choices.find(({ automatic }) => automatic) ??
      choices[0];
    return found?.interface ?? '';
  }

  set chosen(name: string) {
    this.#chosen = name;
  }

  /** Whether other devices are served again after a restart; while off, the choice for the next time. */
  get keep(): boolean {
    return this.isOff ? this.#keep : (this.status.value?.keep ?? false);
  }

  set keep(keep: boolean) {
    this.#keep = keep;
    const wanted = this.status.value?.wanted;
    if (!this.isOff && wanted !== undefined)
      void this.change.start(({ lan }) => lan.start({ interface: wanted, keep }));
  }

  async start(): Promise<void> {
    const [name, keep] = [this.chosen, this.#keep];
    const started = await this.change.start(({ lan }) => lan.start({ interface: name, keep }));
    if (started === undefined) return;
    this.#toasts.done({
      text: `Other devices on ${name} can open the hostnames.`,
      undo: () => this.#client.lan.stop({}),
      undone: 'Other devices can no longer open the hostnames.',
    });
  }

  async stop(): Promise<void> {
    await this.change.start((client) => serveThisMachineOnly(client, this.#toasts));
  }

  /** Interfaces come and go while another window is in front. */
  look(): void {
    this.status.reread();
  }

  close(): void {
    this.status.close();
  }
}
