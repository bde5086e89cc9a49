import type { Services } from '../contract/index.ts';
import type { ReachProxy } from '../contract/reach.ts';

export function createReachServices(options: { proxy: () => ReachProxy }): Services['reach'] {
  return { proxy: options.proxy };
}
