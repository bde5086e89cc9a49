import { SENDER_FIELDS } from '../../../../main/base/text/shell.ts';
import type { HeaderField } from '../../../../main/contract/api.ts';
import type { TrafficDetail } from '../../../../main/contract/traffic.ts';
import { hostnameOf } from './entry-look.ts';

/** A recorded request as the fields of a form. */
export interface EntryEdit extends Record<string, unknown> {
  method: string;
  hostname: string;
  target: string;
  /** An API key's id, `''` for none, or `RECORDED_KEY`. */
  keyId: string;
  /** `Name: value` lines. */
  headers: string;
  body: string;
}

export const RECORDED_KEY = 'recorded';

/** The changes to a request that is sent again; omitted parts stay as recorded. */
export interface ReplayChanges {
  method?: string;
  hostname?: string;
  target?: string;
  keyId?: string | null;
  headers?: HeaderField[];
  body?: string;
}

export function editOf(entry: TrafficDetail): EntryEdit {
  const { method, target, requestHeaders, requestBody, keyId } = entry;
  const headers = requestHeaders.filter(({ name }) => {
    const lower = name.toLowerCase();
    return !SENDER_FIELDS.has(lower) && !lower.startsWith(':') && !(lower === 'authorization' && keyId !== undefined);
  });
  return {
    method,
    target,
    hostname: hostnameOf(entry),
    keyId: RECORDED_KEY,
    headers: headers.map(({ name, value }) => `${name}: ${value}`).join('\n'),
    body: requestBody?.encoding === 'utf8' ? requestBody.text : '',
  };
}

/** The fields that were changed. A line without a colon becomes a field that the engine refuses, with the reason. */
export function changesOf(before: EntryEdit, after: EntryEdit): ReplayChanges {
  const changes: ReplayChanges = {};
  if (after.method !== before.method) changes.method = after.method.trim();
  if (after.hostname !== before.hostname) changes.hostname = after.hostname.trim();
  if (after.target !== before.target) changes.target = after.target.trim();
  if (after.keyId !== before.keyId) changes.keyId = after.keyId === '' ? null : after.keyId;
  if (after.headers !== before.headers) changes.headers = readHeaders(after.headers);
  if (after.body !== before.body) changes.body = after.body;
  return changes;
}

/** A request of an archive to send to `hostname`, without the secrets that were redacted in it. */
export const archivedEditOf = (entry: TrafficDetail, hostname: string): EntryEdit => ({
  ...editOf({ ...entry, requestHeaders: entry.requestHeaders.filter(({ value }) => !value.includes('…')) }),
  hostname,
  keyId: '',
});

export const sentOf = ({ scheme }: TrafficDetail, { method, hostname, target, keyId, headers, body }: EntryEdit) => ({
  scheme,
  method: method.trim(),
  hostname: hostname.trim(),
  target: target.trim(),
  headers: readHeaders(headers),
  ...(body !== '' && { body }),
  ...(keyId !== '' && { keyId }),
});

const readHeaders = (text: string): HeaderField[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const colon = line.indexOf(':');
      return colon < 0
        ? { name: line, value: '' }
        : { name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() };
    });
