import { VERSION } from '../base/version.ts';
import type { HeaderField } from '../contract/api.ts';
import type { Services } from '../contract/index.ts';
import type { Project } from '../contract/projects.ts';
import type { Environment } from '../contract/values.ts';
import type { Loopback, LoopbackResponse, Passes } from '../proxy/index.ts';
import type { KeyRow, KeyRows, ProjectRow, ProjectRows } from './dependencies.ts';
import { existingKey } from './keys.ts';
import { inputError } from './project-rules.ts';
import { existingProject } from './projects.ts';

/** Set by Vivarium: whom the request is for, who sends it, and where it ends (RFC 9110 §7.6.1, RFC 9112 §6). */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'connection',
  'content-length',
  'transfer-encoding',
  'trailer',
  'te',
  'upgrade',
  'expect',
  'keep-alive',
  'proxy-connection',
]);

const HEADERS_MAX = 50;

/** What stands for the secret wherever the request is shown. */
const SECRET_SHOWN = '$VIVARIUM_KEY';

export function createApiServices(options: {
  projects: Pick<ProjectRows, 'get'>;
  keys: Pick<KeyRows, 'get'>;
  present: (row: ProjectRow) => Project;
  /** The OpenAPI document of the built-in API, as it is served at a base address. */
  document: (baseUrl: string) => string;
  loopback: Loopback;
  passes: Pick<Passes, 'issue'>;
}): Services['api'] {
  const { projects, keys, loopback, passes } = options;

  const baseUrlOf = (projectId: string, environment: Environment): string =>
    options.present(existingProject(projects, projectId)).baseUrl[environment];

  function usableKey(projectId: string, keyId: string): KeyRow {
    const key = existingKey(keys, keyId);
    if (key.projectId !== projectId) throw inputError('keyId', `is the key "${key.name}" of another project.`);
    if (key.revokedAtMs !== null) throw inputError('keyId', `is the key "${key.name}", which is revoked.`);
    return key;
  }

  return {
    describe({ projectId, environment }) {
      const baseUrl = baseUrlOf(projectId, environment);
      const { target } = existingProject(projects, projectId);
      return { baseUrl, document: target.kind === 'api' ? options.document(baseUrl) : null };
    },

    async send({ projectId, environment, method, path, headers = {}, body, keyId, secret }, { signal }) {
      const base = new URL(baseUrlOf(projectId, environment));
      if (keyId !== undefined && secret !== undefined) throw inputError('secret', 'can’t be given beside "keyId".');
      const key = keyId === undefined ? null : usableKey(projectId, keyId);
      const fields = [
        { name: 'Host', value: base.host },
        ...chosenHeaders(headers),
        ...lengthOf(method, body),
        { name: 'Connection', value: 'close' },
      ];
      const pass = key === null ? null : passes.issue({ keyId: key.id, projectId });
      const bearer = pass?.token ?? secret;
      try {
        const response = await loopback.send(
          {
            method,
            target: base.pathname + path,
            headers: withBearer(fields, bearer).map(({ name, value }) => [name, value] as const),
            body: body === undefined ? null : Buffer.from(body),
          },
          signal,
        );
        const shown = bearer === undefined ? undefined : SECRET_SHOWN;
        return {
          request: { method, url: base.href + path, headers: withBearer(fields, shown), body: body ?? null },
          response: present(response),
        };
      } finally {
        pass?.withdraw();
      }
    },
  };
}

function chosenHeaders(chosen: Record<string, string>): HeaderField[] {
  const fields = Object.entries(chosen).map(([name, value]) => ({ name, value }));
  if (fields.length > HEADERS_MAX) throw inputError('headers', `must be ${HEADERS_MAX} at most.`);
  for (const { name, value } of fields) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      throw inputError('headers', `"${name}" is not a header name (RFC 9110 §5.1).`);
    }
    if (!/^[\t -~]*$/.test(value)) {
      throw inputError('headers', `${name}: the value must have visible ASCII characters, spaces and tabs only.`);
    }
    if (OWN_HEADERS.has(name.toLowerCase())) {
      const instead = name.toLowerCase() === 'authorization' ? '; give "keyId" or "secret" instead' : '';
      throw inputError('headers', `${name} is set by Vivarium${instead}.`);
    }
  }
  const has = (name: string) => fields.some((field) => field.name.toLowerCase() === name);
  return [
    ...(has('user-agent') ? [] : [{ name: 'User-Agent', value: `vivarium/${VERSION}` }]),
    ...(has('accept') ? [] : [{ name: 'Accept', value: '*/*' }]),
    ...fields,
  ];
}

/** Said of every body, and of none where one is usual (RFC 9110 §8.6). */
function lengthOf(method: string, body: string | undefined): HeaderField[] {
  if (body === undefined && !['POST', 'PUT', 'PATCH'].includes(method)) return [];
  return [{ name: 'Content-Length', value: String(Buffer.byteLength(body ?? '')) }];
}

/** With the secret where clients put it: after Host. */
function withBearer([host, ...rest]: readonly HeaderField[], secret: string | undefined): HeaderField[] {
  return [
    ...(host === undefined ? [] : [host]),
    ...(secret === undefined ? [] : [{ name: 'Authorization', value: `Bearer ${secret}` }]),
    ...rest,
  ];
}

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

/** A body as UTF-8; null when it is something else. A body that was cut may end within a character. */
function readText(body: Buffer, cut: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body, { stream: cut });
  } catch {
    return null;
  }
}
