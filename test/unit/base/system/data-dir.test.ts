import { describe, expect, it } from 'vitest';
import { defaultDataDir, impliedDataDir, resolveDataDir } from '../../../../main/base/system/data-dir.ts';

it.each<[NodeJS.Platform, Record<string, string>, string, string]>([
  ['linux', {}, '/home/ada', '/home/ada/.local/share/vivarium'],
  ['linux', { XDG_DATA_HOME: '/data' }, '/home/ada', '/data/vivarium'],
  ['linux', { XDG_DATA_HOME: '' }, '/home/ada', '/home/ada/.local/share/vivarium'],
  ['linux', { XDG_DATA_HOME: 'relative' }, '/home/ada', '/home/ada/.local/share/vivarium'],
  ['freebsd', {}, '/home/ada', '/home/ada/.local/share/vivarium'],
  ['darwin', { XDG_DATA_HOME: '/data' }, '/Users/ada', '/Users/ada/Library/Application Support/Vivarium'],
  [
    'win32',
    { APPDATA: 'C:\\Users\\ada\\AppData\\Roaming' },
    'C:\\Users\\ada',
    'C:\\Users\\ada\\AppData\\Roaming\\Vivarium',
  ],
  ['win32', {}, 'C:\\Users\\ada', 'C:\\Users\\ada\\AppData\\Roaming\\Vivarium'],
])('the data folder of the platform %s with %j', (platform, env, homeDir, expected) => {
  expect(defaultDataDir({ platform, env, homeDir })).toBe(expected);
});

describe('the data folder of a command', () => {
  it.each<[string | undefined, Record<string, string>, string]>([
    [undefined, {}, '/home/ada/.local/share/vivarium'],
    ['/x', { VIVARIUM_DATA_DIR: '/y' }, '/x'],
    [undefined, { VIVARIUM_DATA_DIR: '/y' }, '/y'],
    [undefined, { VIVARIUM_DATA_DIR: '' }, '/home/ada/.local/share/vivarium'],
    ['x', {}, '/projects/x'],
    ['../x', {}, '/x'],
    [undefined, { VIVARIUM_DATA_DIR: 'y' }, '/projects/y'],
  ])('with --data-dir %j and %j is %s', (flag, env, expected) => {
    expect(resolveDataDir(flag, { platform: 'linux', env, homeDir: '/home/ada', workingDir: '/projects' })).toBe(
      expected,
    );
  });

  it.each(['', 'home', './home'])('is undefined with the home folder %j, unless it is named', (homeDir) => {
    const place = { platform: 'linux', env: {}, homeDir, workingDir: '/projects' } as const;
    expect(() => resolveDataDir(undefined, place)).toThrow(
      `HOME is ${JSON.stringify(homeDir)}, which is not an absolute path: set it, or name the data folder with --data-dir.`,
    );
    expect(resolveDataDir('/x', place)).toBe('/x');
    expect(resolveDataDir(undefined, { ...place, env: { XDG_DATA_HOME: '/data' } })).toBe('/data/vivarium');
  });

  it('has to be named if the environment names one', () => {
    const place = { platform: 'linux', homeDir: '/home/ada' } as const;
    expect(impliedDataDir({ ...place, env: {} })).toBe('/home/ada/.local/share/vivarium');
    expect(impliedDataDir({ ...place, env: { VIVARIUM_DATA_DIR: '/y' } })).toBeNull();
  });
});
