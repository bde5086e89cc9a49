import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Answer } from '../base/http/answer.ts';
import type { Connection } from './connection.ts';
import { type OwnPath, ownPathAsked } from './own-paths.ts';
import type { ProxyLimits } from './proxy-limits.ts';

/** What opened a stream, as Node reads it. */
export interface StreamHead {
  headers: IncomingHttpHeaders;
  /** Name, value, name, value, … */
  rawHeaders: readonly string[];
}

/**
 * What answers a stream on its own: a path of Vivarium's, asked for in a way to which no stage objects. Undefined for
 * all others, which the stages decide about. Requests that browsers send by the thousand take half the processor time
 * this way, because Node makes no request and response object.
 */
export function ownPathOfStream(
  { listener: { own, scheme } }: Connection,
  { headers, rawHeaders }: StreamHead,
  limits: Pick<ProxyLimits, 'headerFieldsMax' | 'targetLengthMax'>,
): OwnPath | undefined {
  const { ':path': target = '', ':method': method } = headers;
  const isPlain =
    headers[':scheme'] === scheme &&
    headers[':authority'] !== undefined &&
    headers.host === undefined &&
    headers.expect === undefined &&
    // A trusted proxy may say with these where the client is.
    headers['x-forwarded-for'] === undefined &&
    headers.forwarded === undefined &&
    method !== 'CONNECT' &&
    target.length <= limits.targetLengthMax &&
    rawHeaders.length <= 2 * limits.headerFieldsMax;
  return isPlain ? ownPathAsked(own, target, headers) : undefined;
}

/** Answers a stream through `own`. */
export function answerStream(
  own: OwnPath,
  stream: ServerHttp2Stream,
  { listener, address }: Connection,
  head: StreamHead,
): void {
  const { headers } = head;
  const { ':method': method = '', ':path': target = '' } = headers;
  const send = ({ status, headers: fields, body }: Answer): void => {
    if (stream.headersSent || stream.closed || stream.destroyed) return;
    const sent = method === 'HEAD' ? null : body;
    stream.respond([':status', String(status), ...fields], { endStream: sent === null });
    // Ended after the last byte is written: Node makes an error for every write that the end of its stream overtakes.
    if (sent !== null) stream.write(sent.text, sent.encoding, () => stream.end());
  };
  own({ method, target, scheme: listener.scheme, headers, address, body: stream }, send);
}
