import type { PetRecord } from '../../../main/contract/pets.ts';
import type { Environment } from '../../../main/contract/values.ts';
import type { Client } from '../../connection/transport.ts';
import { formatCount, formatCounted } from '../../shared/time/format.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';
import { Work, type WorkOptions, type Works } from '../../shared/session/works.svelte.ts';

/** The engine's limit for one call: one transaction of some 10 ms. */
export const PART_PETS = 1_000;

export type PetChange = Pick<PetRecord, 'id'> & Partial<Omit<PetRecord, 'id'>>;

export interface PetBulkOptions {
  client: Client;
  projectId: string;
  toasts: Toasts;
  works: Works;
}

const pets = (count: number): string => formatCounted(count, 'pet', 'pets');

/**
 * Actions on many pets, each reported once, with an exact undo. Work of several calls shows its progress and can be
 * stopped; the part done by then can be undone. An action of a single call throws the engine's refusal; longer work
 * reports its own.
 */
export class PetBulk {
  readonly #options: PetBulkOptions;

  constructor(options: PetBulkOptions) {
    this.#options = options;
  }

  /** The pets of `ids` that exist. */
  async read(environment: Environment, ids: readonly string[]): Promise<PetRecord[]> {
    const found: PetRecord[] = [];
    for (let start = 0; start < ids.length; start += PART_PETS) {
      const part = ids.slice(start, start + PART_PETS);
      found.push(...(await this.#options.client.pets.getMany({ ...this.#in(environment), ids: part })).pets);
    }
    return found;
  }

  async change(environment: Environment, changes: readonly PetChange[]): Promise<void> {
    const before: PetRecord[] = [];
    await this.#run({
      ...phrases('Changing', 'changed', changes, environment),
      send: async (part) => {
        const changed = await this.#update(environment, part);
        before.push(...changed);
        return changed.length;
      },
      ended: (text) => {
        this.#done(before, text, () =>
          this.#run({
            ...phrases('Restoring', 'restored', before, environment),
            send: async (part) => (await this.#update(environment, part)).length,
          }),
        );
      },
    });
  }

  async remove(environment: Environment, ids: readonly string[]): Promise<void> {
    const removed: PetRecord[] = [];
    await this.#run({
      ...phrases('Removing', 'removed', ids, environment),
      send: async (part) => {
        const answer = await this.#options.client.pets.removeMany({ ...this.#in(environment), ids: part });
        removed.push(...answer.removed);
        return answer.removed.length;
      },
      ended: (text) => this.#done(removed, text, () => this.#putBack(environment, removed)),
    });
  }

  /** The import takes pets with their ids, exactly as they were. */
  #putBack(environment: Environment, removed: readonly PetRecord[]): Promise<string> {
    let reason = '';
    return this.#run({
      ...phrases('Putting back', 'put back', removed, environment),
      send: async (part) => {
        const text = JSON.stringify(part);
        const report = await this.#options.client.pets.import({ ...this.#in(environment), format: 'json', text });
        reason ||= report.rejected[0]?.message ?? '';
        return report.created;
      },
      missed: (count) => `; ${formatCount(count)} could not be: ${reason}`,
    });
  }

  async #update(environment: Environment, changes: PetChange[]): Promise<PetRecord[]> {
    return (await this.#options.client.pets.updateMany({ ...this.#in(environment), changes })).before;
  }

  #done(pets: readonly PetRecord[], text: string, undo: () => Promise<string>): void {
    if (pets.length === 0) return this.#options.toasts.say(text);
    let undone = '';
    this.#options.toasts.done({ text, undo: async () => (undone = await undo()), undone: () => undone });
  }

  /** Returns the result as a sentence, or the title of work that continues. */
  async #run<Item>(bulk: Bulk<Item>): Promise<string> {
    const options = workOn(bulk);
    if (options.total <= PART_PETS) return options.run(new Work(options));
    this.#options.works.start(options);
    return `${options.title}.`;
  }

  #in(environment: Environment): { projectId: string; environment: Environment } {
    return { projectId: this.#options.projectId, environment };
  }
}

interface Bulk<Item> {
  title: string;
  verb: string;
  items: readonly Item[];
  /** Sends a part; resolves to how many pets it concerned. */
  send: (part: Item[]) => Promise<number>;
  /** Called with the result, also of work that was stopped or failed. */
  ended?: (text: string) => void;
  /** Says why some pets were left out. */
  missed?: (count: number) => string;
}

const phrases = <Item>(doing: string, verb: string, items: readonly Item[], environment: Environment) => ({
  title: `${doing} ${pets(items.length)} of ${environment}`,
  verb,
  items,
});

const noLongerThere = (count: number): string => `; ${formatCount(count)} no longer existed`;

function workOn<Item>({ title, verb, items, send, ended, missed = noLongerThere }: Bulk<Item>): WorkOptions {
  return {
    title,
    total: items.length,
    async run(work) {
      let count = 0;
      const result = () => `${pets(count)} ${verb}${count < work.done ? missed(work.done - count) : ''}.`;
      try {
        while (work.going && work.done < items.length) {
          const part = items.slice(work.done, work.done + PART_PETS);
          count += await send(part);
          const done = work.done + part.length;
          work.advance(done, `${formatCount(done)} of ${formatCount(items.length)}`);
        }
      } finally {
        if (work.done > 0) ended?.(result());
      }
      return result();
    },
  };
}
