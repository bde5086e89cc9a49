import type { Clock } from '../../base/clock.ts';
import { createApiKeySecret, createId, hashSecret } from '../../base/secret.ts';
import { conflict, notFound } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import type { ApiKey, CallerUsage } from '../../contract/callers.ts';
import type { Effects, KeyRow, KeyRows, ProjectRows } from '../dependencies.ts';
import { existingProject } from './projects.ts';
import { noKey } from './project-rules.ts';
import { mention } from '../../contract/calls.ts';
import { limitsWithoutKey } from '../../contract/plans.ts';
import type { PlanLimits } from '../../contract/projects.ts';
import { DAY_MS, MINUTE_MS } from '../../contract/duration.ts';
import { limitsOf } from '../../model/rate-decision.ts';
import type { CallerReading, Limiter } from '../../ratelimit/limiter.ts';

/** Keys of one project, revoked ones included. */
const KEYS_PER_PROJECT_MAX = 1_000;

/** Visible part of a secret: `viv_` and four characters. */
const PREFIX_LENGTH = 8;

export function createKeyServices(options: {
  clock: Pick<Clock, 'now'>;
  projects: ProjectRows;
  keys: KeyRows;
  effects: Effects;
  /** Time of a key's last request, in epoch milliseconds; null if there was none. */
  lastUse: (key: KeyRow) => number | null;
  /** The demo's key, the only readable one, until it is revoked. */
  readable: () => { projectId: string; keyId: string; secret: string } | null;
  /** Called after a key is revoked. */
  forget: (key: KeyRow) => void;
}): Services['keys'] {
  const { clock, projects, keys, effects, lastUse } = options;

  const presentKey = (row: KeyRow): ApiKey => {
    const lastUsedAtMs = lastUse(row);
    return {
      id: row.id,
      name: row.name,
      prefix: row.prefix,
      createdAt: new Date(row.createdAtMs).toISOString(),
      ...(lastUsedAtMs !== null && { lastUsedAt: new Date(lastUsedAtMs).toISOString() }),
      ...(row.revokedAtMs !== null && { revokedAt: new Date(row.revokedAtMs).toISOString() }),
    };
  };

  return {
    create({ projectId, name }) {
      existingProject(projects, projectId);
      const existing = keys.list(projectId);
      if (existing.length >= KEYS_PER_PROJECT_MAX) {
        throw conflict(`The project has used up its ${KEYS_PER_PROJECT_MAX} keys; create another project.`);
      }
      const secret = createApiKeySecret();
      const row: KeyRow = {
        id: createId('key'),
        projectId,
        name: name ?? `Key ${existing.length + 1}`,
        prefix: secret.slice(0, PREFIX_LENGTH),
        hash: hashSecret(secret),
        createdAtMs: clock.now(),
        revokedAtMs: null,
      };
      keys.insert(row);
      effects.publish();
      effects.emit('keys.changed', { projectId });
      return { ...presentKey(row), secret };
    },
    list({ projectId }) {
      existingProject(projects, projectId);
      return keys.list(projectId).map(presentKey);
    },
    readable({ projectId }) {
      const known = options.readable();
      return known?.projectId === projectId ? { keyId: known.keyId, secret: known.secret } : {};
    },
    revoke({ keyId }) {
      const row = existingKey(keys, keyId);
      if (row.revokedAtMs === null) {
        row.revokedAtMs = clock.now();
        keys.revoke(keyId, row.revokedAtMs);
        effects.publish();
        options.forget(row);
        effects.emit('keys.changed', { projectId: row.projectId });
      }
      return presentKey(row);
    },
  };
}

/** @throws VivariumError not_found */
export function existingKey(keys: Pick<KeyRows, 'get'>, keyId: string): KeyRow {
  const row = keys.get(keyId);
  if (row === null) throw noKey(keyId);
  return row;
}

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
        throw notFound(`The project has no caller "${caller}". List them: ${mention('limits.usage', { projectId })}.`);
      }
      limiter.reset(projectId, caller);
      effects.emit('limits.changed', { projectId });
      return usage(projectId);
    },
    unban({ keyId }) {
      const { projectId } = existingKey(keys, keyId);
      const lifted = limiter.unban(projectId, keyId);
      effects.emit('limits.changed', { projectId });
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
