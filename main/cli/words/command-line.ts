import { isRecord } from '../../base/text/exact-json.ts';
import { typed } from '../../base/system/own-command.ts';
import { posixWord } from '../../base/text/shell.ts';
import { replaceMentions } from '../../contract/calls.ts';
import { IN_QUOTES } from '../../contract/traffic-filter.ts';
import { type Field, fieldNameAt, listFields } from './fields.ts';
import { type CliProcedure, findProcedure } from './procedures.ts';
import type { Failure } from '../../contract/errors.ts';
import { RemoteFailure } from '../text/io.ts';
import type { OwnCommand } from '../text/text.ts';

/**
 * The command line of a call, as short as it can be typed. `input` has every required property, or all but the project.
 */
export function commandLineOf(procedure: CliProcedure, input: Record<string, unknown>): string {
  const { words, deed } = procedure;
  const by = deed.own?.[deed.by ?? ''] === undefined ? [] : [`--${deed.by}`];
  return [`vivarium ${words}`, ...by, ...wordsOf(input, listFields(procedure))].join(' ');
}

/**
 * Replaces the calls in an engine's message with command lines. One at the end can be copied with the line, without a
 * full stop; those before are in quotes.
 */
export function withCommandLines(text: string, own: OwnCommand = typed): string {
  return replaceMentions(text.replace(/`\.$/, '`'), ({ namespace, procedure: name, input }, rest) => {
    try {
      // A call without its input stands for any: `keys.list` lists the keys of whichever project is meant.
      const line = own(commandLineOf(findProcedure(namespace, name), input));
      return rest === '' ? line : `"${line}"`;
    } catch {
      return null;
    }
  });
}

/** An engine's error with the calls in its message as command lines. */
export function withTypedCommands(error: unknown): unknown {
  if (error instanceof RemoteFailure)
    return new RemoteFailure({ ...error.failure, message: withCommandLines(error.failure.message) });
  if (error instanceof Error) error.message = withCommandLines(error.message);
  return error;
}

function wordsOf(input: Record<string, unknown>, fields: readonly Field[]): string[] {
  const lifted = fields.find(({ isSilent }) => isSilent)?.path[0];
  const given = fields
    .filter(({ path, isSilent }) => !isSilent && (path.length === 1 || path[0] === lifted))
    .flatMap((field) => {
      const value = valueAt(input, field.path);
      return value === undefined ? [] : [{ field, value }];
    });
  return [
    ...given.filter(({ field }) => field.positional).map(({ value }) => posixWord(textOf(value))),
    ...given
      .filter(({ field }) => !field.positional)
      .flatMap(({ field, value }) => {
        if (isRecord(value) && field.words.read !== undefined)
          return Object.entries(value).map(([name, part]) => `--${field.flag} ${posixWord(`${name}=${textOf(part)}`)}`);
        if (isRecord(value)) return partsOf(value, field, fields);
        const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
        return (isList ? value : [value]).map((item) => flagWords(field.flag, item));
      }),
  ];
}

function valueAt(input: Record<string, unknown>, [first, second]: Field['path']): unknown {
  const whole = input[first];
  if (second === undefined) return whole;
  return isRecord(whole) ? whole[second] : undefined;
}

const flagWords = (flag: string, value: unknown): string =>
  typeof value === 'boolean' ? `--${value ? '' : 'no-'}${flag}` : `--${flag} ${posixWord(textOf(value))}`;

/** Spells an object as the flags of its parts, which read better than JSON. */
function partsOf(value: Record<string, unknown>, whole: Field, fields: readonly Field[]): string[] {
  return fields
    .filter(({ path }) => path.length === 2 && path[0] === whole.path[0])
    .flatMap(({ path, flag }) => {
      const part = value[path[1] ?? ''];
      return part === undefined ? [] : [flagWords(flag, part)];
    });
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/**
 * An engine's error in the words of the command line: the input's places as in the usage line, calls as command lines.
 */
export function failureText({ message, issues = [] }: Failure, fields: readonly Field[], own?: OwnCommand): string {
  // The services begin a message with the path.
  const paths = issues.length > 0 ? issues : [{ path: /^[a-z][\w.-]*(?=:? )/i.exec(message)?.[0] ?? '' }];
  const named = paths.reduce((text, { path }) => {
    const name = fieldNameAt(path, fields);
    return name === path ? text : text.replace(placeOf(path), (_whole, before: string) => `${before}${name}`);
  }, message);
  const typable = named.replace(QUOTED_TERM, (_whole, term: string) => `${IN_QUOTES}--filter ${posixWord(term)}`);
  return withCommandLines(typable, own);
}

/** A term of a filter: the shell would remove its quotation marks. */
const QUOTED_TERM = new RegExp(`${IN_QUOTES}("[^"]*")`);

/** Where a message begins a sentence or a part of one with a path, as `summarizeIssues` and the services write it. */
const placeOf = (path: string): RegExp =>
  new RegExp(`(^|; |\\. )${path.replace(/[[\].]/g, '\\$&')}(?::(?= (?:must|is|does|may) ))?(?=:? )`);
