import type { Clock } from '../../base/clock.ts';
import type { Services } from '../../contract/index.ts';
import { readHttpFile, writeRequest, type HttpRequest } from '../../contract/http-file.ts';
import type { Redactor } from '../../traffic/redact.ts';
import type { Effects, ProjectRows, RequestRows } from '../dependencies.ts';
import { existingProject } from '../projects/projects.ts';

export const HISTORY_MAX = 50;

/** Maximum characters of a body in the history; longer ones are left out. */
export const HISTORY_BODY_MAX = 16 * 1024;

export function createRequestServices(options: {
  projects: Pick<ProjectRows, 'get' | 'list'>;
  rows: RequestRows;
  effects: Pick<Effects, 'emit'>;
}): Services['requests'] {
  const { projects, rows, effects } = options;
  return {
    get: ({ projectId }) => rows.get(existingProject(projects, projectId).id),
    save({ projectId, text }) {
      existingProject(projects, projectId);
      rows.put(projectId, { saved: text });
      effects.emit('requests.changed', { projectId });
      return { saved: text };
    },
    forget({ projectId }) {
      existingProject(projects, projectId);
      rows.put(projectId, { history: '' });
      effects.emit('requests.changed', { projectId });
      return {};
    },
  };
}

/** A request as it was sent. `authorized`: with a key or a secret. */
export interface HistoryRequest extends Omit<HttpRequest, 'name'> {
  authorized: boolean;
}

/** Adds sent requests to the history of their project, without secrets. */
export function createRequestHistory(options: {
  clock: Pick<Clock, 'now'>;
  rows: RequestRows;
  effects: Pick<Effects, 'emit'>;
  redactor: () => Redactor;
}): (projectId: string, request: HistoryRequest) => void {
  const { clock, rows, effects, redactor } = options;
  return (projectId, { method, target, headers, body, authorized }) => {
    const shown = redactor();
    const isLong = body !== undefined && body.length > HISTORY_BODY_MAX;
    const request = writeRequest({
      name: new Date(clock.now()).toISOString(),
      method,
      target: shown.text(target),
      headers: [
        ...(authorized ? [{ name: 'Authorization', value: 'Bearer {{key}}' }] : []),
        ...shown.fields(headers.flatMap(({ name, value }) => [name, value])),
      ],
      ...(body !== undefined && !isLong && { body: shown.body(body) }),
    });
    const { history } = rows.get(projectId);
    const older = readHttpFile(history).requests[HISTORY_MAX - 1]?.from ?? history.length;
    rows.put(projectId, { history: request + history.slice(0, older) });
    effects.emit('requests.changed', { projectId });
  };
}
