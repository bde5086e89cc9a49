import { expect, it } from 'vitest';
import { idBeforeLast, repeatKey, roundIntegers, spoilText } from '../../../main/proxy/faults/held-answer.ts';

it.each([
  ['[{"id":9007199254740993}]', '[{"id":9007199254740992}]'],
  ['{"a":-9223372036854775807,"b":7}', '{"a":-9223372036854775808,"b":7}'],
  ['{"a":"9007199254740993"}', null],
  ['{"a":9007199254740993.5}', null],
  ['{"a":9007199254740992}', null],
  ['{"a":1}', null],
])('an altered answer rounds the integers of %s', (json, rounded) => {
  expect(roundIntegers(json)).toBe(rounded);
});

it.each([
  ['{"id":1,"name":"Ada"}', '{"id":1,"name":"Ada","id":null}'],
  ['[{"id":1},{"id":2}]', '[{"id":1,"id":null},{"id":2}]'],
  ['{"a":{"b":"}{"}}', '{"a":{"b":"}{","b":null}}'],
  ['{"pets":[{"id":1}]}', '{"pets":[{"id":1,"id":null}]}'],
  ['[]', null],
  ['{}', null],
])('an altered answer repeats a name of %s', (json, repeated) => {
  expect(repeatKey(json)).toBe(repeated);
});

it('an altered answer gets invalid UTF-8 in a text, and stays unchanged without one', () => {
  const spoiled = spoilText(Buffer.from('{"name":"Ada"}'));
  expect(spoiled?.toString('latin1')).toBe('{"name":"Ada\u00c3("}');
  expect(() => new TextDecoder('utf-8', { fatal: true }).decode(spoiled ?? undefined)).toThrow(TypeError);
  expect(spoilText(Buffer.from('[1]'))).toBeNull();
});

it('the id before the last of a list is found', () => {
  expect(idBeforeLast('[{"id":9007199254740993,"n":1},{"id": 4}]')).toBe('9007199254740993');
  expect(idBeforeLast('[{"id":4}]')).toBeNull();
});
