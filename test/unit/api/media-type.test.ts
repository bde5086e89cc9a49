import { describe, expect, test } from 'vitest';
import { unsupportedBody } from '../../../main/api/headers.ts';

describe('a body is accepted', () => {
  test.each([
    ['', ['application/json', 'Application/JSON', 'application/json;']],
    ['charset', [' application/json ; charset=utf-8', 'application/json;charset=UTF-8']],
    ['charset in another form', ['application/json; charset="utf-8"', 'application/json; charset=utf8']],
    ['other', ['application/json; profile="http://example.org/;charset=latin1"', 'application/json; version=1']],
  ])('as JSON with %s parameters: %j', (_what, types) => {
    for (const type of types) expect(unsupportedBody({ 'content-type': type }), type).toBeNull();
  });

  test.each(['identity', 'Identity', ''])('with the content coding %j', (coding) => {
    expect(unsupportedBody({ 'content-type': 'application/json', 'content-encoding': coding })).toBeNull();
  });
});

describe('a body is refused with 415', () => {
  test.each([
    ['other text', ['text/plain', 'text/json', 'application/jsonp', '', `x/${'y'.repeat(5000)}`]],
    ['a form', ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']],
    ['another JSON', ['application/merge-patch+json', 'application/vnd.api+json']],
    ['two types', ['application/json, text/plain', 'application/json; charset=utf-8; charset=utf-16']],
    ['JSON in UTF-16', ['application/json; charset=utf-16']],
    ['JSON in Latin-1', ['application/json; charset=latin1', 'application/json; CHARSET="ISO-8859-1"']],
  ])('as %s: %j', (_what, types) => {
    for (const type of types) {
      const error = unsupportedBody({ 'content-type': type });
      expect(error, type).toMatchObject({ accepted: ['Accept', 'application/json'], code: 'unsupported_media_type' });
      expect(error?.message.length).toBeLessThan(300);
    }
  });

  test('without a Content-Type', () => {
    expect(unsupportedBody({})?.message).toContain('no Content-Type');
  });

  test.each(['gzip', 'br', 'gzip, identity', 'x'])('with the content coding %j', (coding) => {
    const error = unsupportedBody({ 'content-type': 'application/json', 'content-encoding': coding });
    expect(error).toMatchObject({ accepted: ['Accept-Encoding', 'identity'] });
  });
});
