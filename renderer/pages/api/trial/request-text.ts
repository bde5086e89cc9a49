import { targetOf } from '../../../../main/base/text/request-shell.ts';
import type { HeaderField, ReceivedResponse, SentRequest } from '../../../../main/contract/api.ts';

/** A request as sent on the wire. */
export const requestText = ({ method, url, headers, body }: SentRequest): string =>
  message(`${method} ${targetOf(url)} HTTP/1.1`, headers, body ?? '');

/** A response as sent on the wire. */
export const responseText = ({ httpVersion, status, reason, headers, body }: ReceivedResponse): string =>
  message(`HTTP/${httpVersion} ${status} ${reason}`.trimEnd(), headers, body);

const message = (first: string, headers: readonly HeaderField[], body: string): string =>
  [first, ...headers.map(({ name, value }) => `${name}: ${value}`), '', body].join('\n').trimEnd();
