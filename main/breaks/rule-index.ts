import { isWithin } from '../base/text/hostname.ts';
import type { BreakEntry, BreakPoint, BreakSelection, RunningBreak } from '../contract/breaks.ts';
import type { Domain } from '../contract/domains.ts';
import { isWildcard, wildcardOver } from '../contract/hostnames.ts';
import type { QuestionFacts, RequestFacts } from '../model/fault.ts';
import type { Route } from '../model/route.ts';
import { pointOf } from './catalogue/index.ts';

/** A rule, for its selection; `order` is the start order. */
export interface Selective {
  kind: BreakEntry;
  rule: { on: BreakSelection };
  order: number;
}

/** The hostnames that are served, wildcards included, with their projects. */
export type Served = ReadonlyMap<string, Pick<Route, 'projectId' | 'projectName'>>;

/** Rules by hostname and path, so rules for other hostnames cost nothing. */
export function indexRules<Rule extends Selective>(rules: readonly Rule[], served: () => Served) {
  const at = (...points: readonly BreakPoint[]) => rules.filter(({ kind }) => points.includes(pointOf(kind)));
  const find = (...points: readonly BreakPoint[]) => byHostname(at(...points), served);
  const requests = find('request', 'connection');
  const delays = find('delay');
  const questions = find('question');
  const handshakes = find('handshake', 'connection');
  const named = Map.groupBy(at('issuance', 'probe'), ({ kind }) => kind.id);
  const ofRequest =
    (found: typeof requests) =>
    (facts: RequestFacts): readonly Rule[] =>
      found(facts.hostname, facts.path).filter((rule) => selectsRequest(rule, facts));
  return {
    ofRequest: ofRequest(requests),
    ofDelay: ofRequest(delays),
    ofQuestion: ({ name, type }: QuestionFacts): readonly Rule[] =>
      questions(name, null).filter(({ rule: { on } }) => on.type === undefined || on.type === type),
    ofHandshake: (hostname: string | null) => handshakes(hostname, null),
    ofEntry: (entry: string, hostnames: readonly string[]): readonly Rule[] =>
      (named.get(entry) ?? NO_RULES).filter(
        ({ rule: { on } }) => on.hostname === undefined || hostnames.some((each) => selects(on.hostname, each)),
      ),
  };
}

function selectsRequest({ kind, rule: { on } }: Selective, facts: RequestFacts): boolean {
  return (
    (on.method === undefined || on.method === facts.method) &&
    (on.keyId === undefined || on.keyId === facts.keyId) &&
    (on.header === undefined || facts.headers[on.header.name] === on.header.value) &&
    (on.path === undefined || selectsPath(on.path, facts.path)) &&
    (kind.http === undefined || (kind.http === 'HTTP/2') === facts.http2) &&
    (kind.environment === undefined || kind.environment === facts.environment) &&
    // Over TLS, the rule applies to the handshake.
    (facts.scheme === 'http' || pointOf(kind) !== 'connection')
  );
}

const isPrefix = (path: string): boolean => path.endsWith('*');

const selectsPath = (selected: string, path: string): boolean =>
  isPrefix(selected) ? path.startsWith(selected.slice(0, -1)) : path === selected;

/** The rules of one hostname: rules for single paths, and all others. */
interface Bucket<Rule> {
  byPath: Map<string, Rule[]>;
  others: Rule[];
}

const NO_RULES: readonly never[] = [];

/** Finds the rules that may select a hostname and path, in start order. */
function byHostname<Rule extends Selective>(rules: readonly Rule[], served: () => Served) {
  const ofProject = new Map<string, Bucket<Rule>>();
  const exact = new Map<string, Bucket<Rule>>();
  const below = new Map<string, Bucket<Rule>>();
  const all: Bucket<Rule> = { byPath: new Map(), others: [] };
  for (const rule of rules) {
    const { hostname, projectId } = rule.rule.on;
    if (projectId !== undefined) add(bucketOf(ofProject, projectId), rule);
    else if (hostname === undefined) add(all, rule);
    else if (hostname.startsWith('*.')) add(bucketOf(below, hostname.slice(2)), rule);
    else add(bucketOf(exact, hostname), rule);
  }
  return (hostname: string | null, path: string | null): readonly Rule[] => {
    const lists: (readonly Rule[])[] = [];
    collect(all, path, lists);
    if (hostname !== null) {
      collect(exact.get(hostname), path, lists);
      if (below.size > 0) for (const parent of parentsOf(hostname)) collect(below.get(parent), path, lists);
      if (ofProject.size > 0) collect(ofProject.get(ownerOf(hostname, served())), path, lists);
    }
    const [first = NO_RULES, ...more] = lists;
    return more.length === 0 ? first : lists.flat().toSorted((one, other) => one.order - other.order);
  };
}

/** The name of a project that is served; undefined if it is gone. */
export const projectOf = (projectId: string, served: Served): string | undefined =>
  [...served.values()].find((route) => route.projectId === projectId)?.projectName;

/** The project that has a hostname, as itself or below a wildcard; '' if none has, as for a provider's API. */
export const ownerOf = (hostname: string, served: Served): string =>
  (served.get(hostname) ?? served.get(wildcardOver(hostname)))?.projectId ?? '';

function bucketOf<Rule>(buckets: Map<string, Bucket<Rule>>, key: string): Bucket<Rule> {
  const found = buckets.get(key) ?? { byPath: new Map<string, Rule[]>(), others: [] };
  buckets.set(key, found);
  return found;
}

function add<Rule extends Selective>({ byPath, others }: Bucket<Rule>, rule: Rule): void {
  const { path } = rule.rule.on;
  if (path === undefined || isPrefix(path)) others.push(rule);
  else byPath.set(path, [...(byPath.get(path) ?? []), rule]);
}

function collect<Rule>(bucket: Bucket<Rule> | undefined, path: string | null, into: (readonly Rule[])[]): void {
  if (bucket === undefined) return;
  if (bucket.others.length > 0) into.push(bucket.others);
  const ofPath = path === null ? undefined : bucket.byPath.get(path);
  if (ofPath !== undefined) into.push(ofPath);
}

/** For `www.shop.acme.test`: `shop.acme.test`, `acme.test` and `test`. */
function* parentsOf(hostname: string): Generator<string> {
  for (let dot = hostname.indexOf('.'); dot !== -1; dot = hostname.indexOf('.', dot + 1)) yield hostname.slice(dot + 1);
}

/**
 * Which matches a rule hits: the first `after` are spared; of the rest, every n-th and, of these, a share; no more
 * once `first` have been struck.
 */
export type Choice = Pick<RunningBreak, 'seed' | 'first' | 'after' | 'nth' | 'rate'>;

/** Whether a rule has struck its first N. */
export const isDone = ({ rule, struck }: { rule: Pick<Choice, 'first'>; struck: number }): boolean =>
  struck >= (rule.first ?? Infinity);

/**
 * Whether a rule that has struck `struck` times hits its `n`-th match (from 1): a number from 0 to 1 (exclusive) for
 * faults that choose, or null for no fault. Depends on nothing else, so the same seed and requests give the same
 * faults.
 */
export function decide(choice: Choice, n: number, struck: number): number | null {
  const { seed, after, nth, rate } = choice;
  const place = n - after;
  if (place < 1 || place % nth !== 0 || isDone({ rule: choice, struck })) return null;
  return rate < 1 && fraction(seed, place, RATE) >= rate ? null : fraction(seed, place, DRAW);
}

/** Two independent series of numbers from one seed. */
const RATE = 0x9e37_79b9;
const DRAW = 0x85eb_ca6b;

const UINT32 = 2 ** 32;

function fraction(seed: number, n: number, series: number): number {
  const low = mixed((seed ^ series) + Math.imul((n % UINT32) | 0, 0x2745_937f));
  return (mixed(low ^ Math.floor(n / UINT32)) >>> 0) / UINT32;
}

/** The finalizer of MurmurHash3 (public domain): each bit of the input changes half of those of the output. */
function mixed(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return bits ^ (bits >>> 16);
}

/** The running breaks that select a domain, in start order. */
export const breaksOf = (
  { hostname, projectId }: Pick<Domain, 'hostname' | 'projectId'>,
  running: readonly RunningBreak[],
): RunningBreak[] =>
  running
    .filter(({ on, done = false }) => !done && (on.projectId ?? projectId) === projectId)
    .filter(({ on }) => selects(on.hostname, hostname));

export function selects(selected: string | undefined, hostname: string): boolean {
  if (selected === undefined || selected === hostname) return true;
  return isWildcard(selected) && isWithin(hostname, selected.slice(2)) && hostname !== selected.slice(2);
}
