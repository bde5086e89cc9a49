import type { HeaderField } from '../../contract/api.ts';
import type { Services } from '../../contract/index.ts';
import type { Project } from '../../contract/projects.ts';
import type { Environment } from '../../contract/values.ts';
import type { Loopback, LoopbackResponse } from '../../proxy/front/loopback.ts';
import type { InternalTokens } from '../../proxy/identify.ts';
import type { KeyRow, KeyRows, ProjectRow, ProjectRows } from '../dependencies.ts';
import { existingKey } from './keys.ts';
import { inputError } from './project-rules.ts';
import { existingProject } from './projects.ts';
import type { HistoryRequest } from '../traffic/requests.ts';
import { sentHeaders, withBearer } from '../traffic/sent-headers.ts';

/** Placeholder for the secret in displayed requests. */
const SECRET_SHOWN = '$VIVARIUM_KEY';

export function createApiServices(options: {
  projects: Pick<ProjectRows, 'get' | 'list'>;
  keys: Pick<KeyRows, 'get'>;
  present: (row: ProjectRow) => Project;
  /** The OpenAPI document of the built-in API, as served at its first base address. */
  document: (servers: readonly { url: string; description: Environment }[]) => string;
  /**
   * The bytes that a project's upstream serves as its OpenAPI document, requested uncounted; null without one.
   */
  upstreamDocument: (project: ProjectRow, authority: string, signal: AbortSignal | undefined) => Promise<Buffer | null>;
  loopback: Loopback;
  internalTokens: Pick<InternalTokens, 'issue'>;
  /** Adds a request to the project's history. */
  remember: (projectId: string, request: HistoryRequest) => void;
}): Services['api'] {
  const { projects, keys, loopback, internalTokens } = options;

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
      try {
        const response = await loopback.send(
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
        return {
          request: { method, url: `http://${host}${prefix}${path}`, headers: shown, body: body ?? null },
          response: present(response),
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
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null && 'openapi' in document;
  } catch {
    return false;
  }
}

const pairsOf = (fields: readonly HeaderField[]) => fields.map(({ name, value }) => [name, value] as const);

function present({ body, headers, ...response }: LoopbackResponse) {
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
function readText(body: Buffer, cut: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body, { stream: cut });
  } catch {
    return null;
  }
}
