import type { EditableField } from '../../../../main/contract/pet-fields.ts';
import type { PetRecord } from '../../../../main/contract/pets.ts';
import { describeFailure, issuesOf } from '../../../connection/failure.ts';

/** A cell in edit mode. After a refusal it shows the engine's reason and keeps the typed text. */
export class CellEdit {
  readonly pet: PetRecord;
  readonly column: EditableField;
  text = $state('');
  saving = $state(false);
  fault = $state<string | undefined>(undefined);
  readonly #save: (edit: CellEdit) => Promise<unknown>;

  constructor(pet: PetRecord, column: EditableField, save: (edit: CellEdit) => Promise<unknown>) {
    this.pet = pet;
    this.column = column;
    this.text = pet[column];
    this.#save = save;
  }

  get changed(): boolean {
    return this.text !== this.pet[this.column];
  }

  /** Saves the typed text; returns whether the cell can be left. */
  async save(): Promise<boolean> {
    if (this.saving) return false;
    if (!this.changed) return true;
    this.saving = true;
    this.fault = undefined;
    try {
      await this.#save(this);
      return true;
    } catch (error) {
      this.fault = issuesOf(error)[0]?.message ?? describeFailure(error);
      return false;
    } finally {
      this.saving = false;
    }
  }
}
