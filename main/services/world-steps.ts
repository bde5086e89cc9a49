import { VivariumError } from '../contract/errors.ts';
import type { Services } from '../contract/index.ts';
import type { WorldChange, WorldKind } from '../contract/world.ts';
import type { OwnedRow } from './dependencies.ts';

type Used =
  | 'clock.freeze'
  | 'clock.set'
  | 'clock.reset'
  | 'settings.update'
  | 'zones.create'
  | 'zones.remove'
  | 'zones.import'
  | 'zones.dnssec'
  | 'records.remove'
  | 'projects.create'
  | 'projects.update'
  | 'projects.remove'
  | 'keys.create'
  | 'keys.revoke'
  | 'pets.import'
  | 'pets.seed'
  | 'domains.attach'
  | 'domains.remove'
  | 'domains.setRedirects'
  | 'domains.setPrimary'
  | 'requests.save';

type InputOf<Name> = Name extends `${infer Namespace extends keyof Services}.${infer Procedure}`
  ? Procedure extends keyof Services[Namespace]
    ? Services[Namespace][Procedure] extends (input: infer Input, context: never) => unknown
      ? Input
      : never
    : never
  : never;

/** A call of a procedure; a project is named by its slug, which it has once the step is reached. */
export type Call = { [Name in Used]: { procedure: Name; input: InputOf<Name> } }[Used];

/** Notes a successful deploy without asking the target: what had domains was deployed, and its upstream need not run now. */
export interface NotedDeploy {
  procedure: 'deployed';
  input: { projectId: string };
}

export type Entry = Pick<OwnedRow, 'kind' | 'what'>;
export type Claim = Entry & Pick<OwnedRow, 'created' | 'detail'>;

/** One change that makes the world as the file has it. */
export interface Step {
  changes: WorldChange[];
  /** What the file owns from here on; stored before the calls, so that what a killed engine made has its owner. */
  claims: Claim[];
  calls: (Call | NotedDeploy)[];
  /** What the file owns no longer after the calls. */
  releases: Entry[];
}

export interface WorldPlan {
  steps: Step[];
  /** How many entries are as they should be. */
  left: number;
  /** What stays although the file owned it, with the reason, in sentences. */
  kept: string[];
  /** What cannot be applied, with its path in the file; the steps are then incomplete. */
  issues: { path: readonly string[]; message: string }[];
}

/** Who applies the file. */
export interface Ownership {
  /** The absolute path; null for a text without one, which owns nothing and may change everything. */
  file: string | null;
  rows: readonly OwnedRow[];
  /** Whether the file takes over what exists. */
  adopt: boolean;
}

/** Of names that differ in a text, such as in case, and are the same one. */
export const TWICE = 'is in the file twice; leave one of the two out';

export type Plan = ReturnType<typeof createPlan>;

/** Collects the steps of a plan, and asks whose an entry is. */
export function createPlan({ file, rows, adopt }: Ownership) {
  const result: WorldPlan = { steps: [], left: 0, kept: [], issues: [] };
  const owners = new Map(rows.map((row) => [entryKey(row), row]));
  const refuse = (path: readonly string[], message: string) => void result.issues.push({ path, message });
  const ownerOf = (kind: WorldKind, what: string) => owners.get(entryKey({ kind, what }));
  const keep = () => void result.left++;
  const add = (step: Partial<Step>) =>
    void result.steps.push({ changes: [], claims: [], calls: [], releases: [], ...step });
  /** Takes over an entry that is as it should be; `detail` is for one without an owner. */
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
    /** Counts an entry that is as it should be, and lets an adopting file own it. */
    keepAs(kind: WorldKind, what: string, detail: unknown = null): void {
      const claims = takeOver(kind, what, detail);
      if (claims.length > 0) add({ claims });
      keep();
    },
    owns: (kind: WorldKind, what: string) => file !== null && ownerOf(kind, what)?.file === file,
    /** What the file noted of an entry that it owns, or takes over from another. */
    detailOf(kind: WorldKind, what: string): unknown {
      const owner = ownerOf(kind, what);
      return owner !== undefined && (owner.file === file || adopt) ? owner.detail : undefined;
    },
    /** The claim of a step; none without a file. What has an owner already keeps how it came to be. */
    claim(kind: WorldKind, what: string, { created, detail }: Pick<OwnedRow, 'created' | 'detail'>): Claim[] {
      if (file === null) return [];
      const before = ownerOf(kind, what);
      const isList = kind === 'records';
      return [
        { kind, what, created: before?.created ?? created, detail: isList ? detail : (before?.detail ?? detail) },
      ];
    },
    /**
     * Whether the file may state an entry that exists, and change it where `changes`: it owns it, or adopts it. What it
     * may not do is refused at `path`.
     */
    mayState(kind: WorldKind, what: string, path: readonly string[], changes: boolean): boolean {
      const owner = ownerOf(kind, what);
      if (file === null || adopt || owner?.file === file) return true;
      if (owner !== undefined)
        refuse(path, `belongs to ${owner.file}; remove it from one of the files, or adopt it (--adopt)`);
      else if (changes && kind !== 'setting' && kind !== 'clock')
        refuse(path, 'exists already with another content, and no file owns it; leave it out, or adopt it (--adopt)');
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
