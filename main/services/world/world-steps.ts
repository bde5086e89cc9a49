import { VivariumError } from '../../contract/errors.ts';
import type { Services } from '../../contract/index.ts';
import type { WorldChange, WorldKind, ResolvedWorld } from '../../contract/world.ts';
import type { OwnedRow } from '../dependencies.ts';
import { platformHostname, PLATFORM_ZONE } from '../../base/config.ts';
import { isWithin } from '../../base/text/hostname.ts';
import { CATALOGUE } from '../../breaks/catalogue/index.ts';
import { type Breakable, checkRule } from '../../breaks/check.ts';
import { environment as environments } from '../../contract/values.ts';
import { normalForm, normalZone } from './world-current.ts';

type InputOf<Procedure> = Procedure extends (input: infer Input, context: never) => unknown ? Input : never;
type CallsOf<Space extends keyof Services> = {
  [Name in keyof Services[Space] & string]: { procedure: `${Space}.${Name}`; input: InputOf<Services[Space][Name]> };
}[keyof Services[Space] & string];

/** A call of a procedure; a project is named by its slug, which exists when the step is reached. */
export type Call = { [Space in keyof Services]: CallsOf<Space> }[keyof Services];

/** Records a successful deploy without a request: a project with domains was deployed, and its upstream may be down. */
export interface NotedDeploy {
  procedure: 'deployed';
  input: { projectId: string };
}

export type Entry = Pick<OwnedRow, 'kind' | 'what'>;
type Claim = Entry & Pick<OwnedRow, 'created' | 'detail'>;

/** One change towards the state of the file. */
export interface Step {
  changes: WorldChange[];
  /** Entries that the file owns from now on; stored before the calls, so that ownership survives a killed engine. */
  claims: Claim[];
  calls: (Call | NotedDeploy)[];
  /** Entries that the file no longer owns after the calls. */
  releases: Entry[];
}

export interface WorldPlan {
  steps: Step[];
  unchanged: number;
  /** Sentences about owned entries that are kept, with the reason. */
  remaining: string[];
  /** Problems with their path in the file; the steps are then incomplete. */
  issues: { path: readonly (string | number)[]; message: string }[];
}

/** The applied file. */
export interface Ownership {
  /** The absolute path; null for a text without one, which owns nothing and may change everything. */
  file: string | null;
  rows: readonly OwnedRow[];
  /** Whether the file takes over what exists. */
  adopt: boolean;
}

/** The problem of a name that appears in two spellings, such as in different case. */
export const TWICE = 'appears twice in the file; remove one of them';

export type Plan = ReturnType<typeof createPlan>;

/** Collects the steps of a plan, and checks the ownership of entries. */
export function createPlan({ file, rows, adopt }: Ownership) {
  const result: WorldPlan = { steps: [], unchanged: 0, remaining: [], issues: [] };
  const owners = new Map(rows.map((row) => [entryKey(row), row]));
  const refuse = (path: readonly (string | number)[], message: string) => void result.issues.push({ path, message });
  const ownerOf = (kind: WorldKind, what: string) => owners.get(entryKey({ kind, what }));
  const keep = () => void result.unchanged++;
  const add = (step: Partial<Step>) =>
    void result.steps.push({ changes: [], claims: [], calls: [], releases: [], ...step });
  /** Takes over an entry that needs no change; `detail` is stored for one without an owner. */
  function takeOver(kind: WorldKind, what: string, detail: unknown = null): Claim[] {
    const owner = ownerOf(kind, what);
    if (!adopt || file === null || owner?.file === file) return [];
    return [{ kind, what, created: owner?.created ?? false, detail: owner?.detail ?? detail }];
  }
  return {
    result,
    file,
    rows: file === null ? [] : rows.filter((row) => row.file === file),
    refuse,
    keep,
    add,
    takeOver,
    /** Counts an entry that needs no change, and lets an adopting file own it. */
    keepAs(kind: WorldKind, what: string, detail: unknown = null): void {
      const claims = takeOver(kind, what, detail);
      if (claims.length > 0) add({ claims });
      keep();
    },
    owns: (kind: WorldKind, what: string) => file !== null && ownerOf(kind, what)?.file === file,
    /** The stored detail of an entry that the file owns, or takes over from another file. */
    detailOf(kind: WorldKind, what: string): unknown {
      const owner = ownerOf(kind, what);
      return owner !== undefined && (owner.file === file || adopt) ? owner.detail : undefined;
    },
    /** The claim of a step; none without a file. An entry with an owner keeps its origin. */
    claim(kind: WorldKind, what: string, { created, detail }: Pick<OwnedRow, 'created' | 'detail'>): Claim[] {
      if (file === null) return [];
      const before = ownerOf(kind, what);
      const isList = kind === 'records';
      return [
        { kind, what, created: before?.created ?? created, detail: isList ? detail : (before?.detail ?? detail) },
      ];
    },
    /**
     * Whether the file may contain an existing entry, and change it if `changes`: it must own or adopt it. Otherwise
     * the entry is refused at `path`.
     */
    mayState(kind: WorldKind, what: string, path: readonly string[], changes: boolean): boolean {
      const owner = ownerOf(kind, what);
      if (file === null || adopt || owner?.file === file) return true;
      if (owner !== undefined)
        refuse(path, `belongs to ${owner.file}; remove it from one of the files, or adopt it (--adopt)`);
      else if (changes && kind !== 'setting' && kind !== 'clock')
        refuse(
          path,
          'already exists with other content, and no file owns it; remove it from the file, or adopt it (--adopt)',
        );
      else return true;
      return false;
    },
    /** The value of a check that throws; undefined after refusing it. */
    attempt<Value>(path: readonly string[], check: () => Value): Value | undefined {
      try {
        return check();
      } catch (error) {
        if (!(error instanceof VivariumError)) throw error;
        const [issue] = error.issues;
        refuse(path, issue?.message ?? error.message);
        return undefined;
      }
    },
  };
}

const entryKey = ({ kind, what }: Entry): string => `${kind} ${what}`;

/** Checks the tables for `vivarium examine`, as a start of each row’s break would; only what the file makes is served. */
export function planTables({ examine = {}, projects = {}, zones = {} }: ResolvedWorld, plan: Plan): void {
  const hostnames = Object.entries(projects).flatMap(([slug, { domains = {} }]) =>
    [...environments.options.map((name) => platformHostname(slug, name)), ...Object.keys(domains).map(normalForm)].map(
      (hostname) => [hostname, { projectId: slug, projectName: slug }] as const,
    ),
  );
  const served = new Map(hostnames);
  const inZone = [PLATFORM_ZONE, ...Object.keys(zones).map(normalZone), ...served.keys()];
  const breakable: Breakable = {
    catalogue: CATALOGUE,
    served: () => served,
    isInZone: (name) => inZone.some((zone) => isWithin(name, zone)),
    hasKey: () => true,
  };
  for (const [table, rows] of Object.entries(examine)) {
    for (const [index, { break: entry, on = {}, parameters = {}, first = 1, after }] of rows.entries()) {
      try {
        checkRule({ entry, on, parameters, first, after, nth: 1, seed: 0 }, breakable);
      } catch (error) {
        if (!(error instanceof VivariumError)) throw error;
        const [issue] = error.issues;
        const about = issue?.path ?? (error.message.includes(entry) ? 'break' : 'on.hostname');
        plan.refuse(['examine', table, index, ...about.split('.')], issue?.message ?? error.message);
      }
    }
  }
}
