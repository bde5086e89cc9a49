import { formatOffset, parseDuration } from '../../contract/duration.ts';
import type { AcmeExplanation, AcmeExternalKeyInfo, AcmeLimits } from '../../contract/acme.ts';
import type { Certificate } from '../../contract/certificates.ts';
import type { ClockReading } from '../../contract/clock.ts';
import type { ApiKey } from '../../contract/keys.ts';
import type { AttachStep, Domain } from '../../contract/domains.ts';
import type { CallerUsage } from '../../contract/limits.ts';
import type { MachineChanges, MachinePlan, MachineStatus } from '../../contract/machine.ts';
import type { OrderRecord } from '../../contract/orders.ts';
import type { PetRecord } from '../../contract/pets.ts';
import type { Project } from '../../contract/projects.ts';
import type { ReachSnippets } from '../../contract/reach.ts';
import type { Run } from '../../contract/runs.ts';
import type { TrafficEntry } from '../../contract/traffic.ts';
import type { RecordInfo, UpdateKey, ZoneDnssec, ZoneInfo } from '../../contract/zones.ts';
import type { WorldOwner } from '../../contract/world.ts';
import type { LanStatus } from '../../contract/lan.ts';
import {
  renderLimits,
  renderOrder,
  renderLan,
  changesText,
  renderMachinePlan,
  renderMachineStatus,
  renderMachineUndone,
} from './text-views.ts';
import { leftOut, renderEvent, renderObject, renderResult } from './render.ts';
import { type Renderer, type Style, columns, printable, printableLines } from './text.ts';
import { TrafficRows } from './traffic-rows.ts';
import { commandLine, typed } from '../../base/system/own-command.ts';
import { posixWord } from '../../base/text/shell.ts';

/** The parts of an input that a view depends on. */
export interface Asked {
  /** The project asked about, for the commands that name it. */
  projectId?: string;
  language?: string;
}

type View = (result: unknown, renderer: Renderer, asked: Asked) => string;

const view =
  <Result>(render: (result: Result, renderer: Renderer, asked: Asked) => string): View =>
  (result, renderer, asked) =>
    render(result as Result, renderer, asked);

/** One sentence, if the result only repeats the input. */
const sentence = <Result>(say: (result: Result) => string): View =>
  view<Result>((result) => `${printable(say(result))}\n`);

/** The result for a certificate, without its PEM text. */
const withoutPem = <Result extends object>(exportCommand: (result: Result) => string): View =>
  view<Result>((result, renderer) => {
    const rest = Object.fromEntries(Object.entries(result).filter(([name]) => name !== 'pem'));
    return `${renderObject(rest, renderer)}\nThe certificate as PEM: ${typed(exportCommand(result))}\n`;
  });

const BREAKS = {
  expired: 'Its signatures have expired, as you asked',
  missing: 'Its answers lack signatures, as you asked',
  'wrong-key': 'It is signed with a key other than the trust anchor’s, as you asked',
};

function signingText({ name, algorithm, keys = [], signatures, break: broken, anchors }: ZoneDnssec): string {
  if (signatures === undefined || anchors === undefined) {
    return `${name} is not signed. Sign its answers: ${typed(commandLine`vivarium zones dnssec ${name} --signed`)}\n`;
  }
  const retiring = keys.filter(({ retiresAt }) => retiresAt !== undefined);
  return [
    `${name} is signed with ${algorithm}, key ${keys.map(({ tag }) => tag).join(' and ')}.`,
    ...retiring.map(({ tag, retiresAt }) => `Key ${tag} retires at ${retiresAt} on Vivarium’s clock.`),
    `Its signatures are valid from ${signatures.from} to ${signatures.until}, on Vivarium’s clock.`,
    ...(broken === undefined
      ? []
      : [`${BREAKS[broken]}. To fix it: ${typed(commandLine`vivarium zones dnssec ${name} --break none`)}`]),
    '',
    'The trust anchor, as a trust-anchor-file of unbound:',
    '',
    anchors.unbound,
    `For delv -a, with +root=${name}:`,
    '',
    anchors.delv,
  ].join('\n');
}

/** Texts to copy begin at the left margin, because Python minds its indentation. One language is shown alone. */
function renderSnippets({ snippets, pac, ...rest }: ReachSnippets, renderer: Renderer, { language }: Asked): string {
  const { style } = renderer;
  const block = (title: string, texts: readonly (string | undefined)[]) => [
    '',
    style.heading(printable(title)),
    ...texts.flatMap((text) => (text === undefined || text === '' ? [] : ['', printableLines(text).trimEnd()])),
  ];
  const texts = snippets.flatMap(({ title, text, note }) => block(title, [text, note]));
  if (language !== undefined) return `${texts.slice(1).join('\n')}\n`;
  return `${[
    renderObject(rest, renderer).trimEnd(),
    ...texts,
    ...block(pac.title, [pac.note, pac.commands, 'To undo it:', pac.undo]),
    '',
    `Names and ports for the whole system: ${typed(commandLine`vivarium machine plan ${rest.hostname}`)}`,
  ].join('\n')}\n`;
}

/** Rows of requests. */
function renderEntries({ items, ...rest }: { items: TrafficEntry[] }, renderer: Renderer): string {
  const rows = new TrafficRows();
  rows.fitTo(items);
  const { line, left } = rows.header(renderer);
  const lines = [line, ...items.map((entry) => rows.row(entry, renderer)), ...leftOut(left, renderer)];
  return `${lines.join('\n')}\n\n${renderObject(rest, renderer)}`;
}

const counted = (count: number, one: string, more: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : more}`;

/** The same columns for every caller, whichever windows it has opened. */
const renderUsage = (callers: readonly CallerUsage[], renderer: Renderer): string =>
  renderResult(
    callers.map(({ caller, key, minute, day, strikes, bannedUntil }) => ({
      caller: key === undefined ? caller.replace(/^address:/, '') : `${key.name} ${key.prefix}…`.trimStart(),
      minute: `${minute.used} of ${minute.limit}`,
      day: `${day.used} of ${day.limit}`,
      'minute ends': minute.resetsAt,
      'day ends': day.resetsAt,
      strikes,
      'banned until': bannedUntil,
      // What `limits reset --caller` takes.
      id: caller,
    })),
    renderer,
  );

const clockView = view<ClockReading>((reading, renderer) =>
  renderObject({ ...reading, offset: formatOffset(parseDuration(reading.offset)) }, renderer),
);

/** What a check that passed is about: its code names the problem that it did not find. */
const PASSED: Record<string, string | undefined> = {
  wrong_target: 'target',
  a_conflict: 'addresses',
  alias_mismatch: 'addresses',
  txt_missing: 'TXT',
  caa_forbids: 'CAA',
};

const domainView = view<Domain>((domain, renderer) =>
  renderResult(
    {
      ...domain,
      checks: domain.checks.map((check) => ({
        ...check,
        code: (check.outcome === 'ok' ? PASSED[check.code] : undefined) ?? check.code,
      })),
    },
    renderer,
  ),
);

/** The ids without a pet; there may be a thousand. */
function manyPets(done: string, count: number, missing: readonly string[]): string {
  const named = missing.slice(0, MISSING_NAMED).join(', ') + (missing.length > MISSING_NAMED ? ', …' : '');
  const rest = missing.length === 0 ? '' : `; there is no pet ${named}`;
  return `${done} ${counted(count, 'pet', 'pets')}${rest}.`;
}

const MISSING_NAMED = 10;

/** Results that are not shown as a table or as names and values. */
const VIEWS: Record<string, View | undefined> = {
  'projects.remove': sentence<Project>(({ name, id }) => `Removed ${name} (${id}).`),
  'keys.revoke': sentence<ApiKey>(({ id, name, prefix }) => `Revoked ${name === '' ? id : name} (${prefix}…).`),
  'limits.unban': sentence<{ keyId: string; lifted: boolean }>(({ keyId, lifted }) =>
    lifted ? `Lifted the ban of ${keyId}.` : `${keyId} was not banned.`,
  ),
  'pets.remove': sentence<PetRecord>(({ id, name }) => `Removed pet ${id} (${name}).`),
  'pets.updateMany': sentence<{ before: PetRecord[]; missing: string[] }>(({ before, missing }) =>
    manyPets('Changed', before.length, missing),
  ),
  'pets.removeMany': sentence<{ removed: PetRecord[]; missing: string[] }>(({ removed, missing }) =>
    manyPets('Removed', removed.length, missing),
  ),
  'pets.clear': sentence<{ removed: number; left: number }>(
    ({ removed, left }) =>
      `Removed ${counted(removed, 'pet', 'pets')}${left > 0 ? `; ${counted(left, 'is', 'are')} left` : ''}.`,
  ),
  'orders.remove': sentence<OrderRecord>(({ id }) => `Removed order ${id}.`),
  'domains.attach': (result, renderer, asked) =>
    isStepped(result) ? renderSteps(result, renderer.style) : domainView(result, renderer, asked),
  'domains.get': domainView,
  'domains.verify': domainView,
  'domains.remove': sentence<Domain>(({ hostname }) => `Removed ${hostname}.`),
  'certificates.renew': withoutPem<Certificate>(
    ({ hostname }) => commandLine`vivarium certificates export ${hostname}`,
  ),
  'certificates.revoke': withoutPem<Certificate>(
    ({ hostname }) => commandLine`vivarium certificates export ${hostname}`,
  ),
  'ca.extend': withoutPem(() => 'vivarium ca export'),
  'ca.retract': withoutPem(() => 'vivarium ca export'),
  'ca.renew': withoutPem(() => 'vivarium ca export'),
  'acme.revokeExternalKey': sentence<AcmeExternalKeyInfo>(({ id }) => `Revoked ${id}.`),
  'acme.explain': view<AcmeExplanation>(renderOrder),
  'acme.revoke': view<AcmeExplanation>(renderOrder),
  'acme.limits': view<AcmeLimits>(renderLimits),
  'acme.resetLimits': view<AcmeLimits>(renderLimits),
  'zones.remove': sentence<ZoneInfo>(({ name }) => `Removed ${name}.`),
  'zones.dnssec': view<ZoneDnssec>((signing) => printableLines(signingText(signing))),
  'zones.updateKey': view<UpdateKey>(({ file }) => printableLines(file)),
  'records.remove': sentence<RecordInfo>(
    ({ zone, name, type, value, visibleAt }) =>
      `Removed ${name} ${type} ${value} from ${zone}; it is answered until ${visibleAt}.`,
  ),
  'runs.close': sentence<{ id: string }>(({ id }) => `Ended ${id}.`),
  'world.owners': view<WorldOwner[]>((owners, renderer) =>
    renderResult(
      owners.flatMap(({ file, entries }) => entries.map(({ kind, what }) => ({ kind, what, file }))),
      renderer,
    ),
  ),
  'runs.list': view<Run[]>((runs, renderer) =>
    renderResult(
      runs.map(({ urls, target, pid, command, folder, since }) => ({
        address: urls[0],
        target: target ?? 'no port yet',
        pid,
        command,
        folder,
        since,
      })),
      renderer,
    ),
  ),
  'reach.snippets': view<ReachSnippets>(renderSnippets),
  'machine.plan': view<MachinePlan>((plan, { style }) => renderMachinePlan(plan, style)),
  'machine.apply': view<MachineChanges>(({ changes }, { style }) => `${changesText(changes, style)}\n`),
  'machine.undo': view<MachineChanges>((undone, { style }) => renderMachineUndone(undone, style)),
  'machine.status': view<MachineStatus>((status, { style }) => renderMachineStatus(status, style)),
  'lan.status': view<LanStatus>(renderLan),
  'lan.start': view<LanStatus>(renderLan),
  'lan.stop': view<LanStatus>(renderLan),
  'limits.usage': view<CallerUsage[]>(renderUsage),
  'limits.reset': view<CallerUsage[]>(renderUsage),
  'clock.get': clockView,
  'clock.advance': clockView,
  'clock.set': clockView,
  'clock.freeze': clockView,
  'clock.resume': clockView,
  'clock.reset': clockView,
  'traffic.clear': sentence<{ cleared: number }>(({ cleared }) => `Removed ${counted(cleared, 'entry', 'entries')}.`),
  'traffic.list': view(renderEntries),
  'traffic.running': view(renderEntries),
};

/** Columns that tables begin with: a narrow terminal has no room for the others. */
const FIRST_COLUMNS: Record<string, readonly string[] | undefined> = {
  'projects.list': ['name', 'slug', 'plan', 'baseUrl.production', 'id'],
  'keys.list': ['name', 'prefix', 'lastUsedAt', 'revokedAt', 'createdAt'],
  'certificates.list': ['hostname', 'state', 'notAfter'],
  'domains.list': ['hostname', 'state', 'certificate.state', 'kind'],
};

/**
 * What an empty list means, and the command that changes it, if there is one. `PROJECT` stands for the project asked
 * about.
 */
export const EMPTY: Record<string, readonly [sentence: string, command?: string] | undefined> = {
  'projects.list': ['There are no projects. Create one:', 'projects create Shop'],
  'keys.list': ['The project has no API keys. Create one:', 'keys create PROJECT --name Mine'],
  'domains.list': ['No domains are attached. Attach one:', 'domains attach PROJECT shop.acme.test --local'],
  'zones.list': ['There are no zones. Create one:', 'zones create acme.test'],
  'acme.accounts': ['No ACME client has an account. Its directory URL is acme.directoryUrl in runtime.json.'],
  'acme.externalKeys': ['There are no external keys. Create one:', 'acme create-external-key'],
  'acme.orders': ['There are no such orders.'],
  'acme.refusals': ['No request of an ACME client has been refused since the start.'],
  'records.list': ['There are no such records.'],
  'deploys.list': ['The project has not been deployed. Deploy it:', 'deploys create PROJECT'],
  'pets.list': ['There are no such pets. Add some:', 'pets seed PROJECT 10'],
  'orders.list': ['There are no such orders.'],
  'traffic.list': ['No requests match. To find the address to call:', 'projects list'],
  'world.owners': ['No file owns anything. Apply one:', 'up'],
  'runs.list': ['No command is served at a hostname. Run yours:', 'run app.acme.test -- npm run dev'],
  'traffic.running': ['No requests are in progress.'],
  'limits.reset': ['No requests of the project have been counted.'],
  'limits.usage': ['No requests of the project are counted at present. To find the address to call:', 'projects list'],
};

/** Renders the result of `procedure` as text for people. */
export function renderFor(procedure: string, result: unknown, renderer: Renderer, asked: Asked = {}): string {
  const empty = EMPTY[procedure];
  if (empty !== undefined && itemsOf(result)?.length === 0) {
    const [sentence, command] = empty;
    const line = `${[sentence, ...(command === undefined ? [] : [typed(`vivarium ${command.replace('PROJECT', () => posixWord(asked.projectId ?? 'demo'))}`)])].join(' ')}\n`;
    const { items: _items, ...rest } = result as Record<string, unknown>;
    return Object.keys(rest).length === 0 ? line : `${line}\n${renderObject(rest, renderer)}`;
  }
  const view = VIEWS[procedure];
  return view === undefined ? renderResult(result, renderer, FIRST_COLUMNS[procedure]) : view(result, renderer, asked);
}

function itemsOf(result: unknown): readonly unknown[] | null {
  const items = Array.isArray(result) ? result : (result as { items?: unknown } | null)?.items;
  return Array.isArray(items) ? items : null;
}

/** What one value of a stream writes for people: lines for standard output, and notices for standard error. */
export interface StreamText {
  lines: string;
  notices: string[];
}

/** Shows the values of one stream. */
export interface StreamView {
  /** Written once, before the first value. */
  header(renderer: Renderer): string;
  value(value: unknown, renderer: Renderer): StreamText;
}

interface TrafficBatch {
  entries: TrafficEntry[];
  missed: number;
  cleared: boolean;
}

export function createStreamView(procedure: string): StreamView {
  if (procedure !== 'traffic.watch') {
    return { header: () => '', value: (value, renderer) => ({ lines: renderEvent(value, renderer), notices: [] }) };
  }
  const rows = new TrafficRows();
  return {
    header: (renderer) => `${rows.header(renderer).line}\n`,
    value(value, renderer) {
      const { entries, missed, cleared } = value as TrafficBatch;
      return {
        lines: entries.map((entry) => `${rows.row(entry, renderer)}\n`).join(''),
        notices: [
          ...(cleared ? ['The earlier entries were deleted.'] : []),
          ...(missed > 0 ? [`${counted(missed, 'more request', 'more requests')} arrived too fast to be shown.`] : []),
        ],
      };
    },
  };
}

/**
 * The JSON texts of one value of a stream, one a line. A batch of `traffic watch` becomes `{"cleared":true}` if the
 * entries before it were deleted, its entries, and `{"missed":n}` if n further ones came too fast.
 */
export function jsonTexts(procedure: string, json: string): string[] {
  if (procedure !== 'traffic.watch') return [json];
  const { entries, missed, cleared } = JSON.parse(json) as TrafficBatch;
  const values = [...(cleared ? [{ cleared }] : []), ...entries, ...(missed > 0 ? [{ missed }] : [])];
  return values.map((value) => JSON.stringify(value));
}

/** Procedures whose result is itself a JSON document for other programs. */
const JSON_DOCUMENTS: ReadonlySet<string> = new Set(['traffic.har', 'domains.export']);

/** Fields that may accompany the content of a file. */
const FACTS: ReadonlySet<string> = new Set(['format', 'fileName', 'baseUrl']);

/**
 * The file in a result such as an exported certificate or zone: `text`, `document` or `base64` with nothing but
 * metadata beside it, or a whole JSON document. Null for any other result.
 */
export function fileContent(procedure: string, result: unknown): string | Uint8Array | null {
  if (JSON_DOCUMENTS.has(procedure)) return `${JSON.stringify(result, null, 2)}\n`;
  if (typeof result !== 'object' || result === null) return null;
  const entries = Object.entries(result).filter(([name]) => !FACTS.has(name));
  const [[name, content] = ['', null], surplus] = entries;
  if (surplus !== undefined || typeof content !== 'string') return null;
  if (name === 'text' || name === 'document') return content;
  return name === 'base64' ? Buffer.from(content, 'base64') : null;
}

/** A result that reports the progress of a call: `domains attach --local`. */
export interface Stepped {
  hostname: string;
  example?: string;
  steps: readonly AttachStep[];
  url?: string;
}

export const isStepped = (result: unknown): result is Stepped =>
  typeof result === 'object' && result !== null && 'steps' in result && Array.isArray(result.steps);

export const hasFailed = ({ steps }: Stepped): boolean => steps.some(({ ok }) => !ok);

/** One line for each step, the fix of the one that failed, and the address. */
export function renderSteps({ hostname, example = hostname, steps, url }: Stepped, style: Style): string {
  const rows = columns(steps.map(({ step, ok, message }) => [step, style.word(ok ? 'ok' : 'failed'), message]));
  const fixes = steps.flatMap(({ fix }) => (fix === undefined ? [] : ['', fix]));
  const undo = [
    typed(commandLine`vivarium domains remove ${hostname}`),
    ...steps.flatMap(({ undo: call }) => call ?? []),
  ];
  const left = hasFailed({ hostname, steps })
    ? ['', 'What was done so far stays, and repeating the command continues there. To remove it:', ...undo]
    : [];
  const open =
    url?.startsWith('https:') === true
      ? ['', `${url}  Open it: ${typed(commandLine`vivarium reach open ${example}`)}`]
      : [];
  return `${[...rows, ...fixes, ...left, ...open].join('\n')}\n`;
}
