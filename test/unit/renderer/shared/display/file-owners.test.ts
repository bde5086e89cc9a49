import { expect, it } from 'vitest';
import { ownedRows, ownerOf } from '../../../../../renderer/shared/display/file-owners.ts';

const owner = (file: string, ...entries: string[]) => ({
  file,
  since: '2026-11-23T00:00:00.000Z',
  entries: entries.map((entry) => {
    const [kind, what] = entry.split(' ') as ['zone', string];
    return { kind, what };
  }),
});

it('names an entry’s file without its folder, on every system', () => {
  const owners = [owner('/a/vivarium.yaml', 'zone z.test'), owner('C:\\b\\demo.yaml', 'project z.test')];
  expect([
    ownerOf(owners, 'zone', 'z.test'),
    ownerOf(owners, 'project', 'z.test'),
    ownerOf(owners, 'zone', 'y.test'),
    ownerOf(undefined, 'zone', 'z.test'),
  ]).toEqual(['vivarium.yaml', 'demo.yaml', undefined, undefined]);
});

it('lists what a file owns by kind, and counts a long list', () => {
  const domains = Array.from({ length: 8 }, (_, at) => `domain d${at}.test`);
  expect(ownedRows(owner('/a', ...domains, 'project acme', 'pets acme/production', 'clock clock'))).toEqual([
    { title: 'Projects', names: 'acme' },
    { title: 'Domains', names: 'd0.test, d1.test, d2.test, d3.test, d4.test, d5.test and 2 more' },
    { title: 'Clock', names: 'frozen' },
  ]);
});
