import { isRecord } from '../base/text/exact-json.ts';
import { nextTurn } from '../base/turns.ts';
import { type InputIssue, invalidRequest, orElse, type VivariumError } from '../contract/errors.ts';
import { type SchemaIssue, summarizeIssues, toInputIssues } from '../contract/issues.ts';
import { type Environment, environment as environments } from '../contract/values.ts';
import {
  type ProjectEntry,
  type ResolvedProject,
  type ResolvedWorld,
  type World,
  world,
  WORLD_PETS_MAX,
  WORLD_VERSION,
  worldDomains,
  worldPets,
} from '../contract/world.ts';
import { namesAt } from './schema.ts';
import { readSource, type Source } from './source.ts';

/** The most projects, and the most zones, in one text: both are checked synchronously. */
const ENTRIES_MAX = 5_000;

/** The number of domains or pets checked before yielding to other work: about a millisecond. */
const ENTRIES_PER_TURN = 250;

export interface ReadWorld {
  world: ResolvedWorld;
  locate: Source['locate'];
}

/**
 * Reads and checks the text of a world. `files` are the texts that it names, by name.
 * @throws VivariumError invalid_request with the issues and their positions
 */
export async function readWorld(text: string, files: Readonly<Record<string, string>>): Promise<ReadWorld> {
  const { content, locate } = readSource(text);
  refuseNewer(content);
  refuseTooMany(content);
  refuseUnreadName(content, locate);
  const { short, long } = split(content);
  const issues: SchemaIssue[] = [];
  const read: { path: readonly string[]; value: object }[] = [];
  for (const { path, given } of long) read.push({ path, value: await readInTurns(given, path, issues) });
  const rest = world.safeParse(short);
  if (!rest.success) issues.push(...rest.error.issues);
  if (issues.length > 0 || !rest.success) {
    const found = toInputIssues(issues, content, [], {
      namesAt,
      locate: locate as (path: readonly unknown[]) => never,
    });
    throw invalidWorld(found);
  }
  for (const { path, value } of read) {
    const holder = path.slice(0, -1).reduce<unknown>((at, key) => asRecord(at)?.[key], rest.data);
    Object.assign(holder as object, { [path.at(-1) ?? '']: value });
  }
  return { world: await resolveFiles(rest.data, files, locate), locate };
}

function refuseNewer(content: unknown): void {
  const version = asRecord(content)?.['vivarium'];
  if (typeof version !== 'number' || version <= WORLD_VERSION) return;
  const message = `The file was written for a newer Vivarium (${version}; this one reads ${WORLD_VERSION}).`;
  throw invalidRequest(message);
}

function refuseTooMany(content: unknown): void {
  for (const part of ['projects', 'zones']) {
    const count = Object.keys(asRecord(asRecord(content)?.[part]) ?? {}).length;
    if (count <= ENTRIES_MAX) continue;
    const [has, most] = [count, ENTRIES_MAX].map((number) => number.toLocaleString('en'));
    throw invalidRequest(`The text has ${has} ${part}; the limit is ${most}.`);
  }
}

/** zod silently drops this name from records. */
const UNREAD_NAME = '__proto__';

function refuseUnreadName(content: unknown, locate: Source['locate']): void {
  const projects = asRecord(asRecord(content)?.['projects']) ?? {};
  const records = [['projects'], ['zones'], ...Object.keys(projects).map((slug) => ['projects', slug, 'domains'])];
  for (const path of records) {
    const record = asRecord(path.reduce<unknown>((at, key) => asRecord(at)?.[key], content));
    if (record === null || !Object.hasOwn(record, UNREAD_NAME)) continue;
    const place = [...path, UNREAD_NAME];
    const issue = { path: place.join('.'), message: 'is not a usable name', ...locate(place, true) };
    throw invalidWorld({ issues: [issue], total: 1 });
  }
}

/** The names of the files that a text mentions; empty if it cannot be read. */
export function filesNamedIn(text: string): string[] {
  const content = orElse(() => readSource(text).content, null);
  const named: unknown[] = [];
  for (const project of Object.values(asRecord(asRecord(content)?.['projects']) ?? {})) {
    const pets = asRecord(project)?.['pets'];
    named.push(pets, ...environments.options.map((name) => asRecord(pets)?.[name]));
  }
  for (const zone of Object.values(asRecord(asRecord(content)?.['zones']) ?? {})) named.push(asRecord(zone)?.['file']);
  return [...new Set(named.filter((name) => typeof name === 'string'))];
}

export function invalidWorld(wrong: { issues: InputIssue[]; total: number }): VivariumError {
  const issues = inLineOrder(wrong.issues);
  return invalidRequest(`Nothing was changed: ${summarizeIssues({ ...wrong, issues })}`, { issues });
}

export const inLineOrder = (issues: readonly InputIssue[]): InputIssue[] =>
  issues.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));

/** Replaces file names with the contents of the files. */
async function resolveFiles(
  { projects, zones, ...rest }: World,
  files: Readonly<Record<string, string>>,
  locate: Source['locate'],
): Promise<ResolvedWorld> {
  const issues: InputIssue[] = [];
  const refuse = (path: readonly string[], message: string) =>
    void issues.push({ path: path.join('.'), message, ...locate(path) });
  const textOf = (path: readonly string[], name: string): string => {
    const text = Object.hasOwn(files, name) ? files[name] : undefined;
    if (text === undefined) refuse(path, `names the file ${JSON.stringify(name)}, whose text is missing`);
    return text ?? '';
  };

  type Dataset = Extract<ProjectEntry['pets'], unknown[]> | number | string;
  async function datasetOf(path: readonly string[], given: Dataset) {
    if (typeof given !== 'string') return given;
    const text = textOf(path, given);
    if (issues.length > 0) return 0;
    let content: unknown;
    try {
      content = JSON.parse(text);
    } catch (cause) {
      // The message would quote the file.
      const [place = ''] = /\(line \d+ column \d+\)$/.exec(String(cause)) ?? [];
      refuse(path, `names a file that is not JSON ${place}`.trimEnd());
    }
    const found: SchemaIssue[] = [];
    if (content !== undefined && (!Array.isArray(content) || content.length > WORLD_PETS_MAX)) {
      refuse(path, `names a file that is not a list of at most ${WORLD_PETS_MAX.toLocaleString('en')} pets`);
    } else if (content !== undefined) {
      const pets = (await readInTurns(content as unknown[], [given], found)) as Extract<Dataset, unknown[]>;
      const unnamed = found.map((issue) =>
        issue.code === 'unrecognized_keys' ? { path: issue.path, message: 'has an unknown property' } : issue,
      );
      for (const issue of toInputIssues(unnamed, { [given]: content }).issues) {
        refuse(path, `names a file with a fault: ${issue.path} ${issue.message}`);
      }
      return pets;
    }
    return 0;
  }

  const resolved: ResolvedWorld = rest;
  if (projects !== undefined) {
    resolved.projects = {};
    for (const [slug, { pets, ...entry }] of Object.entries(projects)) {
      if (entry.run !== undefined && entry.target !== undefined) {
        refuse(['projects', slug, 'run'], 'cannot be combined with target; remove one of them');
      }
      if (entry.as !== undefined && entry.run === undefined) {
        refuse(['projects', slug, 'as'], 'needs run, the command that reaches the provider’s API');
      }
      const both = typeof pets === 'object' && !Array.isArray(pets) ? pets : { production: pets };
      const datasets: NonNullable<ResolvedProject['pets']> = {};
      for (const name of environments.options) {
        const path = ['projects', slug, 'pets', ...(both === pets ? [name] : [])];
        const given: Dataset | undefined = both[name];
        if (given !== undefined) datasets[name] = await datasetOf(path, given);
      }
      resolved.projects[slug] = { ...entry, ...(pets !== undefined && { pets: datasets }) };
    }
  }
  if (zones !== undefined) {
    const entries = Object.entries(zones).map(([name, given]) => {
      const { text, file, ...how } = typeof given === 'object' && given !== null ? given : { text: given ?? '' };
      if (text !== undefined && file !== undefined)
        refuse(['zones', name], 'has both text and file; remove one of them');
      const own = text ?? (file === undefined ? '' : textOf(['zones', name, 'file'], file));
      return [name, { ...how, ...(file !== undefined && { file }), text: own }] as const;
    });
    resolved.zones = Object.fromEntries(entries);
  }
  if (issues.length > 0) throw invalidWorld({ issues, total: issues.length });
  return resolved;
}

/** A part that may be long: the domains by hostname, or the pets of a dataset. */
type LongPart = Readonly<Record<string, unknown>> | readonly unknown[];

/** A copy of `content` in which the long parts are empty, and the long parts with their paths. */
function split(content: unknown): { short: unknown; long: { path: readonly string[]; given: LongPart }[] } {
  const long: { path: readonly string[]; given: LongPart }[] = [];
  const projects = asRecord(asRecord(content)?.['projects']);
  if (projects === null) return { short: content, long };
  const shortened = Object.entries(projects).map(([slug, entry]) => {
    const project = asRecord(entry);
    if (project === null) return [slug, entry];
    const domains = asRecord(project['domains']);
    if (domains !== null) long.push({ path: ['projects', slug, 'domains'], given: domains });
    const shorten = (value: unknown, path: readonly string[]): unknown => {
      if (!Array.isArray(value) || value.length > WORLD_PETS_MAX) return value;
      long.push({ path, given: value });
      return [];
    };
    const place = ['projects', slug, 'pets'];
    const pets = asRecord(project['pets']);
    const lists = environments.options
      .filter((name: Environment) => pets !== null && name in pets)
      .map((name) => [name, shorten(pets?.[name], [...place, name])]);
    return [
      slug,
      {
        ...project,
        ...(domains !== null && { domains: {} }),
        ...(project['pets'] !== undefined && {
          pets: pets === null ? shorten(project['pets'], place) : { ...pets, ...Object.fromEntries(lists) },
        }),
      },
    ];
  });
  return { short: { ...asRecord(content), projects: Object.fromEntries(shortened) }, long };
}

/** Checks a long part in steps, yielding in between; adds its faults to `issues`. */
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

/** Converts the path of an item in a step to its path in the whole list. */
const placed = ([first, ...rest]: readonly PropertyKey[], start: number): PropertyKey[] =>
  first === undefined ? [] : [typeof first === 'number' ? first + start : first, ...rest];

const asRecord = (value: unknown): Record<string, unknown> | null => (isRecord(value) ? value : null);
