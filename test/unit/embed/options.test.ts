import { expect, it } from 'vitest';
import { checkOptions, START_OPTIONS, TENANT_OPTIONS } from '../../../main/embed/options.ts';

it.each<[unknown, string]>([
  [{ flie: 'a.yaml' }, 'startVivarium has no option "flie". Did you mean "file"?'],
  [{ dataDir: '/tmp' }, 'startVivarium has no option "dataDir". It has demo, clock, file.'],
  [{ demo: 'yes' }, 'The option demo of startVivarium must be true or false, not "yes".'],
  [{ file: 7 }, 'The option file of startVivarium must be the path of a vivarium.yaml, not 7.'],
  [{ clock: new Date(0) }, 'The option clock of startVivarium must be a time, such as "2030-01-01", not a Date.'],
  [{ clock: null }, 'The option clock of startVivarium must be a time, such as "2030-01-01", not null.'],
  ['vivarium.yaml', 'startVivarium takes an object with options, not "vivarium.yaml".'],
  [[], 'startVivarium takes an object with options, not a list.'],
])('refuses %j', (given, message) => {
  expect(() => checkOptions('startVivarium', START_OPTIONS, given)).toThrow(message);
});

it('accepts what there is, and options without a value', () => {
  checkOptions('startVivarium', START_OPTIONS, { demo: true, clock: '2030-01-01', file: undefined });
  checkOptions('tenant', TENANT_OPTIONS, { plan: 'pro', limits: { perMinute: 1, perDay: 1 }, pets: 3 });
  const wrong = () => checkOptions('tenant', TENANT_OPTIONS, { limits: [1, 2] });
  expect(wrong).toThrow('must be an object, such as { perMinute: 5, perDay: 100 }, not a list.');
});
