import { ORPCError } from '@orpc/client';
import { eachField, EDITABLE_FIELDS } from '../../../main/contract/pet-fields.ts';
import type { PetRecord, OrderRecord } from '../../../main/contract/pets.ts';
import type { Environment } from '../../../main/contract/values.ts';
import { inProject, LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { Form } from '../../shared/controls/form.svelte.ts';
import { editableOf, type PetActions } from './pet-actions.ts';
import { readCount } from '../../shared/controls/typed-count.ts';

const ORDERS_SHOWN = 50;

export interface PetDetailOptions extends Source {
  actions: PetActions;
  projectId: string;
  environment: Environment;
  id: string;
}

/** One pet with its orders, its form, and a form for a new order. */
export class PetDetail {
  readonly id: string;
  readonly environment: Environment;
  /** Null when no pet has that id. */
  readonly pet: LiveQuery<PetRecord | null>;
  /** Newest first. */
  readonly orders: LiveQuery<OrderRecord[]>;
  readonly form: Form<Omit<PetRecord, 'id'>, PetRecord>;
  readonly order: Form<{ quantity: string }, OrderRecord>;
  #saved = $state.raw<PetRecord | undefined>(undefined);

  constructor(source: PetDetailOptions) {
    const { client, actions, projectId, environment, id } = source;
    this.id = id;
    this.environment = environment;
    const dataset = { projectId, environment };
    this.form = new Form({
      values: eachField(EDITABLE_FIELDS, (_field, { initial }) => initial ?? '') as Omit<PetRecord, 'id'>,
      submit: (values) => actions.rewrite(environment, this.#known(), values),
    });
    this.order = new Form({
      values: { quantity: '1' },
      // An empty value is sent for the engine to refuse.
      submit: ({ quantity }) => actions.order(environment, this.#known(), readCount(quantity) ?? Number.NaN),
    });
    this.pet = new LiveQuery(source, inProject(dataset, 'pets.changed'), async (signal) => {
      try {
        const pet = await client.pets.get({ ...dataset, id }, { signal });
        this.#adopt(pet);
        return pet;
      } catch (error) {
        // The engine refuses an invalid id; it belongs to no pet either.
        if (error instanceof ORPCError && ['not_found', 'invalid_request'].includes(String(error.code))) return null;
        throw error;
      }
    });
    this.orders = new LiveQuery(source, inProject(dataset, 'orders.changed'), async (signal) =>
      (await client.orders.list({ ...dataset, petId: id, limit: ORDERS_SHOWN }, { signal })).toReversed(),
    );
  }

  get changed(): boolean {
    const saved = this.#saved;
    return saved !== undefined && EDITABLE_FIELDS.some((field) => this.form.values[field] !== saved[field]);
  }

  async save(): Promise<void> {
    const pet = await this.form.submit();
    if (pet !== undefined) this.#show(pet);
  }

  discard(): void {
    if (this.#saved !== undefined) this.#show(this.#saved);
  }

  async placeOrder(): Promise<void> {
    if ((await this.order.submit()) !== undefined) this.order.reset();
  }

  close(): void {
    this.pet.close();
    this.orders.close();
  }

  /** Takes over the saved values, except while the user is editing. */
  #adopt(pet: PetRecord): void {
    // Typed before it was read: a draft.
    const isDraft = this.#saved === undefined && this.form.typed !== undefined;
    if (isDraft || this.changed) this.#saved = pet;
    else this.#show(pet);
  }

  #show(pet: PetRecord): void {
    this.#saved = pet;
    this.form.reset(editableOf(pet));
  }

  #known(): PetRecord {
    if (this.#saved === undefined) throw new Error('The pet has not been read yet.');
    return this.#saved;
  }
}
