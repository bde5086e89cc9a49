import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { realTime, sleep } from '../../base/clock.ts';
import { typed } from '../../base/system/own-command.ts';
import { posixWord } from '../../base/text/shell.ts';
import { describeProfiles, findProfile, type Profile } from '../../acme/profiles.ts';
import { SEED_MAX } from '../../contract/breaks.ts';
import { DAY_MS, DURATION_FORMS, HOUR_MS, parseDuration } from '../../contract/duration.ts';
import { didYouMean } from '../../contract/issues.ts';
import { follow, POLICIES, type Policy, type Subject } from '../../rehearsal/renewals/policies.ts';
import type { Renewals } from '../../rehearsal/report.ts';
import { askFor } from '../engine/client.ts';
import type { Host } from '../words/command.ts';
import { type Arguments, DATA_DIR_FLAG, type Option, usageError, valueOption } from '../words/flags.ts';
import { type Io, FAILURE_PREFIX } from '../text/io.ts';
import { findRunning } from '../engine/running.ts';
import { directoryUrl } from '../../acme/resources.ts';
import { type Course, EVENT_KINDS, type EventKind, isEventKind, planYear } from '../../rehearsal/renewals/course.ts';
import { type Observation, observe } from '../../rehearsal/renewals/observe.ts';
import { originOf } from '../../base/text/hostname.ts';
import { freePort } from '../run/app-port.ts';
import { startApp } from '../run/app-process.ts';
import { withOwnEngines } from '../run/own-engine.ts';
import { shellWords, withBinFolders } from '../run/run-app.ts';
import { printable } from '../text/text.ts';

const PROFILE = valueOption('profile', 'PROFILE', 'With "renewals": the CA’s profile; letsencrypt-2028 by default');
const POLICY = valueOption(
  'policy',
  'POLICY',
  'With "renewals": a renewal rule of clients; all by default; may be repeated',
);
const CLIENT = valueOption('client', 'COMMAND', 'With "renewals": a real client, which renews the hostnames');
const DAY = valueOption('day', 'DURATION', 'With --client: how long a day takes; 1s by default');
const EVENT = valueOption(
  'event',
  'EVENT=LENGTH',
  'With "renewals": how long an event takes, or none; may be repeated',
);
const FOR = valueOption('for', 'DURATION', 'With "renewals": how long on the app’s clock; 365d by default');
const FROM = valueOption('from', 'DATE', 'With "renewals": the first day; today by default');
const SEED = valueOption('seed', 'SEED', 'With "renewals": a number that varies the times of the events; 0 by default');
const DARK = valueOption('dark-at-most', 'DURATION', 'With "renewals": how long a name may be dark; 6h by default');
const DATA_DIR: Option = { ...DATA_DIR_FLAG, does: 'With "renewals": the data folder of the Vivarium to ask' };

export const RENEWALS_OPTIONS: readonly Option[] = [
  PROFILE,
  CLIENT,
  DAY,
  POLICY,
  EVENT,
  FOR,
  FROM,
  SEED,
  DARK,
  DATA_DIR,
];

export const RENEWALS_WORD = 'renewals';

const DEFAULT_PROFILE = 'letsencrypt-2028';
const DAYS_MAX = 3_660;
/** Maximum number of certificates, each under every policy. */
const SUBJECTS_MAX = 200;
const ORDERS_READ = 1_000;

const DAY_MS_MIN = 100;
const REHEARSAL_MS_MAX = DAY_MS;
/** What a real client may take for its first certificates, and before a name would go dark. */
const REAL_MS = { firstMs: 120_000, patienceMs: 15_000 };

/** @throws VivariumError when something of the command line is wrong, or no client has a certificate */
export async function rehearseRenewals(read: Arguments, io: Io, host: Host): Promise<Renewals> {
  const names = [...new Set(read.positionals.slice(1).map(readHostname))];
  if (names.length > SUBJECTS_MAX) throw usageError(`Name at most ${SUBJECTS_MAX} hostnames.`);
  const profileName = read.last(PROFILE) ?? DEFAULT_PROFILE;
  const profile = readProfile(profileName);
  const policies = readPolicies(read.flags.get(POLICY.name));
  const lengths = readLengths(read.all(EVENT));
  const days = readLength(read, FOR, 365 * DAY_MS, DAY_MS, DAYS_MAX * DAY_MS) / DAY_MS;
  const darkMsMax = readLength(read, DARK, 6 * HOUR_MS, 0, DAYS_MAX * DAY_MS);
  const seed = read.number(SEED, 0, [0, SEED_MAX]);
  const from = read.last(FROM) ?? new Date(realTime.now()).toISOString().slice(0, 'YYYY-MM-DD'.length);
  const client = read.last(CLIENT);
  checkClient(read, names);
  const subjects = names.length > 0 ? names.map((name) => ({ names: [name] })) : await registered(read, io);
  const year = planYear({ seed, fromMs: readDate(from), days, names: subjects.flatMap((each) => each.names), lengths });
  const courses =
    client === undefined
      ? subjects.flatMap((subject) => policies.map((policy) => follow(policy, subject, profile, year, seed)))
      : await observeClient(
          {
            ...REAL_MS,
            names,
            year,
            lifetimeMs: profile.lifetimeMs,
            dayMs: readDay(read, days, profileName),
            command: client,
          },
          profileName,
          io,
          host,
        );
  return { command: repeatOf(read, from), profile: profileName, year, courses, darkMsMax };
}

/** Checks options that need one another. */
function checkClient(read: Arguments, names: readonly string[]): void {
  if (!read.has(CLIENT)) {
    if (read.has(DAY)) throw usageError('--day is for --client.');
    return;
  }
  if (names.length === 0) throw usageError('Name the hostnames for which the client obtains certificates.');
  if (read.has(POLICY)) throw usageError('Give --policy or --client, not both.');
}

/** Real milliseconds of a day, short enough for the whole time, and long enough for the dates of a certificate. */
function readDay(read: Arguments, days: number, profile: string): number {
  const dayMs = Math.round(durationOf(`--${DAY.name}`, read.last(DAY) ?? '1s'));
  if (dayMs < DAY_MS_MIN || dayMs * days > REHEARSAL_MS_MAX) {
    throw usageError(`--${DAY.name} must be 100ms or more, and the rehearsal at most 24 hours.`);
  }
  if (findProfile(`${profile}@${dayMs}ms`) !== undefined) return dayMs;
  throw usageError(`--${DAY.name} is too short or too long for certificates of the profile ${profile}.`);
}

/** The certificates that clients have from the running Vivarium. */
async function registered(read: Arguments, io: Io): Promise<Subject[]> {
  const dataDir = read.dataDir(io);
  const orders = await askFor(findRunning(dataDir), 'acme.orders', { limit: ORDERS_READ });
  const sets = new Map(
    orders.filter(({ status }) => status === 'valid').map(({ names }) => [names.toSorted().join(' '), { names }]),
  );
  if (sets.size > SUBJECTS_MAX)
    throw usageError(`There are more than ${SUBJECTS_MAX} certificates. Name some hostnames.`);
  if (sets.size > 0) return [...sets.values()];
  throw usageError(
    `No ACME client has a certificate from this Vivarium. Obtain one with a client, or name hostnames: ` +
      typed('vivarium rehearse renewals shop.acme.test'),
  );
}

/** The command with an explicit start day, so that it can be repeated later. */
function repeatOf(read: Arguments, from: string): string {
  const given = [...read.flags]
    .filter(([name]) => name !== FROM.name && RENEWALS_OPTIONS.some((option) => option.name === name))
    .flatMap(([name, values]) => values.map((text) => `--${name} ${posixWord(text)}`));
  return ['vivarium rehearse', ...read.positionals.map(posixWord), `--from ${posixWord(from)}`, ...given].join(' ');
}

function readHostname(text: string): string {
  const isHostname =
    text.length <= 253 && /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z0-9-]+$/i.test(text);
  if (!isHostname) throw usageError(`${JSON.stringify(text)} is not a hostname such as shop.acme.test.`);
  return text.toLowerCase();
}

function readProfile(name: string): Profile {
  const profile = findProfile(name);
  if (profile !== undefined) return profile;
  const names = Object.keys(describeProfiles());
  throw usageError(
    `There is no profile ${JSON.stringify(name)}.${didYouMean(name, names)} There are ${names.join(', ')}.`,
  );
}

function readPolicies(given: readonly string[] | undefined): readonly Policy[] {
  if (given === undefined) return POLICIES;
  const names = POLICIES.map(({ name }) => name);
  const unknown = given.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw usageError(`There is no policy ${JSON.stringify(unknown)}. There are ${names.join(', ')}.`);
  }
  return POLICIES.filter(({ name }) => given.includes(name));
}

function readLengths(given: readonly string[]): Partial<Record<EventKind, number | null>> {
  return Object.fromEntries(
    given.map((text) => {
      const [kind = '', length = ''] = text.split('=', 2);
      if (!isEventKind(kind) || length === '') {
        throw usageError(
          `--event must be ${EVENT_KINDS.join(', ')} with a length or none, such as caa=30d, not ${JSON.stringify(text)}.`,
        );
      }
      if (length === 'none') return [kind, null];
      if (kind === 'revocation')
        throw usageError('--event revocation has no length, only none: it happens at one moment.');
      return [kind, durationOf(`--event ${kind}`, length)];
    }),
  );
}

function readLength(read: Arguments, { name }: Option, otherwise: number, least: number, most: number): number {
  const text = read.last({ name });
  const ms = text === undefined ? otherwise : durationOf(`--${name}`, text);
  if (ms >= least && ms <= most) return ms;
  throw usageError(`--${name} must be from ${least / DAY_MS} to ${most / DAY_MS} days.`);
}

function durationOf(what: string, text: string): number {
  try {
    const ms = parseDuration(text);
    if (ms >= 0) return ms;
  } catch {
    // Said below.
  }
  throw usageError(`${what} must be ${DURATION_FORMS}, not ${JSON.stringify(text)}.`);
}

function readDate(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw usageError(`--${FROM.name} must be a day such as 2028-02-16, not ${JSON.stringify(text)}.`);
}

/** Suffixes that every root permits. */
const PERMITTED = /(?:^|\.)(?:localhost|test|example|internal)$/;

/**
 * Runs a client on a separate engine, with `profile@day` as its directory, and observes it.
 * @throws VivariumError, or an Error with a sentence, when it could not run
 */
export function observeClient(observation: Observation, profile: string, io: Io, host: Host): Promise<Course[]> {
  return withOwnEngines('rehearsal', io, host, async (start, signal) => {
    const engine = await start();
    const { dataDir, https, caFile } = engine.runtime;
    const call = engine.asking(signal);
    const [acmeHttpPort, acmeTlsPort] = [await freePort(), await freePort()];
    await call('settings.update', { acmeHttpPort, acmeTlsPort });
    await call('clock.freeze', {});
    await call('clock.set', { to: new Date(observation.year.fromMs).toISOString() });
    for (const name of observation.names) {
      if (!PERMITTED.test(name)) await call('ca.extend', { suffix: name.replace(/^\*\./, ''), confirm: true });
    }
    const folder = join(dataDir, 'client');
    await mkdir(folder);
    const env = {
      ...withBinFolders(io),
      ...engine.children.variables,
      VIVARIUM_ACME_DIRECTORY: directoryUrl(
        originOf('https', 'localhost', https.port),
        `${profile}@${observation.dayMs}ms`,
      ),
      VIVARIUM_ACME_ROOT: caFile,
      VIVARIUM_ACME_HTTP_PORT: String(acmeHttpPort),
      VIVARIUM_ACME_TLS_PORT: String(acmeTlsPort),
      VIVARIUM_ACME_FOLDER: folder,
      VIVARIUM_DATA_DIR: dataDir,
      // Caddy's storage folder: certificates of a rehearsal must not mix with the user's.
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    };
    return await observe(observation, {
      call,
      start: () => startApp(shellWords(observation.command, io.platform), env, { ...io, toStderr: true }),
      async sleep(ms) {
        await sleep(ms, signal);
        signal.throwIfAborted();
      },
      monotonic: () => realTime.monotonic(),
      say: (sentence) => io.stderr.write(`${FAILURE_PREFIX}${printable(sentence)}\n`),
    });
  });
}
