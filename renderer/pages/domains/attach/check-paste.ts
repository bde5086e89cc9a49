import type { Check, Instruction } from '../../../../main/contract/domains.ts';

export interface Paste {
  text: string;
  what: string;
}

/** The record named in a fix: the domain's own record, or a CAA record in zone-file notation. */
export function pasteOf({ fix }: Pick<Check, 'fix'>, instructions: readonly Instruction[]): Paste | undefined {
  if (fix === undefined) return undefined;
  const own = instructions
    .map(({ name, type, value }) => `${name} ${type} ${value}`)
    .find((line) => fix.includes(line));
  const text = own ?? addedRecord(fix);
  return text === undefined ? undefined : { text, what: 'record' };
}

/** The record in "…, add this record: example.test. CAA 0 issue "ca.example"". */
const addedRecord = (instruction: string): string | undefined =>
  /add this record: (\S+ CAA \d+ \S+ "(?:[^"\\]|\\.)*")/.exec(instruction)?.[1];
