import { expect, it } from 'vitest';
import { environmentOutside } from '../../../../main/base/system/program.ts';

it.each<[what: string, given: Record<string, string>, expected: Record<string, string>]>([
  ['is the same without an AppImage', { PATH: '/bin', LD_LIBRARY_PATH: '/x' }, { PATH: '/bin', LD_LIBRARY_PATH: '/x' }],
  [
    'has no folder of an AppImage, whose libraries are not for other programs',
    { APPDIR: '/mnt', PATH: '/mnt/usr/bin:/mnt:/bin:/mnt2', LD_LIBRARY_PATH: '/mnt/usr/lib:', HOME: '/mnt/x' },
    { APPDIR: '/mnt', PATH: '/bin:/mnt2', HOME: '/mnt/x' },
  ],
])('the environment of other programs %s', (_what, given, expected) => {
  expect(environmentOutside(given)).toEqual(expected);
});
