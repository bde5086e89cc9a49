import { describe, expect, test } from 'vitest';
import { unsupportedBody } from '../../../main/api/headers.ts';

describe('a body is accepted', () => {
  test.each([
    'application/json',
    'Application/JSON',
    ' application/json ; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset=utf8',
    'application/json; profile="http://example.org/;charset=latin1"',
    'application/json; version=1',
    'application/json;',
  ])('as %j', (contentType) => {
    expect(unsupportedBody({ 'content-type': contentType })).toBeNull();
  });

  test.each(['identity', 'Identity', ''])('with the content coding %j', (coding) => {
    expect(unsupportedBody({ 'content-type': 'application/json', 'content-encoding': coding })).toBeNull();
  });
});

describe('a body is refused with 415', () => {
  test.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/merge-patch+json',
    'application/vnd.api+json',
    'application/jsonp',
    'application/json, text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; CHARSET="ISO-8859-1"',
    'application/json; charset=utf-8; charset=utf-16',
    '',
    `x/${'y'.repeat(5000)}`,
  ])('as %j', (contentType) => {
    const error = unsupportedBody({ 'content-type': contentType });
    expect(error).toMatchObject({ code: 'unsupported_media_type', accepted: ['Accept', 'application/json'] });
    expect(error?.message.length).toBeLessThan(300);
  });

  test('without a Content-Type', () => {
    expect(unsupportedBody({})?.message).toContain('no Content-Type');
  });

  test.each(['gzip', 'br', 'gzip, identity', 'x'])('with the content coding %j', (coding) => {
    expect(unsupportedBody({ 'content-type': 'application/json', 'content-encoding': coding })).toMatchObject({
      accepted: ['Accept-Encoding', 'identity'],
    });
  });
});
