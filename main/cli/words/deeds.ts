import { commandLine } from '../../base/system/own-command.ts';
import {
  changesText,
  entriesText,
  hasFailed,
  isStepped,
  lanText,
  limitsText,
  machinePlanText,
  machineStatusText,
  machineUndoneText,
  manyPets,
  orderText,
  providersText,
  rehearsedText,
  runRows,
  shownDomain,
  signingText,
  snippetsText,
  stepsText,
  usageRows,
  withoutPem,
} from '../text/text-views.ts';
import { posixWord } from '../../base/text/shell.ts';
import { counted, printable, printableLines, table } from '../text/text.ts';
import { renderResult } from '../text/render.ts';
import type { Deed, Deeds } from './deed.ts';
import { BREAKS, DRILLS, repairedText } from './break.ts';
import { MANNERS_DEEDS } from './manners.ts';
import { formatOffset, parseDuration } from '../../contract/duration.ts';
import type { ClockReading } from '../../contract/status.ts';
import type { RestoredSnapshot, SnapshotInfo } from '../../contract/snapshots.ts';

const names = { inputs: { name: { names: 'snapshots.list' } } } as const;

export const SNAPSHOTS: Deeds['snapshots'] = {
  list: {
    offers: ({ name, createdAt }) => [name, createdAt],
    view: (snapshots) =>
      table(
        ['name', 'clock', 'size', ''],
        snapshots.map((each) => [each.name, each.createdAt, sizeOf(each), each.fault ?? '']),
      ),
    empty: ['There is no snapshot yet. Save one:', 'snapshot save before-demo'],
  },
  save: {
    inputs: { ...names.inputs, file: { isFile: true } },
    view: (snapshot, { asked }) =>
      asked['file'] === undefined
        ? `Saved: ${snapshot.name} (${sizeOf(snapshot)}).\n`
        : `Written: ${printable(String(asked['file']))} (${sizeOf(snapshot)}). It contains no private keys of the root or of certificates, and no secrets of API keys.\n`,
    notes: [
      'Saves projects, pets, zones, domains, certificates, API keys, limits with used counts and bans, settings and the',
      'clock, while requests are answered. With --traffic, also the recorded requests, with their secrets redacted as',
      'Traffic shows them. With --file, into a file for another machine: without the root’s key, private keys of',
      'certificates, keys for updates and secrets of API keys; the root there issues new certificates.',
    ],
  },
  restore: {
    ...names,
    view: restoredText,
    notes: [
      'Replaces all that is in a snapshot, without a restart. The clock continues from the moment of the snapshot if it had',
      'been moved or frozen then, and shows the real time if it had not. Traffic is replaced only by a snapshot that was',
      'saved with --traffic. Settings of this machine stay: the root, the ports, trusted proxies. Running breaks are repaired',
      'and a running drill is ended first, as "vivarium break off --all" does. With --keep NAME, the present world, thus',
      'repaired, is saved under that name.',
    ],
  },
  restoreFile: {
    words: 'restore',
    by: 'file',
    inputs: { file: { isFile: true, isWord: false } },
    view: (snapshot, { own }) =>
      `${restoredText(snapshot)}To go back to the world before: ${own(`vivarium snapshot restore ${snapshot.previous}`)}\n`,
    notes: ['Before that, the present world is saved as one of the snapshots before-file-1 to before-file-3.'],
  },
  remove: { ...names, says: (snapshot) => `Removed: ${snapshot.name} (${sizeOf(snapshot)}).` },
};

function restoredText({ name, createdAt, realTime, ended = [] }: RestoredSnapshot): string {
  const clock = realTime ? 'shows the real time' : `continues from ${createdAt}`;
  return `Restored: ${name}. The clock ${clock}.\n${repairedText(ended)}`;
}

function sizeOf({ bytes, requests }: SnapshotInfo): string {
  const size = `${Math.ceil(bytes / 1_024).toLocaleString('en')} KiB`;
  return requests === undefined
    ? size
    : `${size}, ${requests.toLocaleString('en')} recorded ${requests === 1 ? 'request' : 'requests'}`;
}

const certificate = {
  view: withoutPem<{ hostname: string }>(({ hostname }) => commandLine`vivarium certificate export ${hostname}`),
};
const root = { view: withoutPem<object>(() => 'vivarium ca export') };
const ofZone = { inputs: { name: { names: 'zones.list' } } };
const clock = {
  shows: <Reading extends ClockReading>(reading: Reading) => ({
    ...reading,
    offset: formatOffset(parseDuration(reading.offset)),
  }),
};
const lan = { view: lanText };
const machine = (when: string, state: 'applied' | 'undone') =>
  [when, ({ changes }: { changes: { state: string }[] }) => changes.some((change) => change.state !== state)] as const;

/** By namespace and procedure. A procedure without an entry shows its result as a table, or as names and values. */
const DEEDS: Deeds = {
  projects: {
    list: {
      offers: ({ slug, name, plan }) => [slug, `${name}, ${plan}`],
      first: ['name', 'slug', 'plan', 'baseUrl.production', 'id'],
      empty: ['There are no projects. Create one:', 'project create Shop'],
    },
    remove: { isNamed: true, says: ({ name, id }) => `Removed ${name} (${id}).` },
  },
  deploys: {
    create: { failed: ['the status is failed', ({ status }) => status === 'failed'] },
    list: { empty: ['The project has not been deployed. Deploy it:', 'deploy create PROJECT'] },
  },
  keys: {
    list: {
      offers: ({ name, revokedAt }) => (revokedAt === undefined ? [name] : null),
      first: ['name', 'prefix', 'lastUsedAt', 'revokedAt', 'createdAt'],
      empty: ['The project has no API keys. Create one:', 'key create PROJECT --name Mine'],
    },
    revoke: { says: ({ id, name, prefix }) => `Revoked ${name === '' ? id : name} (${prefix}…).` },
  },
  limits: {
    usage: {
      shows: usageRows,
      empty: ['No requests of the project are counted at present. To find the address to call:', 'project list'],
    },
    reset: { shows: usageRows, empty: ['No requests of the project have been counted.'] },
    unban: { says: ({ keyId, lifted }) => (lifted ? `Lifted the ban of ${keyId}.` : `${keyId} was not banned.`) },
  },
  pets: {
    list: { cursor: 'after', empty: ['There are no such pets. Add some:', 'pet seed PROJECT 10'] },
    remove: { says: ({ id, name }) => `Removed pet ${id} (${name}).` },
    updateMany: { says: ({ before, missing }) => manyPets('Changed', before.length, missing) },
    removeMany: { says: ({ removed, missing }) => manyPets('Removed', removed.length, missing) },
    clear: {
      says: ({ removed, left }) =>
        `Removed ${counted(removed, 'pet', 'pets')}${left > 0 ? `; ${counted(left, 'is', 'are')} left` : ''}.`,
    },
  },
  orders: {
    list: { empty: ['There are no such orders.'] },
    remove: { says: ({ id }) => `Removed order ${id}.` },
  },
  domains: {
    attach: {
      inputs: { hostname: { names: null } },
      view: (result, shown) =>
        isStepped(result) ? stepsText(result, shown) : renderResult(shownDomain(result), shown),
      failed: ['with --local: a step failed', (result) => isStepped(result) && hasFailed(result)],
    },
    list: {
      offers: ({ hostname, state }) => [hostname, state],
      first: ['hostname', 'state', 'certificate.state', 'kind'],
      empty: ['No domains are attached. Attach one:', 'domain attach PROJECT shop.acme.test --local'],
    },
    get: { shows: shownDomain },
    verify: {
      shows: shownDomain,
      failed: [
        'the state is not verified, a check failed, or the certificate failed',
        (domain) =>
          domain.state !== 'verified' ||
          domain.certificate.state === 'failed' ||
          domain.checks.some(({ outcome }) => outcome === 'failed'),
      ],
    },
    remove: { says: ({ hostname }) => `Removed ${hostname}.` },
    export: { isDocument: true },
  },
  zones: {
    list: { offers: ({ name }) => [name], empty: ['There are no zones. Create one:', 'zone create acme.test'] },
    remove: { ...ofZone, says: ({ name }) => `Removed ${name}.` },
    export: ofZone,
    import: ofZone,
    rehearse: {
      inputs: {
        text: { flag: 'file', isContent: true, does: 'the zone file; - is standard input' },
        hostname: { isWord: true, names: null },
      },
      view: rehearsedText,
      failed: [
        'a provider would issue no certificate for the hostname',
        ({ providers }) => providers.some(({ certificate: { state } }) => state !== 'issued'),
      ],
      notes: [
        'Reads a customer’s zone file and says what each provider would about a hostname in it: by the names, addresses and CAs',
        'that the provider publishes, or by Vivarium’s own where a record leads below vivarium.localhost. A provider that gives',
        'each customer a name of its own is shown with an example; --target names the real one. A TXT record that the provider',
        'requires counts with any text. Nothing is created.',
      ],
      examples: [
        'vivarium zone rehearse acme.zone www.acme.example',
        'vivarium zone rehearse acme.zone --persona cloudflare --target customers.shop.example',
      ],
    },
    updateKey: { ...ofZone, view: ({ file }) => printableLines(file) },
    dnssec: { ...ofZone, view: (signing) => printableLines(signingText(signing)) },
  },
  records: {
    list: { empty: ['There are no such records.'] },
    remove: {
      says: ({ zone, name, type, value, visibleAt }) =>
        `Removed ${name} ${type} ${value} from ${zone}; it is answered until ${visibleAt}.`,
    },
  },
  dns: { query: { inputs: { type: { isWord: true } } } },
  caa: {
    explain: { failed: ['the verdict is forbidden or lookup_failed', ({ verdict }) => verdict !== 'allowed'] },
  },
  certificates: {
    list: { first: ['hostname', 'state', 'notAfter'] },
    renew: certificate,
    revoke: certificate,
  },
  ca: {
    extend: root,
    retract: { ...root, failed: ['a trust store still has the wider root', ({ left }) => left.length > 0] },
    renew: root,
    trust: { failed: ['the store does not trust the root', ({ state }) => state !== 'trusted'] },
    untrust: {
      failed: [
        'the store cannot be changed without the command in the answer',
        ({ state, command }) => state === 'unavailable' || (state === 'trusted' && command !== undefined),
      ],
    },
  },
  acme: {
    accounts: { empty: ['No ACME client has an account. Its directory URL is acme.directoryUrl in runtime.json.'] },
    externalKeys: { empty: ['There are no external keys. Create one:', 'acme create-external-key'] },
    revokeExternalKey: { says: ({ id }) => `Revoked ${id}.` },
    orders: { empty: ['There are no such orders.'] },
    explain: { view: orderText },
    revoke: { view: orderText },
    refusals: { empty: ['No request of an ACME client has been refused since the start.'] },
    limits: { view: limitsText },
    resetLimits: { view: limitsText },
  },
  clock: { get: clock, advance: clock, set: clock, freeze: clock, resume: clock, reset: clock },
  traffic: {
    list: {
      isAlone: true,
      view: entriesText,
      cursor: 'before',
      empty: ['No requests match. To find the address to call:', 'project list'],
    },
    running: { view: entriesText, empty: ['No requests are in progress.'] },
    clear: { says: ({ cleared }) => `Removed ${counted(cleared, 'entry', 'entries')}.` },
    har: { isDocument: true },
  },
  providers: {
    list: { view: providersText },
    connect: {
      words: 'env',
      inputs: { pid: { isSilent: true } },
      view: ({ env, unset }) =>
        [
          ...Object.entries(env).map(([name, value]) => `export ${name}=${posixWord(value)}`),
          ...unset.map((name) => `unset ${name}`),
        ]
          .map((line) => `${printable(line)}\n`)
          .join(''),
      notes: [
        'Prints the variables with which a program in this shell reaches the provider’s API here, in front of the project:',
        'the token, the proxy, the certificates: eval "$(vivarium provider env vercel shop)". Other hosts are not reached by',
        'this proxy; "vivarium run --as" passes them on.',
      ],
      examples: ['vivarium provider env vercel shop'],
    },
    ask: {
      view: ({ answers }) =>
        answers
          .map(
            ({ call, status, body }) =>
              `${printable(call)}: ${status}\n${printableLines(JSON.stringify(body, null, 2))}\n`,
          )
          .join('\n'),
      examples: ['vivarium provider ask www.acme.test', 'vivarium provider ask www.acme.test --provider cloudflare'],
    },
    disconnect: { says: ({ id }) => `Closed ${id}. Its token is refused from now on.` },
  },
  reach: { snippets: { view: snippetsText } },
  runs: {
    list: {
      shows: runRows,
      empty: ['No command is served at a hostname. Run yours:', 'run app.acme.test -- npm run dev'],
    },
    close: { says: ({ id }) => `Ended ${id}.` },
  },
  machine: {
    plan: { view: machinePlanText },
    apply: {
      view: ({ changes }, { style }) => `${changesText(changes, style)}\n`,
      failed: machine('the change is not made', 'applied'),
    },
    undo: { view: machineUndoneText, failed: machine('a change is left', 'undone') },
    status: { view: machineStatusText },
  },
  lan: { status: lan, start: lan, stop: lan },
  breaks: BREAKS,
  drills: DRILLS,
  examinations: {
    list: {
      offers: ({ id, subject }) => [id, subject],
      empty: ['No test suite was examined. Examine yours:', 'examine -- npm test'],
    },
    get: { inputs: { id: { names: 'examinations.list' } } },
    requests: {
      inputs: { id: { names: 'examinations.list' } },
      pick: ({ har }) => JSON.parse(har) as unknown,
      isDocument: true,
    },
    changed: { command: 'examine' },
  },
  manners: MANNERS_DEEDS,
  snapshots: SNAPSHOTS,
  status: { get: { command: 'status' } },
  backup: { create: { command: 'backup create' } },
  doctor: { run: { command: 'doctor', failed: ['a check failed', ({ counts }) => counts.failed > 0] } },
  world: {
    export: { command: 'export' },
    diff: { command: 'up --dry-run' },
    apply: { command: 'up' },
    owners: {
      shows: (owners) => owners.flatMap(({ file, entries }) => entries.map(({ kind, what }) => ({ kind, what, file }))),
      empty: ['No file owns anything. Apply one:', 'up'],
    },
  },
};

/** All entries, by the procedure's name, such as `pets.list`. */
export const ALL_DEEDS: ReadonlyMap<string, Deed> = new Map(
  Object.entries(DEEDS).flatMap(([namespace, deeds]) =>
    Object.entries(deeds as Record<string, Deed>).map(([name, deed]) => [`${namespace}.${name}`, deed]),
  ),
);

export const deedOf = (called: string): Deed => ALL_DEEDS.get(called) ?? {};
