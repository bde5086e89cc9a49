import type { RunningBreak } from '../../../main/contract/breaks.ts';
import type { SnapshotInfo } from '../../../main/contract/snapshots.ts';
import type { Client } from '../../connection/transport.ts';
import { LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { Form } from '../../shared/controls/form.svelte.ts';
import { DRILL } from '../../shared/session/breaks.svelte.ts';
import { formatCounted } from '../../shared/time/format.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';

/** The snapshot taken before the last restoration, to undo it. */
export const BEFORE_RESTORE = 'before-restore';

/** Snapshots that Vivarium takes before it replaces the world; earlier versions named one `before-reset`. */
const AUTOMATIC = /^before-(?:restore|reset|file-\d)$/;

/** Snapshots of the whole world, and restoring one. */
export class Snapshots {
  readonly list: LiveQuery<SnapshotInfo[]>;
  readonly saving: Form<{ name: string; traffic: boolean }, SnapshotInfo>;
  restoring = $state(false);
  readonly #client: Client;
  readonly #toasts: Toasts;
  readonly #unsubscribe: () => void;
  /** The newest restorable snapshot that the user saved. */
  readonly newest = $derived.by(() =>
    this.list.value?.find(({ name, fault }) => !AUTOMATIC.test(name) && fault === undefined),
  );
  /** The snapshot that saving under the typed name replaces. */
  readonly replaced = $derived.by(() => this.list.value?.find(({ name }) => name === this.saving.values.name));

  constructor(source: Source & { toasts: Toasts }) {
    const { client, changes, toasts } = source;
    this.#client = client;
    this.#toasts = toasts;
    this.list = new LiveQuery(source, ['snapshots.changed'], (signal) => client.snapshots.list({}, { signal }));
    this.saving = new Form<{ name: string; traffic: boolean }, SnapshotInfo>({
      values: { name: '', traffic: false },
      submit: (values) => client.snapshots.save({ ...values, force: this.replaced !== undefined }),
      fieldOf: (code) => (code === 'conflict' ? 'name' : undefined),
    });
    // A break or a drill that prevented it may be over.
    this.#unsubscribe = changes.subscribe(({ type }) => {
      if (type === 'breaks.changed') this.saving.reset({ ...this.saving.values });
    });
  }

  async save(): Promise<void> {
    const saved = await this.saving.submit();
    if (saved === undefined) return;
    this.saving.reset({ name: '', traffic: false });
    this.#toasts.say(`Saved the world “${saved.name}”.`);
  }

  /** Restores a saved world at once; undo restores the present one, which is saved under a reserved name. */
  async restore(name: string): Promise<void> {
    if (this.restoring) return;
    this.restoring = true;
    await this.#toasts.attempt('The world was not restored.', async () => {
      const { snapshots } = this.#client;
      const isAgain = name === BEFORE_RESTORE;
      const { ended = [] } = await snapshots.restore(isAgain ? { name } : { name, keep: BEFORE_RESTORE });
      const text = `The world “${name}” is restored.${endedText(ended)}`;
      if (isAgain) this.#toasts.say(text);
      else {
        const undo = () => snapshots.restore({ name: BEFORE_RESTORE });
        this.#toasts.done({ text, undo, undone: 'The world is as it was before.', kind: 'restore' });
      }
    });
    this.restoring = false;
  }

  remove(name: string): Promise<void> {
    return this.#toasts.attempt('The saved world was not removed.', async () => {
      await this.#client.snapshots.remove({ name });
      this.#toasts.say(`Removed the world “${name}”.`);
    });
  }

  close(): void {
    this.#unsubscribe();
    this.list.close();
  }
}

/** What was broken until then: ` Ended: the drill hammering and 2 breaks.` */
function endedText(ended: readonly RunningBreak[]): string {
  const drills = ended.filter(({ entry }) => entry === DRILL).map(({ drill }) => `the drill ${drill}`);
  const breaks = ended.length - drills.length;
  const parts = [...drills, ...(breaks > 0 ? [formatCounted(breaks, 'break', 'breaks')] : [])];
  return parts.length === 0 ? '' : ` Ended: ${parts.join(' and ')}.`;
}
