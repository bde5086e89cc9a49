import { VivariumError } from '../../contract/errors.ts';
import { mention } from '../../contract/calls.ts';
import type { Services } from '../../contract/index.ts';
import type { CallerUsage } from '../../contract/callers.ts';
import { limitsWithoutKey } from '../../contract/plans.ts';
import type { PlanLimits } from '../../contract/projects.ts';
import { DAY_MS, MINUTE_MS } from '../../contract/duration.ts';
import { limitsOf } from '../../model/rate-decision.ts';
import type { CallerReading, Limiter } from '../../ratelimit/limiter.ts';
import type { Effects, KeyRows, ProjectRows } from '../dependencies.ts';
import { existingKey } from './keys.ts';
import { existingProject } from './projects.ts';

/** Maximum callers in one answer, the latest first. */
const USAGE_ROWS_MAX = 1_000;

export function createLimitServices(options: {
  projects: ProjectRows;
  keys: KeyRows;
  limiter: Limiter;
  effects: Effects;
}): Services['limits'] {
  const { projects, keys, limiter, effects } = options;

  function usage(projectId: string): CallerUsage[] {
    const project = existingProject(projects, projectId);
    const limits = limitsOf(project);
    const withoutKey = limitsWithoutKey({ limits, target: project.target });
    return limiter
      .usage(projectId)
      .slice(0, USAGE_ROWS_MAX)
      .map((reading) => {
        if (!reading.caller.startsWith('key:')) return presentCaller(reading, withoutKey);
        const keyId = reading.caller.slice('key:'.length);
        const row = keys.get(keyId);
        const key = row !== null && { key: { name: row.name, prefix: row.prefix } };
        return { ...presentCaller(reading, limits), keyId, ...key };
      });
  }

  return {
    usage: ({ projectId }) => usage(projectId),
    reset({ projectId, caller }) {
      const callers = usage(projectId);
      if (caller !== undefined && !callers.some((known) => known.caller === caller)) {
        throw new VivariumError(
          'not_found',
          `The project has no caller "${caller}". List them: ${mention('limits.usage', { projectId })}.`,
        );
      }
      limiter.reset(projectId, caller);
      effects.emit('limits.changed', { projectId });
      return usage(projectId);
    },
    unban({ keyId }) {
      const { projectId } = existingKey(keys, keyId);
      const lifted = limiter.unban(projectId, keyId);
      if (lifted) effects.emit('limits.changed', { projectId });
      return { keyId, lifted };
    },
  };
}

function presentCaller({ caller, state }: CallerReading, limits: PlanLimits): CallerUsage {
  const presentWindow = (window: { startedAtMs: number | null; used: number }, limit: number, lengthMs: number) => ({
    limit,
    used: window.used,
    ...(window.startedAtMs !== null && { resetsAt: new Date(window.startedAtMs + lengthMs).toISOString() }),
  });
  return {
    caller,
    minute: presentWindow(state.minute, limits.perMinute, MINUTE_MS),
    day: presentWindow(state.day, limits.perDay, DAY_MS),
    strikes: state.strikes,
    ...(state.bannedUntilMs !== null && { bannedUntil: new Date(state.bannedUntilMs).toISOString() }),
  };
}
