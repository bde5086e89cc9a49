import { isWithin } from '../base/text/hostname.ts';
import type { RecordInfo } from '../contract/zones.ts';

/** The members that an API has for a value, by type, in their order in a zone file; the last takes the rest. */
export type Members = Readonly<Record<string, readonly string[]>>;
type Parts = Readonly<Record<string, unknown>>;

/** For members that are not given, in the same order. */
const USUAL: Readonly<Record<string, readonly (string | number)[]>> = {
  MX: [10],
  SRV: [0, 0, 0],
  HTTPS: [1],
  CAA: [0, 'issue'],
};

/** A value as members; none where the API has the value as it is. */
export function membersOf(members: Members, type: string, value: string): Record<string, string | number> {
  const names = members[type] ?? [];
  const words = value.split(' ');
  const last = names.length - 1;
  const read = names.map((name, index): [string, string | number] => {
    if (index === last) return [name, words.slice(last).join(' ').replaceAll('"', '')];
    const word = words[index] ?? '';
    return [name, /^\d+$/.test(word) ? Number(word) : word];
  });
  return Object.fromEntries(read);
}

/** The value, as in a zone file, of a type that has members. */
export function valueFrom(members: Members, type: string, parts: Parts): string {
  const names = members[type] ?? [];
  const words = names.map((name, index) => String(parts[name] ?? USUAL[type]?.[index] ?? ''));
  if (type === 'CAA') words.push(`"${words.pop()}"`);
  return words.join(' ').trim();
}

/** APIs have one word for what is ALIAS or ANAME here. */
export const typeOf = ({ type }: RecordInfo): string => (type === 'ANAME' ? 'ALIAS' : type);

/** A name in a zone, `@` for the zone's own, of one that may be absolute. */
export function nameIn(zone: string, given: string): string {
  const name = given.replace(/\.$/, '').toLowerCase();
  if (name === zone || name === '') return '@';
  return isWithin(name, zone) ? name.slice(0, -zone.length - 1) : name;
}

export const absoluteName = ({ zone, name }: RecordInfo): string => (name === '@' ? zone : `${name}.${zone}`);
