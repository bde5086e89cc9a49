import type { Clock } from '../../base/clock.ts';
import { createApiKeySecret, createId, hashSecret } from '../../base/secret.ts';
import { VivariumError } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import type { ApiKey } from '../../contract/callers.ts';
import type { Effects, KeyRow, KeyRows, ProjectRows } from '../dependencies.ts';
import { existingProject } from './projects.ts';
import { noKey } from '../world/references.ts';

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
        throw new VivariumError(
          'conflict',
          `The project has used up its ${KEYS_PER_PROJECT_MAX} keys; create another project.`,
        );
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
