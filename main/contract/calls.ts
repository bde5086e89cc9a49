import { orElse } from './errors.ts';

/** A procedure, and the input to call it with. */
export interface Mention {
  namespace: string;
  procedure: string;
  input: Record<string, unknown>;
}

const MENTION = /`([a-z][A-Za-z]*)\.([a-z][A-Za-z]*)(?: (\{[^`]*\}))?`/g;

/**
 * Writes a call into a message: `` `ca.extend {"suffix":"acme.dev"}` ``. Errors, checks and fixes name the next step in
 * this form, which scripts can send as it is; the command line replaces it by its own command, the page by its words.
 */
export const mention = (procedure: `${string}.${string}`, input: Record<string, unknown> = {}): string =>
  Object.keys(input).length === 0 ? `\`${procedure}\`` : `\`${procedure} ${JSON.stringify(input)}\``;

/** The calls in a message. */
export function mentionsOf(text: string): Mention[] {
  const found: Mention[] = [];
  replaceMentions(text, (call) => {
    found.push(call);
    return null;
  });
  return found;
}

/** Replaces every call in a message; `render` gets what follows the call, and returns null to leave it as it is. */
export function replaceMentions(text: string, render: (mention: Mention, rest: string) => string | null): string {
  return text.replace(MENTION, (whole, namespace: string, procedure: string, json: string | undefined, at: number) => {
    const input = orElse(() => JSON.parse(json ?? '{}') as Record<string, unknown>, null);
    const rest = text.slice(at + whole.length);
    return (input === null ? null : render({ namespace, procedure, input }, rest)) ?? whole;
  });
}

/** The names of procedures that change nothing, or only for as long as their stream is read, in every namespace. */
const READING = new Set(
  (
    'list running readable get getMany previewImport rates usage describe export owners platform propagating query explain trustStatus ' +
    'accounts externalKeys orders refusals limits watch hold summary har requests proxy browser lookup snippets run diff plan status catalogue report whatIf ask rehearse'
  ).split(' '),
);

/** Whether a procedure, such as `pets.list`, changes nothing: asking again is harmless without an idempotency key. */
export const isReading = (procedure: string): boolean => READING.has(procedure.slice(procedure.indexOf('.') + 1));

/** For calls of services that nothing cancels. */
export const CALL = { signal: undefined };

/** How long the engine keeps the outcome of a call under its idempotency key, in real milliseconds. */
export const OUTCOME_MS_MAX = 10 * 60_000;
