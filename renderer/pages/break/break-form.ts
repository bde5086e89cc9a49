import { headerOf } from '../../../main/contract/break-words.ts';
import type { BreakEntry, BreakParameter, BreakSelector, RunningBreak } from '../../../main/contract/breaks.ts';
import type { Client } from '../../connection/transport.ts';
import { Form } from '../../shared/controls/form.svelte.ts';

/** The fields of a break as typed; those of an entry's own parameters are `parameters.NAME`. Empty: not narrowed. */
export interface BreakValues extends Record<string, string> {
  hostname: string;
  for: string;
  /** In per cent. */
  rate: string;
  nth: string;
}

/** The labels of the fields that narrow a break. */
export const NARROWING: Record<'path' | 'method' | 'keyId' | 'header' | 'type' | 'rate' | 'nth', string> = {
  path: 'Path, or a prefix and *',
  method: 'Method',
  keyId: 'API key',
  header: 'Header field, as NAME=VALUE',
  type: 'Record type',
  rate: 'Share, in per cent',
  nth: 'Only every n-th',
};

/** As BREAK_FOR_DEFAULT of the contract, whose module is too large for the page. */
const FOR_DEFAULT = 'PT10M';

/** The label of a parameter, with its unit: “Seconds to wait”, “What Retry-After says, in seconds”. */
export function labelOf({ name, description }: Pick<BreakParameter, 'name' | 'description'>): string {
  const unit = name === 'seconds' && !description.includes('second') ? ', in seconds' : '';
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}${unit}`;
}

export const parameterField = (name: string): string => `parameters.${name}`;

/** The fields that narrow a break besides the hostname; a break of stored state happens once. */
export const narrowingOf = ({ at, selectors }: BreakEntry): (keyof typeof NARROWING)[] => [
  ...selectors.filter((name) => name !== 'hostname'),
  ...(at === 'state' ? [] : (['rate', 'nth'] as const)),
];

function selectionOf(name: BreakSelector, value: string): unknown {
  // The engine refuses a field without a value.
  if (name === 'header') return headerOf(value) ?? { name: value, value: '' };
  return name === 'method' || name === 'type' ? value.toUpperCase() : value;
}

/** The form that starts a break, filled in with its defaults. */
export function breakForm(
  client: Client,
  { id, selectors, parameters, rate = 1 }: BreakEntry,
  hostname: string,
): Form<BreakValues, RunningBreak> {
  return new Form<BreakValues, RunningBreak>({
    values: {
      ...Object.fromEntries(selectors.map((name) => [name, ''])),
      ...Object.fromEntries(parameters.map(({ name, default: value }) => [parameterField(name), String(value)])),
      hostname: selectors.includes('hostname') ? hostname : '',
      for: FOR_DEFAULT,
      rate: String(rate * 100),
      nth: '1',
    },
    submit: (values) =>
      client.breaks.start({
        entry: id,
        on: Object.fromEntries(
          selectors.flatMap((name) => {
            const value = values[name]?.trim() ?? '';
            return value === '' ? [] : [[name, selectionOf(name, value)]];
          }),
        ),
        for: values.for,
        rate: Number(values.rate) / 100,
        nth: Number(values.nth),
        parameters: Object.fromEntries(parameters.map(({ name }) => [name, values[parameterField(name)] ?? ''])),
      }),
  });
}
