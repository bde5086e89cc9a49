import type { IncomingHttpHeaders } from 'node:http';
import { VivariumError } from '../contract/errors.ts';

/** `type/subtype` (RFC 9110 §8.3.1). */
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/;
const PARAMETER = /;[ \t]*([^\s;="]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;

/** A body that we don't read, and the header that says what we would (RFC 9110 §15.5.16). */
export class UnsupportedBodyError extends VivariumError {
  readonly accepted: readonly [name: 'Accept' | 'Accept-Encoding', value: string];

  constructor(message: string, accepted: 'Accept' | 'Accept-Encoding') {
    super('unsupported_media_type', message);
    this.accepted = [accepted, accepted === 'Accept' ? 'application/json' : 'identity'];
  }
}

/**
 * Null when the body is what we read: `application/json` in UTF-8 (RFC 8259 §8.1), unencoded; else why not.
 * Parameters other than charset mean nothing to that type and are ignored (RFC 8259 §11). Types of the form
 * `application/*+json` are refused: they are JSON with a meaning of their own (merge patches, JSON:API, …).
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
