import { VERSION } from '../../base/version.ts';
import { SENDER_FIELDS } from '../../base/text/request-shell.ts';
import type { HeaderField } from '../../contract/api.ts';
import { inputError } from '../projects/project-rules.ts';

const HEADERS_MAX = 50;

export interface HeaderChoice {
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
export function sentHeaders({ method, host, chosen, body }: HeaderChoice): HeaderField[] {
  const fields = Object.entries(chosen).map(([name, value]) => ({ name, value }));
  if (fields.length > HEADERS_MAX) throw inputError('headers', `must have at most ${HEADERS_MAX} entries.`);
  for (const field of fields) checkHeader(field);
  const has = (name: string) => fields.some((field) => field.name.toLowerCase() === name);
  return [
    { name: 'Host', value: host },
    ...(has('user-agent') ? [] : [{ name: 'User-Agent', value: `vivarium/${VERSION}` }]),
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
export function withBearer([host, ...rest]: readonly HeaderField[], secret: string | undefined): HeaderField[] {
  return [
    ...(host === undefined ? [] : [host]),
    ...(secret === undefined ? [] : [{ name: 'Authorization', value: `Bearer ${secret}` }]),
    ...rest,
  ];
}
