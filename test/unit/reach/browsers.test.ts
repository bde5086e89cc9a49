import { describe, expect, it } from 'vitest';
import { browserCandidates, explainNoBrowser, findBrowsers, hasDisplay, kindOf } from '../../../main/reach/browsers.ts';

type Places = Parameters<typeof findBrowsers>[0];

const linux = { platform: 'linux', environment: { PATH: '/usr/local/bin:bin:/usr/bin' }, home: '/home/anna' } as const;
const macos = { platform: 'darwin', environment: {}, home: '/Users/anna' } as const;
const windows = {
  platform: 'win32',
  environment: { ProgramFiles: 'C:\\Program Files', LOCALAPPDATA: 'C:\\Users\\anna\\AppData\\Local' },
  home: 'C:\\Users\\anna',
} as const;

const found = (places: Omit<Places, 'isExecutable'>, ...there: string[]) =>
  findBrowsers({ ...places, isExecutable: (path) => there.includes(path) }).map(
    ({ name, program, confinedTo }) => `${name}: ${program}${confinedTo === null ? '' : ` in ${confinedTo}`}`,
  );
const app = (name: string) => `/Applications/${name}.app/Contents/MacOS/${name}`;
const SNAP = '/home/anna/snap';

describe('a browser is found', () => {
  /** `expected`: its name, its place in the programs, and the folder that it is confined to. */
  it.each<[where: string, places: Omit<Places, 'isExecutable'>, programs: string[], expected: string[]]>([
    [
      'on Linux, Chrome before Chromium',
      linux,
      ['/usr/bin/chromium', '/usr/bin/google-chrome'],
      ['Chrome: /usr/bin/google-chrome', 'Chromium: /usr/bin/chromium'],
    ],
    [
      'on Linux, Edge and Brave',
      linux,
      ['/usr/bin/brave-browser', '/usr/bin/microsoft-edge'],
      ['Edge: /usr/bin/microsoft-edge', 'Brave: /usr/bin/brave-browser'],
    ],
    [
      'on Ubuntu, the snap last',
      linux,
      ['/snap/bin/chromium', '/usr/bin/brave-browser'],
      ['Brave: /usr/bin/brave-browser', `Chromium: /snap/bin/chromium in ${SNAP}/chromium/common`],
    ],
    [
      'on Ubuntu, the script that starts the snap',
      linux,
      ['/usr/bin/chromium-browser'],
      [`Chromium: /usr/bin/chromium-browser in ${SNAP}/chromium/common`],
    ],
    ['on Linux, never in a relative folder of PATH', linux, ['bin/chromium'], []],
    [
      'on macOS, of one user',
      macos,
      [`/Users/anna${app('Google Chrome')}`],
      [`Chrome: /Users/anna${app('Google Chrome')}`],
    ],
    [
      'on macOS, Edge and Brave',
      macos,
      [app('Brave Browser'), app('Microsoft Edge')],
      [`Edge: ${app('Microsoft Edge')}`, `Brave: ${app('Brave Browser')}`],
    ],
    [
      'Firefox, after the others',
      linux,
      ['/usr/bin/firefox', '/usr/bin/chromium'],
      ['Chromium: /usr/bin/chromium', 'Firefox: /usr/bin/firefox'],
    ],
    ['the snap of Firefox', linux, ['/snap/bin/firefox'], [`Firefox: /snap/bin/firefox in ${SNAP}/firefox/common`]],
    ['nowhere', linux, [], []],
  ])('%s', (_, places, programs, expected) => {
    expect(found(places, ...programs)).toEqual(expected);
  });

  it.each([
    ['Edge, which is always there', windows, 'C:\\Program Files\\Microsoft\\Edge\\Application\\msedge.exe', 'Edge'],
    [
      'Chrome of one user',
      windows,
      `${windows.home}\\AppData\\Local\\Google\\Chrome\\Application\\chrome.exe`,
      'Chrome',
    ],
    ['Firefox', windows, 'C:\\Program Files\\Mozilla Firefox\\firefox.exe', 'Firefox'],
    ['Firefox on macOS', macos, '/Applications/Firefox.app/Contents/MacOS/firefox', 'Firefox'],
  ] as const)('on Windows, or as it says: %s', (_, places, program, name) => {
    expect(found(places, program)).toEqual([`${name}: ${program}`]);
  });

  it('by its variable, and then no other', () => {
    const environment = { ...linux.environment, VIVARIUM_BROWSER: '/opt/my/chrome' };
    const own = { name: 'The browser', program: '/opt/my/chrome', confinedTo: null };
    expect(browserCandidates({ ...linux, environment })).toEqual([own]);
  });
});

it.each([
  ['/opt/firefox/firefox', 'firefox'],
  ['/usr/bin/firefox-esr', 'firefox'],
  ['C:\\Program Files\\Mozilla Firefox\\firefox.exe', 'firefox'],
  ['/home/firefox/chrome', 'chromium'],
  ['/opt/my/chrome', 'chromium'],
])('%s gets the options of %s', (program, kind) => {
  expect(kindOf({ name: 'The browser', program, confinedTo: null })).toBe(kind);
});

it.each(['linux', 'darwin', 'win32', 'freebsd'] as const)('on %s, a missing browser: what to install', (platform) => {
  const text = /Install one \(.+\), or name its program in VIVARIUM_BROWSER\..*PAC file/;
  expect(explainNoBrowser(platform)).toMatch(text);
});

it.each<[platform: NodeJS.Platform, environment: Record<string, string>, display: boolean]>([
  ['linux', {}, false],
  ['linux', { DISPLAY: '' }, false],
  ['linux', { DISPLAY: ':0' }, true],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
  ['darwin', {}, true],
  ['win32', {}, true],
])('on %s with %j there is a display: %s', (platform, environment, display) => {
  expect(hasDisplay(platform, environment)).toBe(display);
});
