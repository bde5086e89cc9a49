import { expect, it } from 'vitest';
import { formatLogLine } from '../../../main/base/log.ts';
import { formatWelcome } from '../../../main/host/welcome.ts';

const HOSTILE = 'Zoo\u001b[2J\u009b31m\u202e';
const UNPRINTABLE = /[\p{Cc}\u202e]/u;

const WELCOME: Parameters<typeof formatWelcome>[0] = {
  version: '1.2.3',
  dataDir: '/d',
  controlUrl: 'http://127.0.0.1:4780',
  signInLink: 'http://127.0.0.1:4780/#ticket=t',
  devicesUrl: undefined,
  caFile: '/d/ca/root.pem',
  ports: { http: 8080, https: 8443, dns: 5380 },
  project: {
    id: 'prj_1',
    name: HOSTILE,
    plan: 'free',
    perMinute: 60,
    perDay: 1_000,
    baseUrl: 'http://zoo.vivarium.localhost:8080/v1',
    secureBaseUrl: 'https://zoo.vivarium.localhost:8443/v1',
  },
  secret: null,
  projectCount: 1,
  domains: { attached: 0, secure: 0 },
  warnings: [],
  stop: 'Ctrl-C.',
  ownCommand: (command) => command,
};

it('the banner escapes control characters in a project’s name', () => {
  const text = formatWelcome(WELCOME, false);
  expect(text).toContain('Zoo\\u{1b}[2J');
  expect(text.replaceAll('\n', '')).not.toMatch(UNPRINTABLE);
});

it.each([
  [0, 'none yet; create one with', 'vivarium project create "My project"'],
  [2, '2; list them with', 'vivarium project list'],
])('without the demo, the banner names the command for %i projects', (projectCount, said, command) => {
  const lines = formatWelcome({ ...WELCOME, project: null, projectCount }, false).split('\n');
  expect(
    lines
      .slice(lines.findIndex((line) => line.endsWith(said)))
      .slice(0, 2)
      .map((line) => line.trim()),
  ).toEqual([expect.stringContaining(said), command]);
});

it('a log line escapes control characters in its fields', () => {
  const line = formatLogLine({
    at: '2026-11-20T09:00:00.000Z',
    level: 'warn',
    message: 'refused',
    fields: { host: HOSTILE },
  });
  expect(line).toContain('warn  refused host="Zoo\\u001b[2J\\u{9b}31m');
  expect(line).not.toMatch(UNPRINTABLE);
});
