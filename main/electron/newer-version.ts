import { get as getPlainly } from 'node:http';
import { get } from 'node:https';
import { z } from 'zod';
import type { RealTime } from '../base/clock.ts';
import { bodyUpTo, responseTo } from '../base/http/message.ts';
import type { Log } from '../base/log.ts';
import { VERSION } from '../base/config.ts';
import { DAY_MS } from '../contract/duration.ts';
import type { MenuChoice } from './menu.ts';
import type { DesktopMemory } from './window-state.ts';

/** For tests: the address to query instead of GitHub; plain HTTP on this machine only. */
export const RELEASES_VARIABLE = 'VIVARIUM_RELEASES_URL';

/** GitHub's answer contains the release notes; a larger answer is not from GitHub. */
const ANSWER_BYTES_MAX = 512 * 1024;
const ANSWER_MS_MAX = 10_000;

/** Delay after a start, which has more important work. */
const FIRST_LOOK_MS = 10_000;

/** The addresses of releases, for this program and for its user. */
export interface Releases {
  api: string;
  page: string;
}

/**
 * Derives the addresses from `homepage` in package.json, which the release workflow sets to the repository on GitHub.
 * Null for anything else.
 */
export function releasesOf(homepage: unknown, override?: string): Releases | null {
  const path =
    typeof homepage === 'string' ? /^https:\/\/github\.com\/([\w-]+\/[\w.-]+?)\/?$/.exec(homepage)?.[1] : null;
  const page = `https://github.com/${path ?? 'vivarium/vivarium'}/releases`;
  if (override !== undefined && override !== '') return { api: override, page };
  return path === undefined || path === null
    ? null
    : { api: `https://api.github.com/repos/${path}/releases/latest`, page };
}

/** https://semver.org/spec/v2.0.0.html, its section 2, 9 and 10; with the `v` of tags. */
const SEMVER =
  /^v?(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-([\da-z-]+(?:\.[\da-z-]+)*))?(?:\+[\da-z.-]+)?$/i;

/** Whether version `a` precedes `b` (semver.org 2.0.0, section 11); false if either is not a version. */
export function precedes(a: string, b: string): boolean {
  const [first, second] = [SEMVER.exec(a), SEMVER.exec(b)];
  if (first === null || second === null) return false;
  for (const part of [1, 2, 3]) {
    const difference = Number(first[part]) - Number(second[part]);
    if (difference !== 0) return difference < 0;
  }
  const [left, right] = [first[4]?.split('.'), second[4]?.split('.')];
  // A pre-release comes before its release.
  if (left === undefined || right === undefined) return left !== undefined && right === undefined;
  const at = left.findIndex((identifier, index) => identifier !== right[index]);
  if (at < 0) return left.length < right.length;
  const [mine, other] = [left[at] ?? '', right[at]];
  if (other === undefined) return false;
  const [isNumber, isOtherNumber] = [mine, other].map((identifier) => /^\d+$/.test(identifier));
  if (isNumber === true && isOtherNumber === true) return Number(mine) < Number(other);
  return isNumber === isOtherNumber ? mine < other : isNumber === true;
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);
const answered = z.object({ tag_name: z.string().max(100).regex(SEMVER) });

/**
 * Requests the newest version with one GET, without cookies, identifiers or its own version; follows no redirect.
 * @throws Error with the reason on failure
 */
export async function readNewestVersion(address: string, time: Pick<RealTime, 'schedule'>): Promise<string> {
  const url = new URL(address);
  const isPlain = url.protocol === 'http:' && LOOPBACK.has(url.hostname);
  if (url.protocol !== 'https:' && !isPlain) throw new Error(`${address} is not an https address.`);
  // GitHub refuses requests without a User-Agent.
  const headers = { 'User-Agent': 'Vivarium', Accept: 'application/json' };
  const request = (isPlain ? getPlainly : get)(url, { headers, agent: false });
  const late = new Error(`${url.host} did not answer within 10 s.`);
  const timer = time.schedule(ANSWER_MS_MAX, () => request.destroy(late));
  try {
    const response = await responseTo(request);
    if (response.statusCode !== 200) throw new Error(`${url.host} answered ${response.statusCode}.`);
    const body = await bodyUpTo(ANSWER_BYTES_MAX, response);
    if (body.length > ANSWER_BYTES_MAX) throw new Error(`The answer of ${url.host} is too long.`);
    return answered.parse(JSON.parse(body.toString())).tag_name.replace(/^v/, '');
  } finally {
    timer.cancel();
    request.destroy();
  }
}

export interface VersionWatch extends MenuChoice {
  newer(): string | null;
  start(): void;
}

/** Asks once a day while its setting is on; it is off by default. Downloads nothing. */
export function watchVersions(options: {
  /** Null when this build does not know its repository. */
  releases: Releases | null;
  memory: DesktopMemory;
  time: RealTime;
  log: Log;
  /** Called when a newer version is found for the first time. */
  onNewer: (version: string) => void;
}): VersionWatch {
  const { releases, memory, time, log, onNewer } = options;
  let timer: { cancel(): void } | null = null;

  const newer = (): string | null => {
    const { checksVersion, newestVersion } = memory.get();
    return checksVersion && newestVersion !== null && precedes(VERSION, newestVersion) ? newestVersion : null;
  };

  async function look(api: string): Promise<void> {
    const known = newer();
    // Stored before the answer, so a failing address is not queried more often.
    memory.set({ versionCheckedAtMs: time.now() });
    try {
      memory.set({ newestVersion: await readNewestVersion(api, time) });
    } catch (error) {
      log.warn('It is unknown whether there is a newer version', { error });
    }
    const found = newer();
    if (found !== null && found !== known) onNewer(found);
  }

  function arm(earliestMs: number): void {
    timer?.cancel();
    timer = null;
    const { checksVersion, versionCheckedAtMs } = memory.get();
    if (!checksVersion || releases === null) return;
    const sinceMs = time.now() - versionCheckedAtMs;
    // A date in the future was written with a wrong clock.
    const dueMs = sinceMs < 0 || sinceMs >= DAY_MS ? 0 : DAY_MS - sinceMs;
    timer = time.schedule(Math.max(dueMs, earliestMs), () => void look(releases.api).then(() => arm(0)));
  }

  return {
    label: 'Check for a Newer Version Every Day',
    isOn: () => releases !== null && memory.get().checksVersion,
    set(checksVersion) {
      if (releases === null) {
        throw new Error(
          'This build does not know where its releases are published: "homepage" in its package.json is not a ' +
            'repository on GitHub. Builds made by the release workflow know it.',
        );
      }
      memory.set({ checksVersion });
      arm(0);
    },
    newer,
    start: () => arm(FIRST_LOOK_MS),
  };
}
