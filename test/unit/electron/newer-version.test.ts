import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { realTime } from '../../../main/base/clock.ts';
import { silentLog } from '../../../main/base/log.ts';
import { precedes, readNewestVersion, releasesOf, watchVersions } from '../../../main/electron/newer-version.ts';
import { openDesktopMemory } from '../../../main/electron/window-state.ts';
import { createFakeClock, settle } from '../../support/fake-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const RELEASES = { api: 'https://releases.invalid/', page: 'https://github.com/a/b/releases' };

/** A server in GitHub's place, and the requests that it received. */
async function releaseServer(answer: (response: ServerResponse) => void) {
  const asked: { target: string; headers: object }[] = [];
  const server = createServer((request, response) => {
    asked.push({ target: `${request.method} ${request.url}`, headers: request.headers });
    answer(response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, host, api: `http://${host}/latest` };
}

it.each([
  ['https://github.com/someone/vivarium', 'https://api.github.com/repos/someone/vivarium/releases/latest'],
  ['https://github.com/someone/vivarium/', 'https://api.github.com/repos/someone/vivarium/releases/latest'],
  ['https://vivarium.localhost', null],
  ['https://github.com.example.org/a/b', null],
  ['https://github.com/a/b/c', null],
  ['http://github.com/a/b', null],
  [undefined, null],
])('the address of releases comes from %s: %s', (homepage, api) => {
  expect(releasesOf(homepage)?.api ?? null).toBe(api);
});

it('versions are ordered as in section 11 of semver.org 2.0.0', () => {
  const ordered = [
    ...['0.9.10', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2', '1.0.0-beta.11'],
    ...['1.0.0-rc.1', 'v1.0.0', '1.0.1', '1.2.0', '1.10.0', '2.0.0'],
  ];
  const wrong = ordered.flatMap((a, i) =>
    ordered.flatMap((b, j) => (precedes(a, b) === i < j ? [] : [`${a} before ${b}: ${precedes(a, b)}`])),
  );
  expect(wrong).toEqual([]);
  expect([precedes('1.0.0+one', '1.0.0+two'), precedes('1.0', '2.0.0'), precedes('1.0.0', 'newest')]).toEqual([
    false,
    false,
    false,
  ]);
});

describe('a request for the newest version', () => {
  it('is one GET that reveals nothing about this installation', async () => {
    const { asked, api, host } = await releaseServer((response) => response.end('{"tag_name": "v1.2.3", "id": 1}'));
    expect(await readNewestVersion(api, realTime)).toBe('1.2.3');
    const headers = { host, 'user-agent': 'Vivarium', accept: 'application/json', connection: 'close' };
    expect(asked).toEqual([{ target: 'GET /latest', headers }]);
  });

  it.each<[what: string, answer: (response: ServerResponse) => void, error: RegExp]>([
    ['is refused', (response) => response.writeHead(404).end(), /answered 404/],
    [
      'leads elsewhere',
      (response) => response.writeHead(302, { Location: 'http://127.0.0.1:1' }).end(),
      /answered 302/,
    ],
    ['never ends', (response) => void response.write('x'.repeat(600_000)), /too long/],
    ['names no version', (response) => response.end('{"tag_name": "newest"}'), /tag_name/],
    ['is no JSON', (response) => response.end('<html>'), /JSON/],
    ['breaks off', (response) => response.destroy(), /socket hang up/],
  ])('reports why it failed when the answer %s', async (_what, answer, error) => {
    const { api } = await releaseServer(answer);
    await expect(readNewestVersion(api, realTime)).rejects.toThrow(error);
  });

  it('is abandoned after 10 s, and uses only HTTPS', async () => {
    const clock = createFakeClock();
    const { api } = await releaseServer(() => void clock.pass(10_000));
    const time = { schedule: clock.realTimer };
    await expect(readNewestVersion(api, time)).rejects.toThrow('did not answer within 10 s');
    for (const address of ['http://releases.example/', 'file:///etc/passwd'])
      await expect(readNewestVersion(address, time)).rejects.toThrow('is not an https address');
  });
});

describe('a daily check', () => {
  const HOUR_MS = 3_600_000;

  async function watch(answer: () => string, file = join(temporaryFolder(), 'window.json')) {
    const { asked, api } = await releaseServer((response) => response.end(`{"tag_name": "${answer()}"}`));
    const clock = createFakeClock();
    const found: string[] = [];
    const time = { now: clock.now, monotonic: clock.monotonic, schedule: clock.realTimer };
    const memory = openDesktopMemory(file, silentLog);
    const onNewer = (version: string) => found.push(version);
    const watching = watchVersions({ releases: { ...RELEASES, api }, memory, time, log: silentLog, onNewer });
    const answered = (times: number) =>
      expect.poll(async () => (await settle(), [asked.length, memory.get().newestVersion])).toEqual([times, answer()]);
    return { asked, clock, found, watching, answered };
  }

  it('is off by default, then runs at once and once a day, and announces each newer version once', async () => {
    let newest = 'v0.0.1';
    const { clock, watching, asked, found, answered } = await watch(() => newest.replace('v', ''));
    watching.start();
    await clock.pass(48 * HOUR_MS);
    expect([watching.isOn(), asked.length]).toEqual([false, 0]);
    watching.set(true);
    await clock.pass(0);
    await answered(1);
    expect([watching.newer(), found]).toEqual([null, []]);
    newest = 'v99.0.0';
    await clock.pass(23 * HOUR_MS);
    expect(asked).toHaveLength(1);
    await clock.pass(HOUR_MS);
    await answered(2);
    await clock.pass(24 * HOUR_MS);
    await answered(3);
    expect([watching.newer(), found]).toEqual(['99.0.0', ['99.0.0']]);
    watching.set(false);
    await clock.pass(48 * HOUR_MS);
    expect([watching.newer(), asked.length]).toEqual([null, 3]);
  });

  it('counts days across starts of the app', async () => {
    const file = join(temporaryFolder(), 'window.json');
    const first = await watch(() => '99.0.0', file);
    first.watching.set(true);
    await first.clock.pass(0);
    await first.answered(1);
    const second = await watch(() => '99.0.0', file);
    second.watching.start();
    await second.clock.pass(HOUR_MS);
    expect([second.watching.newer(), second.asked.length]).toEqual(['99.0.0', 0]);
  });

  it('is unavailable in a build that does not know its repository, and this is shown', () => {
    const memory = openDesktopMemory(join(temporaryFolder(), 'window.json'), silentLog);
    const watching = watchVersions({
      releases: null,
      memory,
      time: realTime,
      log: silentLog,
      onNewer: () => undefined,
    });
    expect(() => watching.set(true)).toThrow('does not know where its releases are published');
    expect(watching.isOn()).toBe(false);
  });
});
