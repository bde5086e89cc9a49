import { nextTurn } from '../base/turns.ts';
import { type InputIssue, VivariumError } from '../contract/errors.ts';
import { type SchemaIssue, summarizeIssues, toInputIssues } from '../contract/issues.ts';
import { environment as environments } from '../contract/values.ts';
import { type World, world, WORLD_PETS_MAX, WORLD_VERSION, worldDomains, worldPets } from '../contract/world.ts';

/** A line such as `vivarium: 1` at the margin, or the start of a document. */
const YAML_LINE = /^(?:[\w-]+:(?:\s|$)|---)/m;

/** Domains or pets checked before yielding to other work: about a millisecond. */
const ENTRIES_PER_TURN = 250;

/** Reads and checks the text of a world. @throws VivariumError invalid_request with the issues */
export async function readWorld(text: string): Promise<World> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = YAML_LINE.test(text)
      ? 'This is not JSON; YAML is not supported.'
      : `The text is not JSON: ${reason}.`;
    throw new VivariumError('invalid_request', message, { cause });
  }
  const version = asRecord(content)?.['vivarium'];
  if (typeof version === 'number' && version > WORLD_VERSION) {
    const message = `The file was written for a newer Vivarium (${version}; this one reads ${WORLD_VERSION}).`;
    throw new VivariumError('invalid_request', message);
  }
  const { short, long } = split(content);
  const issues: SchemaIssue[] = [];
  const read: { path: readonly string[]; value: object }[] = [];
  for (const { path, given } of long) read.push({ path, value: await readInTurns(given, path, issues) });
  const rest = world.safeParse(short);
  if (!rest.success) issues.push(...rest.error.issues);
  if (issues.length > 0 || !rest.success) throw invalidWorld(toInputIssues(issues, content, []));
  for (const { path, value } of read) {
    const holder = path.slice(0, -1).reduce<unknown>((at, key) => asRecord(at)?.[key], rest.data);
    Object.assign(holder as object, { [path.at(-1) ?? '']: value });
  }
  return rest.data;
}

export function invalidWorld(wrong: { issues: InputIssue[]; total: number }): VivariumError {
  return new VivariumError('invalid_request', `Nothing was changed: ${summarizeIssues(wrong)}`, {
    issues: wrong.issues,
  });
}

/** The domains by hostname, or the pets of a dataset: thousands of either. */
type LongPart = Readonly<Record<string, unknown>> | readonly unknown[];

/** A copy of `content` with empty parts in place of the long ones, and these with their places. */
function split(content: unknown): { short: unknown; long: { path: readonly string[]; given: LongPart }[] } {
  const long: { path: readonly string[]; given: LongPart }[] = [];
  const projects = asRecord(asRecord(content)?.['projects']);
  if (projects === null) return { short: content, long };
  const shortened = Object.entries(projects).map(([slug, entry]) => {
    const project = asRecord(entry);
    if (project === null) return [slug, entry];
    const [domains, pets] = [asRecord(project['domains']), asRecord(project['pets'])];
    if (domains !== null) long.push({ path: ['projects', slug, 'domains'], given: domains });
    const lists = environments.options.flatMap((name) => {
      const list: unknown = pets?.[name];
      if (!Array.isArray(list) || list.length > WORLD_PETS_MAX) return [];
      long.push({ path: ['projects', slug, 'pets', name], given: list });
      return [[name, []]];
    });
    return [
      slug,
      {
        ...project,
        ...(domains !== null && { domains: {} }),
        ...(pets !== null && { pets: { ...pets, ...Object.fromEntries(lists) } }),
      },
    ];
  });
  return { short: { ...asRecord(content), projects: Object.fromEntries(shortened) }, long };
}

/** Reads a long part in steps, with other work in between; adds what is wrong with it to `issues`. */
async function readInTurns(given: LongPart, path: readonly string[], issues: SchemaIssue[]): Promise<object> {
  const isList = Array.isArray(given);
  const entries = Object.entries(given);
  const valid: object[] = [];
  for (let start = 0; start < entries.length; start += ENTRIES_PER_TURN) {
    const some = entries.slice(start, start + ENTRIES_PER_TURN);
    const read = isList
      ? worldPets.safeParse(some.map(([, value]) => value))
      : worldDomains.safeParse(Object.fromEntries(some));
    if (read.success) valid.push(read.data);
    else
      issues.push(...read.error.issues.map((issue) => ({ ...issue, path: [...path, ...placed(issue.path, start)] })));
    await nextTurn();
  }
  return isList ? valid.flat() : (Object.assign({}, ...valid) as object);
}

/** The place in the whole list of one in a step. */
const placed = ([first, ...rest]: readonly PropertyKey[], start: number): PropertyKey[] =>
  first === undefined ? [] : [typeof first === 'number' ? first + start : first, ...rest];

const asRecord = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
