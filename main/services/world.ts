import { nextTurn } from '../base/turns.ts';
import { summarizeIssues, toInputIssues } from '../contract/issues.ts';
import { type InputIssue, VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import { type World, world, WORLD_VERSION, type WorldChange } from '../contract/world.ts';
import { exportWorld, type WorldParts } from './world-export.ts';
import { type CreatedKey, planWorld } from './world-plan.ts';

/** Settings, projects and zones as one text, and back: additive, idempotent, and checked before the first change. */
export function createWorldServices(parts: WorldParts): Services['world'] {
  const plan = async (text: string) => {
    const { steps, left, issues } = await planWorld(readWorld(text), parts);
    if (issues.length > 0) throw invalid({ issues, total: issues.length });
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

/** A line such as `vivarium: 1` at the margin, or the start of a document. */
const YAML_LINE = /^(?:[\w-]+:(?:\s|$)|---)/m;

function readWorld(text: string): World {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = YAML_LINE.test(text)
      ? 'This is not JSON; YAML is not supported.'
      : `The text is not JSON: ${reason}.`;
    throw new VivariumError('invalid_request', message, { cause });
  }
  const version = versionOf(content);
  if (typeof version === 'number' && version > WORLD_VERSION) {
    const message = `The file was written for a newer Vivarium (${version}; this one reads ${WORLD_VERSION}).`;
    throw new VivariumError('invalid_request', message);
  }
  const read = world.safeParse(content);
  if (read.success) return read.data;
  throw invalid(toInputIssues(read.error.issues, content, []));
}

const versionOf = (content: unknown): unknown =>
  typeof content === 'object' && content !== null && 'vivarium' in content ? content.vivarium : undefined;

function invalid(wrong: { issues: InputIssue[]; total: number }): VivariumError {
  return new VivariumError('invalid_request', `Nothing was changed: ${summarizeIssues(wrong)}`, {
    issues: wrong.issues,
  });
}
