import { type ExactJson, parseNumbers } from '../../../main/base/text/exact-json.ts';
import { readTokens } from '../../shared/traffic/json-text.ts';

/** The value of a JSON text, with the integers beyond a double's precision as bigints; undefined if it is not JSON. */
export const readExactly = (text: string): ExactJson | undefined => readTokens(text) && parseNumbers(text, exactNumber);

const exactNumber = (literal: string, value: number): number | bigint =>
  Number.isSafeInteger(value) || !/^-?\d+$/.test(literal) ? value : BigInt(literal);

/** A value as JSON text, bigints as digits. */
export function writeExactly(value: ExactJson): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(writeExactly).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${writeExactly(member)}`)
    .join(',')}}`;
}
