import { expect, it } from 'vitest';
import { changesOf, editOf } from '../../../../../../renderer/pages/traffic/entry/entry-edit.ts';
import { makeDetail } from '../../../../../support/page/page-traffic.ts';

it('only the edited parts of a request differ when it is sent again', () => {
  const before = editOf(makeDetail(1));
  expect(before).toEqual({
    method: 'GET',
    hostname: 'demo.vivarium.localhost',
    target: '/v1/pets?limit=20',
    keyId: 'recorded',
    headers: 'Accept: application/json',
    body: '',
  });
  expect(changesOf(before, { ...before })).toEqual({});
  const edited = { method: 'PUT ', keyId: '', headers: 'Accept: */*\n\nX-A:b:c\nno colon', body: '{}' };
  expect(changesOf(before, { ...before, ...edited })).toEqual({
    method: 'PUT',
    keyId: null,
    headers: [
      { name: 'Accept', value: '*/*' },
      { name: 'X-A', value: 'b:c' },
      { name: 'no colon', value: '' },
    ],
    body: '{}',
  });
});

it('credentials that are not one of our keys can be edited', () => {
  const requestHeaders = [{ name: 'Authorization', value: 'Bearer …' }];
  const { keyId, ...stranger } = makeDetail(1, { requestHeaders });
  expect([keyId, editOf(stranger).headers]).toEqual(['key_demo', 'Authorization: Bearer …']);
});
