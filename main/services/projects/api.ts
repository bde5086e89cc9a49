import { orElse } from '../../contract/errors.ts';
import { SENDER_FIELDS } from '../../base/text/shell.ts';
import { OWN_AGENT } from '../../base/config.ts';
import type { HeaderField } from '../../contract/api.ts';
import type { Services } from '../../contract/index.ts';
import type { Project } from '../../contract/projects.ts';
import type { Environment } from '../../contract/values.ts';
import type { Loopback, LoopbackResponse } from '../../proxy/front/loopback.ts';
import type { InternalTokens } from '../../proxy/identify.ts';
import type { KeyRow, KeyRows, ProjectRow, ProjectRows, Effects, RequestRows } from '../dependencies.ts';
import { existingKey } from './keys.ts';
import { inputError } from './project-rules.ts';
import { existingProject } from './projects.ts';
import type { Clock } from '../../base/clock.ts';
import { readHttpFile, writeRequest, type HttpRequest } from '../../contract/http-file.ts';
import type { Recorder } from '../../traffic/recorder.ts';
import type { Redactor } from '../../traffic/redact.ts';

const TOO_MANY_REQUESTS = 429;

/** How long a refusal may take to be recorded, in real time. */
const RECORDED_MS_MAX = 1_000;

/** Placeholder for the secret in displayed requests. */
const SECRET_SHOWN = '$VIVARIUM_KEY';

export function createApiServices(options: {
  projects: Pick<ProjectRows, 'get' | 'list'>;
  keys: Pick<KeyRows, 'get'>;
  present: (row: ProjectRow) => Project;
  /** The OpenAPI document of the built-in API, as served at its first base address. */
  document: (servers: readonly { url: string; description: Environment }[]) => string;
  /** The bytes that a project's upstream serves as its OpenAPI document, requested uncounted; null without one. */
  upstreamDocument: (project: ProjectRow, authority: string, signal: AbortSignal | undefined) => Promise<Buffer | null>;
  loopback: Loopback;
  internalTokens: Pick<InternalTokens, 'issue'>;
  recorder: Pick<Recorder, 'next' | 'from'>;
  remember: (projectId: string, request: HistoryRequest) => void;
}): Services['api'] {
  const { projects, keys, loopback, internalTokens, recorder } = options;

  const baseUrlOf = (projectId: string, environment: Environment): string =>
    options.present(existingProject(projects, projectId)).baseUrl[environment];

  function usableKey(projectId: string, keyId: string): KeyRow {
    const key = existingKey(keys, keyId);
    if (key.projectId !== projectId) throw inputError('keyId', `is the key "${key.name}" of another project.`);
    if (key.revokedAtMs !== null) throw inputError('keyId', `is the key "${key.name}", which is revoked.`);
    return key;
  }

  return {
    async describe({ projectId, environment }, { signal }) {
      const project = existingProject(projects, projectId);
      const addresses = options.present(project).baseUrl;
      const baseUrl = addresses[environment];
      if (project.target.kind === 'api') {
        const order = [environment, environment === 'production' ? 'staging' : 'production'] as const;
        const servers = order.map((description) => ({ url: addresses[description], description }));
        return { baseUrl, document: options.document(servers) };
      }
      const bytes = await options.upstreamDocument(project, partsOf(baseUrl).host, signal);
      const text = bytes === null ? null : readText(bytes, false);
      return { baseUrl, document: text !== null && isOpenApi(text) ? text : null };
    },

    async send({ projectId, environment, method, path, headers = {}, body, keyId, secret }, { signal }) {
      const { host, prefix } = partsOf(baseUrlOf(projectId, environment));
      if (keyId !== undefined && secret !== undefined) throw inputError('secret', 'can’t be combined with "keyId".');
      const key = keyId === undefined ? null : usableKey(projectId, keyId);
      const fields = sentHeaders({ method, host, chosen: headers, body });
      const internalToken =
        key === null ? null : internalTokens.issue({ keyId: key.id, projectId, prefix: key.prefix });
      const bearer = internalToken?.token ?? secret;
      options.remember(projectId, {
        method,
        target: `{{baseUrl}}${path}`,
        headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
        authorized: bearer !== undefined,
        ...(body !== undefined && { body }),
      });
      const since = recorder.next();
      try {
        const { fromPort, ...response } = await loopback.send(
          {
            scheme: 'http',
            method,
            target: prefix + path,
            headers: pairsOf(withBearer(fields, bearer)),
            body: body === undefined ? null : Buffer.from(body),
          },
          signal,
        );
        const shown = withBearer(fields, bearer === undefined ? undefined : SECRET_SHOWN);
        // An upstream may answer 429, too.
        const entry =
          response.status === TOO_MANY_REQUESTS ? await recorder.from(fromPort, since, RECORDED_MS_MAX) : null;
        const refusal = entry?.decision?.refusal?.code;
        return {
          request: { method, url: `http://${host}${prefix}${path}`, headers: shown, body: body ?? null },
          response: present(response),
          ...(refusal !== undefined && { refusal }),
        };
      } finally {
        internalToken?.revoke();
      }
    },
  };
}

/** Splits a base address into `Host` and path prefix; the prefix is empty for upstreams. */
function partsOf(baseUrl: string): { host: string; prefix: string } {
  const { host, pathname } = new URL(baseUrl);
  return { host, prefix: pathname.replace(/\/$/, '') };
}

function isOpenApi(text: string): boolean {
  const document: unknown = orElse(() => JSON.parse(text), null);
  return typeof document === 'object' && document !== null && 'openapi' in document;
}

const pairsOf = (fields: readonly HeaderField[]) => fields.map(({ name, value }) => [name, value] as const);

function present({ body, headers, ...response }: Omit<LoopbackResponse, 'fromPort'>) {
  const text = readText(body, response.cut);
  return {
    ...response,
    headers: headers.map(([name, value]) => ({ name, value })),
    body: text ?? body.toString('base64'),
    bodyEncoding: text === null ? ('base64' as const) : ('utf8' as const),
    bodyBytes: body.length,
  };
}

/** Decodes a body as UTF-8, or returns null. A truncated body may end within a character. */
const readText = (body: Buffer, cut: boolean): string | null =>
  orElse(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body, { stream: cut }), null);

const HEADERS_MAX = 50;

interface HeaderChoice {
  method: string;
  /** The request host: hostname and port. */
  host: string;
  chosen: Record<string, string>;
  body: string | undefined;
}

/**
 * All headers of a request that Vivarium sends, in wire order, without the credentials.
 * @throws VivariumError invalid_request for headers that clients can't choose and for malformed ones
 */
function sentHeaders({ method, host, chosen, body }: HeaderChoice): HeaderField[] {
  const fields = Object.entries(chosen).map(([name, value]) => ({ name, value }));
  if (fields.length > HEADERS_MAX) throw inputError('headers', `must have at most ${HEADERS_MAX} entries.`);
  for (const field of fields) checkHeader(field);
  const has = (name: string) => fields.some((field) => field.name.toLowerCase() === name);
  return [
    { name: 'Host', value: host },
    ...(has('user-agent') ? [] : [{ name: 'User-Agent', value: OWN_AGENT }]),
    ...(has('accept') ? [] : [{ name: 'Accept', value: '*/*' }]),
    ...fields,
    ...lengthOf(method, body),
    { name: 'Connection', value: 'close' },
  ];
}

function checkHeader({ name, value }: HeaderField): void {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    throw inputError('headers', `"${name}" is not a header name (RFC 9110 §5.1).`);
  }
  if (!/^[\t -~]*$/.test(value)) {
    throw inputError('headers', `${name}: the value may contain visible ASCII characters, spaces and tabs only.`);
  }
  const isCredentials = name.toLowerCase() === 'authorization';
  if (isCredentials || SENDER_FIELDS.has(name.toLowerCase())) {
    const instead = isCredentials ? '; give "keyId" or "secret" instead' : '';
    throw inputError('headers', `${name} is set by Vivarium${instead}.`);
  }
}

/** Sent with every body, and also with empty ones if a body is usual (RFC 9110 §8.6). */
function lengthOf(method: string, body: string | undefined): HeaderField[] {
  if (body === undefined && !['POST', 'PUT', 'PATCH'].includes(method)) return [];
  return [{ name: 'Content-Length', value: String(Buffer.byteLength(body ?? '')) }];
}

/** Inserts the secret where clients put it: after Host. */
function withBearer([host, ...rest]: readonly HeaderField[], secret: string | undefined): HeaderField[] {
  return [
    ...(host === undefined ? [] : [host]),
    ...(secret === undefined ? [] : [{ name: 'Authorization', value: `Bearer ${secret}` }]),
    ...rest,
  ];
}

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
interface HistoryRequest extends Omit<HttpRequest, 'name'> {
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
