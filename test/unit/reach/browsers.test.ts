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

describe('a browser is found', () => {
  it.each<[where: string, found: string[], expected: string[]]>([
    [
      'on Linux, Chrome before Chromium',
      found(linux, '/usr/bin/chromium', '/usr/bin/google-chrome'),
      ['Chrome: /usr/bin/google-chrome', 'Chromium: /usr/bin/chromium'],
    ],
    [
      'on Linux, Edge and Brave',
      found(linux, '/usr/bin/brave-browser', '/usr/bin/microsoft-edge'),
      ['Edge: /usr/bin/microsoft-edge', 'Brave: /usr/bin/brave-browser'],
    ],
    [
      'on Ubuntu, the snap last',
      found(linux, '/snap/bin/chromium', '/usr/bin/brave-browser'),
      ['Brave: /usr/bin/brave-browser', 'Chromium: /snap/bin/chromium in /home/anna/snap/chromium/common'],
    ],
    [
      'on Ubuntu, the script that starts the snap',
      found(linux, '/usr/bin/chromium-browser'),
      ['Chromium: /usr/bin/chromium-browser in /home/anna/snap/chromium/common'],
    ],
    ['on Linux, never in a relative folder of PATH', found(linux, 'bin/chromium'), []],
    [
      'on macOS, of one user',
      found(macos, '/Users/anna/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'),
      ['Chrome: /Users/anna/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
    ],
    [
      'on macOS, Edge and Brave',
      found(
        macos,
        '/Applications/Brave Browser.app/Contents/MacOS/Brave Browser',
        '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
      ),
      [
        'Edge: /Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
        'Brave: /Applications/Brave Browser.app/Contents/MacOS/Brave Browser',
      ],
    ],
    [
      'on Windows, Edge, which is always there',
      found(windows, 'C:\\Program Files\\Microsoft\\Edge\\Application\\msedge.exe'),
      ['Edge: C:\\Program Files\\Microsoft\\Edge\\Application\\msedge.exe'],
    ],
    [
      'on Windows, Chrome of one user',
      found(windows, 'C:\\Users\\anna\\AppData\\Local\\Google\\Chrome\\Application\\chrome.exe'),
      ['Chrome: C:\\Users\\anna\\AppData\\Local\\Google\\Chrome\\Application\\chrome.exe'],
    ],
    [
      'Firefox, after the others',
      found(linux, '/usr/bin/firefox', '/usr/bin/chromium'),
      ['Chromium: /usr/bin/chromium', 'Firefox: /usr/bin/firefox'],
    ],
    [
      'the snap of Firefox',
      found(linux, '/snap/bin/firefox'),
      ['Firefox: /snap/bin/firefox in /home/anna/snap/firefox/common'],
    ],
    [
      'Firefox on macOS and Windows',
      [
        ...found(macos, '/Applications/Firefox.app/Contents/MacOS/firefox'),
        ...found(windows, 'C:\\Program Files\\Mozilla Firefox\\firefox.exe'),
      ],
      [
        'Firefox: /Applications/Firefox.app/Contents/MacOS/firefox',
        'Firefox: C:\\Program Files\\Mozilla Firefox\\firefox.exe',
      ],
    ],
    ['nowhere', found(linux), []],
  ])('%s', (_, actual, expected) => {
    expect(actual).toEqual(expected);
  });

  it('by its variable, and then no other', () => {
    const environment = { ...linux.environment, VIVARIUM_BROWSER: '/opt/my/chrome' };
    expect(browserCandidates({ ...linux, environment })).toEqual([
      { name: 'The browser', program: '/opt/my/chrome', confinedTo: null },
    ]);
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

it.each(['linux', 'darwin', 'win32', 'freebsd'] as const)(
  'on %s, a missing browser gives an error that names what to install',
  (platform) => {
    expect(explainNoBrowser(platform)).toMatch(
      /Install one \(.+\), or name its program in VIVARIUM_BROWSER\..*PAC file/,
    );
  },
);

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
