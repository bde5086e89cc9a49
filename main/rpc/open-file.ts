import type { IncomingMessage, ServerResponse } from 'node:http';
import { VivariumError } from '../contract/errors.ts';
import { drain } from './body.ts';
import type { Clock } from '../base/clock.ts';
import { COMMON_HEADERS, sendFailure } from './responses.ts';

/** A file that everybody may read without a token, as programs do that know nothing of Vivarium. */
export interface OpenFile {
  contentType: string;
  /** Its octets at this moment. */
  read(): Uint8Array;
}

/** Answers GET and HEAD with the file. */
export function sendOpenFile(
  file: OpenFile,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Pick<Clock, 'realTimer'>,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    sendFailure(response, new VivariumError('method_not_allowed', 'This path takes GET, HEAD only.'), {
      Allow: 'GET, HEAD',
    });
    drain(request, clock);
    return;
  }
  const octets = file.read();
  response.writeHead(200, {
    ...COMMON_HEADERS,
    'Cache-Control': 'no-store',
    'Content-Type': file.contentType,
    'Content-Length': octets.length,
  });
  response.end(request.method === 'HEAD' ? undefined : octets);
}
