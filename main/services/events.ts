import type { EventBus } from '../base/events.ts';
import type { Services } from '../contract/index.ts';

export function createEventServices(bus: EventBus): Services['events'] {
  return { watch: (_input, { signal }) => bus.watch(signal) };
}
