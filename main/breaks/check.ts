import { DOH_PATH, LOOK_PREFIX, OWN_HOSTS } from '../base/config.ts';
import { isHopByHop } from '../base/http/message.ts';
import { isWithin, normalizeHostname } from '../base/text/hostname.ts';
import { noEntryText } from '../contract/break-words.ts';
import type { BreakEntry, BreakParameter, BreakSelector } from '../contract/breaks.ts';
import { type InputIssue, invalidRequest, notFound, type VivariumError } from '../contract/errors.ts';
import { didYouMean } from '../contract/issues.ts';
import { mention } from '../contract/calls.ts';
import { PROVIDERS } from '../contract/provider-table.ts';
import { isWildcard, wildcardOver } from '../contract/hostnames.ts';
import type { BreakRow } from '../model/fault.ts';
import { isOfServed, pointOf } from './catalogue/index.ts';
import { projectOf, type Served } from './rule-index.ts';

export interface Breakable {
  catalogue: readonly BreakEntry[];
  served: () => Served;
  /** Whether the local DNS server answers for a name. */
  isInZone: (name: string) => boolean;
  hasKey: (keyId: string) => boolean;
}

export type Rule = BreakRow['rule'];

/** A rule before its defaults. */
export type Asked = Omit<Rule, 'first' | 'after' | 'rate'> & {
  [Name in 'first' | 'after' | 'rate']?: Rule[Name] | undefined;
};

/**
 * Checks an input, and returns its entry and its rule with default parameters.
 * @throws VivariumError `not_found` for an unknown entry, hostname or key; otherwise `invalid_request`.
 */
export function checkRule(
  { entry: id, rate, first, after = 0, ...rest }: Asked & { entry: string },
  breakable: Breakable,
): { entry: BreakEntry; rule: Rule } {
  const { catalogue } = breakable;
  const entry = catalogue.find((each) => each.id === id);
  if (entry === undefined) throw notFound(noEntryText(id, catalogue, ' To list entries: `breaks.catalogue`.'));
  const asked: Rule = { ...rest, ...(first !== undefined && { first }), after, rate: rate ?? entry.rate ?? 1 };
  if (entry.impossible !== undefined) throw invalidRequest(`${id} cannot be produced here: ${entry.impossible}`);
  for (const selector of Object.keys(asked.on) as BreakSelector[]) {
    if (asked.on[selector] !== undefined && !entry.selectors.includes(selector))
      refuse(`on.${selector}`, `does not apply to ${id}, which ${selectedBy(entry)}`);
  }
  if (pointOf(entry) === 'state') {
    const given = {
      first: asked.first !== undefined,
      after: asked.after !== 0,
      nth: asked.nth !== 1,
      rate: asked.rate !== 1,
    };
    for (const [name, isGiven] of Object.entries(given))
      if (isGiven) refuse(name, `does not apply to ${id}: it makes one edit`);
  }
  const on = { ...asked.on };
  if (on.hostname !== undefined) on.hostname = checkHostname(on.hostname, entry, breakable);
  if (on.projectId !== undefined) checkProject(on, breakable);
  if (on.header !== undefined) on.header = { ...on.header, name: on.header.name.toLowerCase() };
  if (on.path !== undefined) checkPath(on.path);
  if (on.method !== undefined && !METHODS.has(on.method))
    refuse('on.method', `"${on.method}" is no method of HTTP, such as "POST"`);
  if (on.keyId !== undefined && !breakable.hasKey(on.keyId))
    throw notFound(`No API key "${on.keyId}". List a project’s: \`keys.list\`.`);
  const parameters = checkParameters(asked.parameters, entry);
  if (BODILESS.has(Number(parameters['status'])) && (parameters['body'] ?? '') !== '')
    refuse('parameters.body', `cannot be sent: an answer of ${parameters['status']} has no body`);
  return { entry, rule: { ...asked, on, parameters } };
}

/** RFC 9110 §6.4.1 */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

/** Those that Node’s parser accepts. */
const METHODS: ReadonlySet<string> = new Set(
  'DELETE GET HEAD POST PUT CONNECT OPTIONS TRACE COPY LOCK MKCOL MOVE PROPFIND PROPPATCH SEARCH UNLOCK BIND REBIND UNBIND ACL REPORT MKACTIVITY CHECKOUT MERGE M-SEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE PATCH PURGE MKCALENDAR LINK UNLINK SOURCE QUERY'.split(
    ' ',
  ),
);

function refuse(path: string, message: string): never {
  throw invalidRequest(`${path}: ${message}.`, {
    issues: [{ path, message } satisfies InputIssue],
  });
}

const selectedBy = ({ selectors }: BreakEntry): string =>
  selectors.length === 0 ? 'affects everything' : `is narrowed by ${selectors.join(', ')} only`;

function checkProject({ projectId = '', hostname }: Rule['on'], { served }: Breakable): void {
  if (hostname !== undefined) refuse('on.projectId', `does not apply beside a hostname (${hostname})`);
  if (projectOf(projectId, served()) !== undefined) return;
  throw notFound(`No project "${projectId}". List them: \`projects.list\`.`);
}

/** Record names may also contain underscores. */
const RECORD_NAME = /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}$/;

const PROVIDER_HOSTS: ReadonlySet<string> = new Set(Object.values(PROVIDERS).flatMap(({ hosts }) => hosts));

/** Whether an entry breaks something that a hostname has only while it is attached. */
export const isOfDomain = (entry: BreakEntry): boolean => entry.family === 'domain' || isOfServed(entry);

/** The number of served hostnames that an error lists. */
const NAMED_MAX = 5;

function checkHostname(text: string, entry: BreakEntry, breakable: Breakable): string {
  const star = isWildcard(text) ? '*.' : '';
  const bare = text.slice(star.length).toLowerCase().replace(/\.$/, '');
  const normal = normalizeHostname(bare);
  const point = pointOf(entry);
  if (OWN_HOSTS.has(bare)) {
    refuse('on.hostname', `"${text}" is Vivarium’s own, which is never broken; choose a hostname of a project`);
  }
  if (point === 'question' && RECORD_NAME.test(bare)) {
    if (!breakable.isInZone(bare)) {
      throw notFound(
        `${bare} is in no local zone, so Vivarium’s DNS server never answers for it. Create the zone first: ${mention('zones.create', { name: bare })}.`,
      );
    }
    return star + bare;
  }
  if (!normal.ok) refuse('on.hostname', `"${text}" is not a hostname, such as "shop.acme.test" or "*.acme.test"`);
  const { hostname } = normal;
  // A provider’s host is served while a connection to it is open, and a break may come first.
  const isOfProvider = star === '' && PROVIDER_HOSTS.has(hostname);
  if (isOfProvider && point === 'handshake') {
    refuse(
      'on.hostname',
      `does not apply to ${entry.id}: the certificates of ${hostname} are made when a connection is opened, and their root’s key is dropped at once; choose one of connections, such as connection.reset-on-accept`,
    );
  }
  if (isOfServed(entry) && !isOfProvider && !isServed(hostname, star !== '', breakable.served()))
    throw notServed(star + hostname, breakable.served());
  return star + hostname;
}

function isServed(hostname: string, isBelow: boolean, served: Served): boolean {
  if (!isBelow) return served.has(hostname) || served.has(wildcardOver(hostname));
  return [...served.keys()].some((each) => each.length > hostname.length && isWithin(each, hostname));
}

function notServed(hostname: string, served: Served): VivariumError {
  const all = [...served.keys()].toSorted();
  const near = didYouMean(hostname, all);
  const more = all.length > NAMED_MAX ? `, and ${all.length - NAMED_MAX} more` : '';
  const list = all.length === 0 ? 'none is' : `these are: ${all.slice(0, NAMED_MAX).join(', ')}${more}`;
  return notFound(`${hostname} is not served; ${list}.${near}`);
}

function checkPath(path: string): void {
  const own = [DOH_PATH, LOOK_PREFIX].find((each) => path === each || (each.endsWith('/') && path.startsWith(each)));
  if (own !== undefined)
    refuse('on.path', `${own} is answered by Vivarium itself and never broken; choose another path`);
  if (path.includes('?')) refuse('on.path', 'must be a path without a query, such as "/v1/pets" or "/v1/*"');
}

function checkParameters(given: Rule['parameters'], entry: BreakEntry): Rule['parameters'] {
  const names = entry.parameters.map(({ name }) => name);
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
    refuse(`parameters.${name}`, `is not a parameter of ${entry.id}; ${known}`);
  }
  return Object.fromEntries(
    entry.parameters.map((parameter) => [parameter.name, checkParameter(given[parameter.name], parameter)]),
  );
}

function checkParameter(given: string | number | undefined, parameter: BreakParameter): string | number {
  if (given === undefined) return parameter.default;
  const path = `parameters.${parameter.name}`;
  if (typeof parameter.default === 'string') {
    const { values } = parameter;
    const text = String(given);
    const fault = parameter.form === 'field' && text !== '' ? fieldFault(text) : null;
    if (fault !== null) refuse(path, fault);
    if (values !== undefined && !values.includes(text)) refuse(path, `must be ${values.join(' or ')}`);
    return text;
  }
  // The command line passes strings only.
  const number = typeof given === 'number' ? given : given.trim() === '' ? NaN : Number(given);
  const { min = -Infinity, max = Infinity } = parameter;
  if (!Number.isInteger(number) || number < min || number > max) {
    refuse(path, `must be a whole number${boundsOf(parameter)}: ${parameter.description}`);
  }
  return number;
}

/** Why a text is not a header field of an answer; null if it is. */
function fieldFault(text: string): string | null {
  const [, name = ''] = FIELD.exec(text) ?? [];
  if (name === '') return 'must be one header field, such as "Retry-After: 3"';
  const isFraming = FRAMING.has(name.toLowerCase()) || isHopByHop(name.toLowerCase(), FRAMING);
  return isFraming ? `cannot be ${name}, which describes the connection or the length; choose another field` : null;
}

/** RFC 9110 §5: a name, and a value of printable ASCII characters. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*[!-~](?:[ -~\t]*[!-~])?$/;
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'trailer']);

function boundsOf({ min, max }: BreakParameter): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
}
