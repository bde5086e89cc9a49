import { type EditableField, PET_FIELDS } from '../../../../main/contract/pet-fields.ts';
import { formatCounted } from '../../../shared/time/format.ts';
import type { MenuItem } from '../../../shared/layers/Menu.svelte';

type Handlers<Verb extends string> = Record<Verb, () => void>;

/** The actions of a pet's row. `column`: the one to edit. */
export function petActions(
  column: EditableField,
  isSelected: boolean,
  on: Handlers<'open' | 'edit' | 'select' | 'copy' | 'remove'>,
): MenuItem[] {
  return [
    { label: 'Open', icon: 'pets', run: on.open },
    { label: `Edit the ${PET_FIELDS[column].word}`, icon: 'edit', run: on.edit },
    { label: isSelected ? 'Unselect' : 'Select', icon: 'ok', run: on.select },
    { label: 'Copy the row', icon: 'copy', run: on.copy },
    { label: 'Remove', icon: 'remove', dangerous: true, run: on.remove },
  ];
}

/** The actions of several selected pets, at the row of any of them. */
export function selectedActions(count: number, on: Handlers<'edit' | 'copy' | 'export' | 'remove'>): MenuItem[] {
  const these = formatCounted(count, 'pet', 'pets');
  return [
    { label: `Edit ${these}…`, icon: 'edit', run: on.edit },
    { label: `Copy ${these}`, icon: 'copy', run: on.copy },
    { label: `Export ${these}…`, icon: 'download', run: on.export },
    { label: `Remove ${these}`, icon: 'remove', dangerous: true, run: on.remove },
  ];
}
