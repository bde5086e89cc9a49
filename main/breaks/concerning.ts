import { isWithin } from '../base/hostname.ts';
import type { RunningBreak } from '../contract/breaks.ts';
import type { Domain } from '../contract/domains.ts';
import { isWildcard } from '../contract/wildcards.ts';

/** The running breaks that select a hostname, in the order of their starts. */
export const breaksOf = (hostname: string, running: readonly RunningBreak[]): NonNullable<Domain['breaks']> =>
  running.filter(({ on }) => selects(on.hostname, hostname)).map(({ id, entry }) => ({ id, entry }));

export function selects(selected: string | undefined, hostname: string): boolean {
  if (selected === undefined || selected === hostname) return true;
  return isWildcard(selected) && isWithin(hostname, selected.slice(2)) && hostname !== selected.slice(2);
}
