import { eachField, EDITABLE_FIELDS, type EditableField, PET_FIELDS } from '../../../main/contract/pet-fields.ts';
import type { PetRecord, OrderRecord } from '../../../main/contract/pets.ts';
import type { Environment } from '../../../main/contract/values.ts';
import type { Client } from '../../connection/transport.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';

/** Names can be a page long, but a report is one line. */
const NAME_SHOWN = 48;

/** A pet as typed; the engine parses the numbers, and an empty id is the next free one. */
export type TypedPet = PetRecord;

type TypedFields = Omit<TypedPet, 'id'>;

/** Typed fields as the engine takes them. */
const fieldsOf = (typed: TypedFields): TypedFields =>
  eachField(EDITABLE_FIELDS, (field, { kind }) =>
    kind === 'int64' ? typed[field].trim() : typed[field],
  ) as TypedFields;

/** The fields of a pet that can be changed. */
export const editableOf = (pet: TypedFields): TypedFields =>
  eachField(EDITABLE_FIELDS, (field) => pet[field]) as TypedFields;

/** Actions on single pets, each reported with undo. */
export class PetActions {
  readonly #client: Client;
  readonly #projectId: string;
  readonly #toasts: Toasts;

  constructor(options: { client: Client; projectId: string; toasts: Toasts }) {
    this.#client = options.client;
    this.#projectId = options.projectId;
    this.#toasts = options.toasts;
  }

  async add(environment: Environment, typed: TypedPet): Promise<PetRecord> {
    const id = typed.id.trim();
    const dataset = this.#in(environment);
    const pet = await this.#client.pets.create({ ...dataset, ...(id !== '' && { id }), ...fieldsOf(typed) });
    this.#toasts.done({
      text: `Added ${shorten(pet.name)} as pet ${pet.id}.`,
      undo: () => this.#client.pets.remove({ ...dataset, id: pet.id }),
      undone: `Pet ${pet.id} is removed again.`,
    });
    return pet;
  }

  async change(
    environment: Environment,
    pet: PetRecord,
    change: { column: EditableField; text: string },
  ): Promise<PetRecord> {
    const { column, text } = change;
    const id = { ...this.#in(environment), id: pet.id };
    const changed = await this.#client.pets.update({ ...id, ...fieldOf(column, text) });
    const subject = `${shorten(column === 'name' ? pet.name : changed.name)}’s ${PET_FIELDS[column].word}`;
    this.#toasts.done({
      text: `Changed ${subject} to ${shorten(changed[column])}.`,
      undo: () => this.#client.pets.update({ ...id, ...fieldOf(column, pet[column]) }),
      undone:
        column === 'name'
          ? `Pet ${pet.id} is called ${shorten(pet.name)} again.`
          : `${subject} is ${shorten(pet[column])} again.`,
      kind: 'pet-change',
    });
    return changed;
  }

  /** Saves all fields of a form. */
  async rewrite(environment: Environment, pet: PetRecord, typed: TypedFields): Promise<PetRecord> {
    const id = { ...this.#in(environment), id: pet.id };
    const { name } = pet;
    const changed = await this.#client.pets.update({ ...id, ...fieldsOf(typed) });
    this.#toasts.done({
      text: `Changed ${shorten(changed.name)}.`,
      undo: () => this.#client.pets.update({ ...id, ...editableOf(pet) }),
      undone: `${shorten(name)} is as before.`,
      kind: 'pet-change',
    });
    return changed;
  }

  async remove(environment: Environment, pet: PetRecord): Promise<void> {
    const dataset = this.#in(environment);
    await this.#client.pets.remove({ ...dataset, id: pet.id });
    this.#toasts.done({
      text: `Removed ${shorten(pet.name)}.`,
      undo: () => this.#client.pets.create({ ...dataset, ...pet }),
      undone: `${shorten(pet.name)} is back as pet ${pet.id}.`,
    });
  }

  async order(environment: Environment, pet: PetRecord, quantity: number): Promise<OrderRecord> {
    const dataset = this.#in(environment);
    const order = await this.#client.orders.create({ ...dataset, petId: pet.id, quantity });
    this.#toasts.done({
      text: `Placed order ${order.id} for ${shorten(pet.name)}.`,
      undo: () => this.#client.orders.remove({ ...dataset, id: order.id }),
      undone: `Order ${order.id} is removed again.`,
    });
    return order;
  }

  /** A placed order that is removed by mistake is placed again, with another id. */
  async removeOrder(environment: Environment, { id, petId, quantity }: OrderRecord): Promise<void> {
    const dataset = this.#in(environment);
    await this.#toasts.attempt(`Order ${id} was not removed.`, async () => {
      await this.#client.orders.remove({ ...dataset, id });
      let again: OrderRecord | undefined;
      this.#toasts.done({
        text: `Removed order ${id}.`,
        undo: async () => (again = await this.#client.orders.create({ ...dataset, petId, quantity })),
        undone: () => `It is placed again, as order ${again?.id ?? ''}.`,
      });
    });
  }

  #in(environment: Environment): { projectId: string; environment: Environment } {
    return { projectId: this.#projectId, environment };
  }
}

/** A field from typed or pasted text. */
export function fieldOf(column: EditableField, text: string): Partial<TypedFields> {
  const { kind } = PET_FIELDS[column];
  // The engine refuses an invalid choice with its own message.
  return { [column]: kind === 'text' ? text : kind === 'int64' ? text.trim() : text.trim().toLowerCase() };
}

function shorten(name: string): string {
  const characters = [...name];
  return characters.length <= NAME_SHOWN ? name : `${characters.slice(0, NAME_SHOWN).join('')}…`;
}
