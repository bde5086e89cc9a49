import { expect, it } from 'vitest';
import { readEvents } from '../../../../../../renderer/pages/traffic/bodies/body-look.ts';

it.each([
  ['data: 1\n\n', [{ id: undefined, type: 'message', data: '1' }]],
  ['event: tick\ndata: a\ndata:b\nid: 7\n\n', [{ id: '7', type: 'tick', data: 'a\nb' }]],
  ['\uFEFFdata: x\r\n\r\n: a comment\r\n\r\ndata: unfinished', [{ id: undefined, type: 'message', data: 'x' }]],
  ['event:\ndata\n\nretry: 3\n\n', [{ id: undefined, type: 'message', data: '' }]],
])('%j has the events of the standard', (text, events) => {
  expect(readEvents(text)).toEqual(events);
});
