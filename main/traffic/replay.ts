import { pairsOf } from '../base/http/message.ts';
import { SENDER_FIELDS } from '../base/text/shell.ts';
import type { HeaderField } from '../contract/api.ts';
import type { Entry } from './entry.ts';
import { bytesOf } from './present.ts';
import type { Redactor } from './redact.ts';

export interface ReplayBase extends Pick<Entry, 'scheme' | 'method' | 'target' | 'authority'> {
  record: Pick<Entry['record'], 'requestFields' | 'requestBody'>;
}

export interface ReplayEdits {
  method?: string | undefined;
  target?: string | undefined;
  hostname?: string | undefined;
  /** The complete list. A redacted field that is unchanged is sent as recorded. */
  headers?: readonly HeaderField[] | undefined;
  body?: string | undefined;
  /** An API key that replaces the recorded one; null for none. */
  keyId?: string | null | undefined;
}

type Field = readonly [name: string, value: string];

/** Why an entry can't be sent again with these changes, or null. */
export function replayRefusal(entry: Entry, edits: ReplayEdits): string | null {
  const { authority, stage, status, record, running } = entry;
  if (running) return 'Can’t replay: the request has not ended.';
  if (edits.hostname === undefined && (authority === null || stage === 'listener')) {
    return 'Can’t replay: the request had no Host.';
  }
  if (entry.withheld === true) {
    return 'Can’t replay: the request came with a snapshot, which keeps no secrets, and there were some in it.';
  }
  if (status === 101) return 'Can’t replay a WebSocket or other upgrade: it is more than one request.';
  const { requestBody } = record;
  const kept = requestBody.chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);
  return kept < requestBody.bytes && edits.body === undefined
    ? `Only the first ${kept} of ${requestBody.bytes} bytes of its body were recorded, so it can’t be replayed unchanged.`
    : null;
}

/** The request to send. `token` authenticates it as an API key. */
export function replayRequest(entry: ReplayBase, edits: ReplayEdits, token: string | null, redactor: Redactor) {
  const { record } = entry;
  const sent = pairsOf(record.requestFields);
  const fields = edits.headers === undefined ? sent : restored(edits.headers, sent, redactor);
  const body = edits.body === undefined ? bytesOf(record.requestBody) : Buffer.from(edits.body);
  return {
    scheme: entry.scheme,
    method: edits.method ?? entry.method,
    target: edits.target ?? entry.target,
    headers: [
      ['Host', authorityOf(entry, edits)],
      ...fields.filter(([name]) => isReplayed(name.toLowerCase())),
      ...credentials(fields, edits, token),
      ...(body.length > 0 ? [['Content-Length', String(body.length)] as const] : []),
      ['Connection', 'close'],
    ] satisfies Field[],
    body: body.length > 0 ? body : null,
  };
}

/** `name`: in lower case. Credentials are added separately. */
const isReplayed = (name: string): boolean =>
  !name.startsWith(':') && name !== 'authorization' && !SENDER_FIELDS.has(name);

function authorityOf({ authority }: ReplayBase, { hostname }: ReplayEdits): string {
  const recorded = authority ?? '';
  return hostname === undefined ? recorded : `${hostname}${/:\d+$/.exec(recorded)?.[0] ?? ''}`;
}

/** Sends unknown credentials, such as an upstream's own, unchanged. */
function credentials(fields: readonly Field[], { keyId }: ReplayEdits, token: string | null): Field[] {
  if (token !== null) return [['Authorization', `Bearer ${token}`]];
  return keyId === null ? [] : fields.filter(([name]) => name.toLowerCase() === 'authorization');
}

function restored(headers: readonly HeaderField[], sent: readonly Field[], redactor: Redactor): Field[] {
  return headers.map(({ name, value }) => {
    const same = sent.find(
      (field) =>
        field[0].toLowerCase() === name.toLowerCase() && redactor.fields(field).every((shown) => shown.value === value),
    );
    return [name, same?.[1] ?? value];
  });
}
