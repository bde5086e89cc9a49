import { FAMILY_TITLES, headerOf } from '../../../main/contract/break-words.ts';
import type {
  BreakEntry,
  BreakFamily,
  BreakParameter,
  BreakSelector,
  RunningBreak,
} from '../../../main/contract/breaks.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { Client } from '../../connection/transport.ts';
import { Form } from '../../shared/controls/form.svelte.ts';

/** The fields of a break as typed; those of an entry's own parameters are `parameters.NAME`. Empty: not narrowed. */
export interface BreakValues extends Record<string, string> {
  /** A hostname, all of a project (`wholeOf`), or all. */
  hostname: string;
  for: string;
  often: Often;
  first: string;
  after: string;
  nth: string;
  /** In per cent. */
  rate: string;
}

/** The selectors that one field chooses between. */
type Place = 'hostname' | 'projectId';

/** The labels of the fields that narrow a break. */
export const NARROWING: Record<Exclude<BreakSelector, Place>, string> = {
  path: 'Path, or a prefix and *',
  method: 'Method',
  keyId: 'API key',
  header: 'Header field, as NAME=VALUE',
  type: 'Record type',
};

/** A number that limits how often a break strikes. `none` limits nothing; `begun` is where its field begins. */
const COUNTS = {
  first: { choice: 'First N', label: 'Only the first', none: '', begun: '1' },
  after: { choice: 'After N', label: 'Not the first', none: '0', begun: '1' },
  nth: { choice: 'Every n-th', label: 'Only every n-th', none: '1', begun: '2' },
  rate: { choice: 'A share', label: 'Share, in per cent', none: '100', begun: '10' },
} as const;
type Count = keyof typeof COUNTS;

const COUNT_NAMES = Object.keys(COUNTS) as Count[];

/** How often a break strikes: always, by one number, or by several. */
export type Often = 'always' | Count | 'several';

export const OFTEN: readonly { value: Often; label: string }[] = [
  { value: 'always', label: 'Always' },
  ...COUNT_NAMES.map((value) => ({ value, label: COUNTS[value].choice })),
  { value: 'several', label: 'Several of these' },
];

const isCounted = (often: Often, name: Count): boolean => often === name || often === 'several';

/** The numbers to ask for. */
export const countsOf = (often: Often): { name: Count; label: string }[] =>
  COUNT_NAMES.filter((name) => isCounted(often, name)).map((name) => ({ name, label: COUNTS[name].label }));

/** The numbers as they begin where one is chosen. */
export const begunAt = (often: Often): Partial<BreakValues> =>
  often === 'always' || often === 'several' ? {} : { [often]: COUNTS[often].begun };

/** As BREAK_FOR_DEFAULT of the contract, whose module is too large for the page. */
const FOR_DEFAULT = 'PT10M';

/** The label of a parameter, with its unit: “Seconds to wait”, “What Retry-After says, in seconds”. */
export function labelOf({ name, description }: Pick<BreakParameter, 'name' | 'description'>): string {
  const unit = name === 'seconds' && !description.includes('second') ? ', in seconds' : '';
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}${unit}`.replaceAll(/"([^"]*)"/g, '“$1”');
}

export const parameterField = (name: string): string => `parameters.${name}`;

/** The fields that narrow a break besides the hostname. */
export const narrowingOf = ({ selectors }: BreakEntry): (keyof typeof NARROWING)[] =>
  selectors.filter((name) => name in NARROWING) as (keyof typeof NARROWING)[];

const WHOLE = 'project ';

/** The value of the field for the hostname that means all of a project. */
export const wholeOf = (projectId: string): string => WHOLE + projectId;

/** What can be broken: all hostnames of the current project, single ones, or those of all projects. */
export function placesFor(
  { selectors, at }: BreakEntry,
  hostnames: readonly string[],
  project: Pick<Project, 'id' | 'name'> | undefined,
): { value: string; label: string }[] {
  return [
    ...(project !== undefined && selectors.includes('projectId')
      ? [{ value: wholeOf(project.id), label: `All of ${project.name}’s hostnames` }]
      : []),
    ...hostnames.map((value) => ({ value, label: value })),
    // An edit is made at one hostname.
    ...(at === 'state' ? [] : [{ value: '', label: 'All hostnames of all projects' }]),
  ];
}

/** The typed numbers that are asked for; the others limit nothing. */
function choiceOf(values: BreakValues) {
  const typed = (name: Count): string => (isCounted(values.often, name) ? values[name].trim() : COUNTS[name].none);
  const first = typed('first');
  const isLimited = values.often === 'first' || first !== '';
  return {
    ...(isLimited && { first: Number(first) }),
    ...{ after: Number(typed('after')), nth: Number(typed('nth')), rate: Number(typed('rate')) / 100 },
  };
}

function selectionOf(name: BreakSelector, value: string): [BreakSelector, unknown] {
  if (name === 'hostname' && value.startsWith(WHOLE)) return ['projectId', value.slice(WHOLE.length)];
  // The engine refuses a field without a value.
  if (name === 'header') return [name, headerOf(value) ?? { name: value, value: '' }];
  return [name, name === 'method' || name === 'type' ? value.toUpperCase() : value];
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
      ...Object.fromEntries(COUNT_NAMES.map((name) => [name, COUNTS[name].none])),
      often: rate < 1 ? 'rate' : 'always',
      rate: String(rate * 100),
    } as BreakValues,
    submit: (values) =>
      client.breaks.start({
        entry: id,
        on: Object.fromEntries(
          selectors.flatMap((name) => {
            const value = values[name]?.trim() ?? '';
            return value === '' ? [] : [selectionOf(name, value)];
          }),
        ),
        for: values.for,
        ...choiceOf(values),
        parameters: Object.fromEntries(parameters.map(({ name }) => [name, values[parameterField(name)] ?? ''])),
      }),
  });
}

/** The scope of entries that can't be narrowed to a hostname. */
export const AFFECTED: Partial<Record<BreakFamily, string>> = {
  ca: 'Every certificate requested while the break runs.',
  machine: 'This machine as seen by Vivarium and its doctor.',
};

/** The heading above an entry; the catalogue begins with the most used. */
export const groupOf = ({ mostUsed, family }: BreakEntry): string =>
  mostUsed === undefined ? FAMILY_TITLES[family] : 'Most used';

/** The hostnames that can be broken: those of the chosen project first, custom domains that are served at the top. */
export function hostnamesOf(
  domains: readonly Pick<Domain, 'hostname' | 'projectId' | 'serving'>[],
  projects: readonly Pick<Project, 'id' | 'slug'>[],
  platformZone: string,
  current: string | undefined,
): string[] {
  const servedFirst = domains.toSorted((a, b) => Number(b.serving.http) - Number(a.serving.http));
  return projects
    .toSorted((a, b) => Number(b.id === current) - Number(a.id === current))
    .flatMap(({ id, slug }) => [
      ...servedFirst.filter(({ projectId }) => projectId === id).map(({ hostname }) => hostname),
      `${slug}.${platformZone}`,
      `${slug}-staging.${platformZone}`,
    ]);
}
