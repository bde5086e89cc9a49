import { createId } from '../../base/secret.ts';
import { createTurns, nextTurn } from '../../base/turns.ts';
import { CALL } from '../../contract/calls.ts';
import { conflict, VivariumError } from '../../contract/errors.ts';
import type { ResultOf, Services } from '../../contract/index.ts';
import { formatPath } from '../../contract/issues.ts';
import type { ResolvedWorld, WorldChange, WorldKind, WorldOwner } from '../../contract/world.ts';
import { readCurrentWorld, type WorldParts, normalForm } from './world-current.ts';
import { exportWorld } from './world-export.ts';
import { planWorld } from './world-plan.ts';
import type { Call, NotedDeploy, Step, WorldPlan } from './world-steps.ts';

/** Domains verified at once: each may get a certificate, so thousands would take minutes. */
const VERIFIED_MAX = 500;

/** Created keys; their secrets are shown once. */
type CreatedKeys = ResultOf<'world.apply'>['keys'];

/**
 * Exports settings, projects and zones as one text, and applies it: an idempotent plan of calls, checked first.
 * With a file's path, entries that the file no longer contains are removed; without one, nothing is removed.
 */
export function createWorldServices(parts: WorldParts): Services['world'] {
  // Two concurrent plans would both create missing entries.
  const turns = createTurns(1);

  async function plan(
    options: Parameters<Services['world']['diff']>[0],
  ): Promise<WorldPlan & { world: ResolvedWorld }> {
    const { text, files = {}, file, adopt = false } = options;
    // Loaded on demand, because the YAML library is large.
    const { invalidWorld, readWorld } = await import('../../world/read.ts');
    const { world, locate } = await readWorld(text, files);
    const rows = parts.owned.list();
    const current = await readCurrentWorld(world, rows, parts);
    const planned = await planWorld(world, current, { file: file ?? null, rows, adopt });
    const issues = planned.issues.map(({ path, message }) => ({ path: formatPath(path), message, ...locate(path) }));
    if (issues.length > 0) throw invalidWorld({ issues, total: issues.length });
    return { ...planned, world };
  }

  function call({ procedure, input }: Call | NotedDeploy): unknown {
    const resolved = parts.resolve(input);
    if (procedure === 'deployed') {
      const { projectId } = resolved as NotedDeploy['input'];
      const made = { id: createId('dep'), projectId, createdAtMs: parts.now() };
      return parts.deploys.insert({ ...made, status: 'succeeded', reason: null });
    }
    const [namespace, name] = procedure.split('.') as [keyof Services, string];
    const service = parts.services()[namespace] as Record<string, (input: unknown, context: object) => unknown>;
    return service[name]?.(resolved, CALL);
  }

  /** @throws VivariumError conflict when a run holds what a step would change */
  async function checkRuns(steps: readonly Step[]): Promise<void> {
    for (const { procedure, input } of steps.flatMap(({ calls }) => calls)) {
      const slug = (input as { projectId?: string } | undefined)?.projectId;
      // A project that the plan creates has no run.
      if (slug !== undefined && parts.rows.projects.getBySlug(slug) === null) continue;
      await parts.check(procedure, parts.resolve(input), CALL);
    }
  }

  async function apply({ claims, calls, releases }: Step, file: string | null): Promise<CreatedKeys> {
    const keys: CreatedKeys = [];
    if (file !== null) for (const claim of claims) parts.owned.put({ ...claim, file, sinceMs: parts.realNow() });
    for (const one of calls) {
      const result = await call(one);
      if (one.procedure !== 'keys.create') continue;
      const { name, secret } = result as { name: string; secret: string };
      keys.push({ project: one.input.projectId, name, secret });
    }
    for (const entry of releases) parts.owned.remove(entry);
    return keys;
  }

  /** The domains of the file that are still not verified: they are otherwise checked a day later, or on demand. */
  async function verifyAll({ projects = {} }: ResolvedWorld): Promise<string[]> {
    const stated = new Set(Object.values(projects).flatMap(({ domains = {} }) => Object.keys(domains).map(normalForm)));
    const pending = parts.domains().filter(({ hostname, state }) => state !== 'verified' && stated.has(hostname));
    const unverified: string[] = [];
    for (const { hostname } of pending.slice(0, VERIFIED_MAX)) {
      const { state } = await parts.services().domains.verify({ hostname }, CALL);
      if (state !== 'verified') unverified.push(hostname);
      await nextTurn();
    }
    return [...unverified, ...pending.slice(VERIFIED_MAX).map(({ hostname }) => hostname)];
  }

  return {
    async export(input) {
      const { format = 'yaml', into } = input ?? {};
      const { world, omitted } = await exportWorld(parts);
      const { writeWorld } = await import('../../world/write.ts');
      await nextTurn();
      return { text: writeWorld(world, { format, into }), omitted };
    },
    async diff(input) {
      const { steps, unchanged, remaining } = await plan(input);
      return { changes: steps.flatMap(({ changes }) => changes), left: unchanged, kept: remaining };
    },
    apply: (input) =>
      turns.enqueue(async () => {
        const { steps, unchanged, remaining, world } = await plan(input);
        const removed = steps.flatMap(({ changes }) => changes.filter(isRemoval));
        if (removed.length > 0 && input.remove !== true) throw wouldRemove(removed);
        await checkRuns(steps);
        const changes: WorldChange[] = [];
        const keys: CreatedKeys = [];
        for (const step of steps) {
          try {
            keys.push(...(await apply(step, input.file ?? null)));
          } catch (error) {
            throw stopped(error, step, changes.length);
          }
          changes.push(...step.changes);
          await nextTurn();
        }
        if (steps.length > 0) parts.ownersChanged();
        return { changes, left: unchanged, kept: remaining, keys, unverified: await verifyAll(world) };
      }),
    owners() {
      const byFile = Map.groupBy(parts.owned.list(), ({ file }) => file);
      return [...byFile].map(([file, rows]): WorldOwner => ({
        file,
        since: new Date(Math.min(...rows.map(({ sinceMs }) => sinceMs))).toISOString(),
        entries: rows.map(({ kind, what }) => ({ kind: kind as WorldKind, what })),
      }));
    },
  };
}

/** Whether a removal also deletes contents, or a key that a client uses. */
const isRemoval = ({ kind, after }: WorldChange): boolean => after === undefined && REMOVABLE.has(kind);
const REMOVABLE: ReadonlySet<WorldKind> = new Set(['project', 'zone', 'domain', 'key']);

const LISTED_MAX = 10;

function wouldRemove(removed: readonly WorldChange[]): VivariumError {
  const listed = removed.slice(0, LISTED_MAX).map(({ kind, what }) => `${kind} ${what}`);
  const rest = removed.length > LISTED_MAX ? ` and ${removed.length - LISTED_MAX} more` : '';
  const message = `Nothing was changed: the file no longer contains ${listed.join(', ')}${rest}, which would be removed; allow the removal (--remove), or restore the entries.`;
  return conflict(message, {
    issues: removed.map(({ kind, what }) => ({ path: `${kind} ${what}`, message: 'would be removed' })),
  });
}

/** Everything was checked before, so a failure comes from a full disk or a concurrent change. */
function stopped(error: unknown, { changes: [change] }: Step, done: number): unknown {
  if (!(error instanceof VivariumError)) return error;
  const place = change === undefined ? '' : ` at ${change.kind} ${change.what}`;
  const message = `Stopped${place} after ${done} changes, which are kept; apply the text again to continue. ${error.message}`;
  return new VivariumError(error.code, message, { cause: error });
}
