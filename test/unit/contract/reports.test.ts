import { expect, it } from 'vitest';
import { callerTitle } from '../../../main/contract/reports.ts';

it('a caller is named by its key or address, and its agent', () => {
  const key = (name: string) => ({ caller: 'key:key_1', key: { name, prefix: 'viv_abcd' }, userAgent: 'shop/1.2' });
  const callers = [{ caller: 'address:127.0.0.1', userAgent: '' }, key(''), key('CI')];
  expect(callers.map(callerTitle)).toEqual(['127.0.0.1, no User-Agent', 'key_1, shop/1.2', 'CI, shop/1.2']);
});
