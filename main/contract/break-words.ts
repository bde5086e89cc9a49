import type { BreakSelection, RunningBreak } from './breaks.ts';

type Header = NonNullable<BreakSelection['header']>;

/** A header field to select by, from `NAME=VALUE`; null for anything else. */
export function headerOf(text: string): Header | null {
  const at = text.indexOf('=');
  return at < 1 ? null : { name: text.slice(0, at).trim(), value: text.slice(at + 1).trim() };
}

/** What a break selects, in parts: `POST`, `/v1/pets`, `shop.acme.test`, `x-run=7`. */
export function placesOf({ on, project = on.projectId }: Pick<RunningBreak, 'on' | 'project'>): string[] {
  const { type, method, path, hostname, keyId, header } = on;
  const field = header === undefined ? undefined : `${header.name}=${header.value}`;
  const all = project === undefined ? undefined : `all of ${project}’s hostnames`;
  return [type, method, path, hostname, all, keyId, field].filter((part) => part !== undefined);
}

const firstText = (count: number): string => (count === 1 ? 'the first' : `the first ${count.toLocaleString('en')}`);

/** How much a rule breaks of what it selects: `all`, or `the first 2 of 10 % of 1 in 3 of all but the first 5`. */
export function shareText({ first, after, nth, rate }: Pick<RunningBreak, 'first' | 'after' | 'nth' | 'rate'>): string {
  const parts = [
    first !== undefined && firstText(first),
    rate < 1 && `${Number((rate * 100).toFixed(4))} %`,
    nth > 1 && `1 in ${nth.toLocaleString('en')}`,
    after > 0 && `all but ${firstText(after)}`,
  ];
  return parts.filter((part) => part !== false).join(' of ') || 'all';
}
