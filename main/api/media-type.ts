import type { IncomingHttpHeaders } from 'node:http';
import { VivariumError } from '../contract/errors.ts';

/** `type/subtype` (RFC 9110 §8.3.1). */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/;
const PARAMETER = /;[ \t]*([^\s;="]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

/** An unsupported body, with the header that names the supported type (RFC 9110 §15.5.16). */
export class UnsupportedBodyError extends VivariumError {
  readonly accepted: readonly [name: 'Accept' | 'Accept-Encoding', value: string];

  constructor(message: string, accepted: 'Accept' | 'Accept-Encoding') {
    super('unsupported_media_type', message);
    this.accepted = [accepted, accepted === 'Accept' ? 'application/json' : 'identity'];
  }
}

/**
 * Null for a supported body: unencoded `application/json` in UTF-8 (RFC 8259 §8.1); else the reason. Parameters other
 * than charset have no meaning for this type and are ignored (RFC 8259 §11). Types such as
 * `application/merge-patch+json` are refused, because their JSON has other semantics.
 */
export function unsupportedBody(headers: IncomingHttpHeaders): UnsupportedBodyError | null {
  const contentType = headers['content-type'];
  const essence = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (essence !== undefined && !MEDIA_TYPE.test(essence)) {
    return new UnsupportedBodyError(
      'The Content-Type is malformed; send JSON with "Content-Type: application/json".',
      'Accept',
    );
  }
  const coding = headers['content-encoding']?.trim().toLowerCase();
  if (coding !== undefined && coding !== '' && coding !== 'identity') {
    return new UnsupportedBodyError(
      `The body has the Content-Encoding "${clip(coding)}"; send it unencoded.`,
      'Accept-Encoding',
    );
  }
  if (contentType === undefined) {
    return new UnsupportedBodyError(
      'The body has no Content-Type; send it with "Content-Type: application/json".',
      'Accept',
    );
  }
  if (essence !== 'application/json') {
    return new UnsupportedBodyError(
      `The body has the Content-Type "${clip(contentType)}"; send JSON with "Content-Type: application/json".`,
      'Accept',
    );
  }
  const charset = otherCharset(contentType);
  return charset === null
    ? null
    : new UnsupportedBodyError(
        `The body has the charset "${clip(charset)}"; JSON is UTF-8, send it as that and leave the charset out.`,
        'Accept',
      );
}

function otherCharset(contentType: string): string | null {
  for (const [, name = '', quoted, token] of contentType.matchAll(PARAMETER)) {
    const value = quoted ?? token ?? '';
    if (name.toLowerCase() === 'charset' && !/^utf-?8$/i.test(value)) return value;
  }
  return null;
}

const CLIP_LENGTH = 100;

function clip(text: string): string {
  return text.length <= CLIP_LENGTH ? text : `${text.slice(0, CLIP_LENGTH)}…`;
}
