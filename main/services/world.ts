import { nextTurn } from '../base/turns.ts';
import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import type { WorldChange } from '../contract/world.ts';
import { exportWorld, type WorldParts } from './world-export.ts';
import { type CreatedKey, planWorld } from './world-plan.ts';
import { invalidWorld, readWorld } from './world-text.ts';

/** Settings, projects and zones as one text, and back: additive, idempotent, and checked before the first change. */
export function createWorldServices(parts: WorldParts): Services['world'] {
  const plan = async (text: string) => {
    const { steps, left, issues } = await planWorld(await readWorld(text), parts);
    if (issues.length > 0) throw invalidWorld({ issues, total: issues.length });
    return { steps, left };
  };
  return {
    async export() {
      const { world: content, omitted } = await exportWorld(parts);
      return { text: `${JSON.stringify(content, null, 2)}\n`, omitted };
    },
    async diff({ text }) {
      const { steps, left } = await plan(text);
      return { changes: steps.flatMap(({ change }) => change ?? []), left };
    },
    async apply({ text }) {
      const { steps, left } = await plan(text);
      const changes: WorldChange[] = [];
      const keys: CreatedKey[] = [];
      for (const { change, run } of steps) {
        try {
          keys.push(...((await run()) ?? []));
        } catch (error) {
          throw stopped(error, change, changes.length);
        }
        if (change !== null) changes.push(change);
        await nextTurn();
      }
      return { changes, left, keys };
    },
  };
}

/** Everything was checked; what fails now is a full disk, or another change meanwhile. */
function stopped(error: unknown, change: WorldChange | null, done: number): unknown {
  if (!(error instanceof VivariumError)) return error;
  const place = change === null ? '' : ` at ${change.kind} ${change.what}`;
  const message = `Stopped${place} after ${done} changes, which stay; apply the text again to go on. ${error.message}`;
  return new VivariumError(error.code, message, { cause: error });
}
