import type { AdjustableClock } from '../../base/clock.ts';
import { parseDuration } from '../../contract/duration.ts';
import type { Services } from '../../contract/index.ts';
import { GRADED_MAX } from '../../contract/grades.ts';
import { limitsWithoutKey, PLANS } from '../../contract/plans.ts';
import type { PlanLimits } from '../../contract/projects.ts';
import { callerOf, isPreflight } from '../../manners/attempts.ts';
import { gradeAll, type Counted, decideAgain } from '../../manners/report.ts';
import { type BanRule, limitsOf } from '../../model/rate-decision.ts';
import { type Entry, type EntryIds, idOfEntry } from '../../traffic/entry.ts';
import type { Recorder } from '../../traffic/recorder.ts';
import { STEP_SECONDS } from '../../traffic/series.ts';
import type { KeyRows, ProjectRow, ProjectRows } from '../dependencies.ts';

type Part = Omit<NonNullable<Parameters<Services['manners']['report']>[0]>, 'caller'>;

/** How many steps the requests of a what-if are divided into, at most. */
const STEPS_MAX = 120;

/** A shorter time is shown with the quiet before it. */
const SPAN_MS_MIN = 60_000;

export function createMannersServices(options: {
  recorder: Recorder;
  ids: EntryIds;
  clock: Pick<AdjustableClock, 'state'>;
  keys: Pick<KeyRows, 'get'>;
  projects: Pick<ProjectRows, 'get'>;
  banRule: () => BanRule;
}): Services['manners'] {
  const { recorder, ids, clock, keys, projects, banRule } = options;
  /** The recorded requests of a project, or of all, oldest first. */
  function* recorded({ projectId, since }: Part = {}): Generator<Entry> {
    const fromMs = since === undefined ? 0 : clock.state().realNow - parseDuration(since);
    for (const entry of recorder.oldestFirst()) {
      const { route, realAtMs } = entry;
      if (route !== null && (projectId === undefined || route.projectId === projectId) && realAtMs >= fromMs)
        yield entry;
    }
  }

  const extentOf = ({ projectId }: Part, oldest: { realAtMs: number } | undefined) =>
    oldest !== undefined && recorder.dropped(projectId) > 0 ? { recordedSince: at(oldest.realAtMs) } : {};

  function describe({ route, keyId, address }: Pick<Entry, 'route' | 'keyId' | 'address'>) {
    const row = keyId === null ? null : keys.get(keyId);
    return {
      caller: callerOf({ keyId, address }),
      projectId: route?.projectId ?? '',
      ...(keyId !== null && { keyId }),
      ...(row !== null && { key: { name: row.name, prefix: row.prefix } }),
    };
  }

  const idsOf = (numbers: readonly number[]): string[] =>
    numbers.flatMap((number) => {
      const entry = recorder.get(number);
      return entry === null ? [] : [idOfEntry(entry, ids)];
    });

  return {
    report({ caller, ...part } = {}) {
      const entries = [...recorded(part)];
      const graded = gradeAll(entries.filter(({ replayOf }) => replayOf === null))
        .map(({ of, rules, ...sums }) => ({ ...describe(of), ...sums, rules }))
        .filter((each) => {
          const { keyId, key, userAgent } = each;
          const names = [each.caller, keyId, key?.name, userAgent].map((name) => name?.toLowerCase());
          return caller === undefined || names.includes(caller.toLowerCase());
        });
      const callers = graded
        .slice(0, GRADED_MAX)
        .map((each) => ({ ...each, rules: each.rules.map((found) => ({ ...found, entries: idsOf(found.entries) })) }));
      return {
        ...extentOf(part, entries[0]),
        requests: entries.length,
        callers,
        omitted: graded.length - callers.length,
      };
    },
    whatIf({ plan, limits, ...part } = {}) {
      const [rule, asked] = [banRule(), limits ?? (plan === undefined ? undefined : PLANS[plan].limits)];
      const limitsHere = limitsFor(asked ?? undefined, projects);
      const firsts = new Map<string, Entry>();
      let oldest: Entry | undefined;
      // Entries are not kept: the garbage collector would have to follow ten thousand of them.
      let last: (Pick<Entry, 'route' | 'keyId' | 'address'> & { of: Omit<Counted, 'atMs'> }) | undefined;
      const unordered: (Counted & { realAtMs: number; number: number })[] = [];
      for (const entry of recorded(part)) {
        oldest ??= entry;
        if (entry.decision === null || isPreflight(entry)) continue;
        const { atMs, realAtMs, number, route, keyId, address } = entry;
        // A name that is made again for each entry is hashed again for each.
        if (route !== last?.route || keyId !== last.keyId || address !== last.address) {
          const caller = `${route?.projectId ?? ''} ${callerOf({ keyId, address })}`;
          if (!firsts.has(caller)) firsts.set(caller, entry);
          const of = { caller, limits: limitsHere(entry), ban: keyId === null ? null : rule };
          last = { route, keyId, address, of };
        }
        const { caller, limits, ban } = last.of;
        unordered.push({ caller, atMs, realAtMs, number, limits, ban });
      }
      const decided = unordered.toSorted((a, b) => a.realAtMs - b.realAtMs || a.number - b.number);
      const { refused, callers, bans } = decideAgain(decided);
      const rows = [...callers]
        .map(([name, { firstRefusedAtMs, bannedAtMs, ...sums }]) => ({
          ...describe(firsts.get(name) as Entry),
          ...sums,
          ...(firstRefusedAtMs !== null && { firstRefusedAt: at(firstRefusedAtMs) }),
          ...(bannedAtMs !== null && { bannedAt: at(bannedAtMs) }),
        }))
        .toSorted((a, b) => b.refused - a.refused || b.requests - a.requests);
      const [firstRefusedAt] = rows.flatMap((each) => each.firstRefusedAt ?? []).toSorted();
      const [bannedAt] = rows.flatMap((each) => each.bannedAt ?? []).toSorted();
      return {
        ...extentOf(part, oldest),
        requests: decided.length,
        refused: refused.filter(Boolean).length,
        bans,
        ...(firstRefusedAt !== undefined && { firstRefusedAt }),
        ...(bannedAt !== undefined && { bannedAt }),
        callers: rows.slice(0, GRADED_MAX),
        omitted: Math.max(0, rows.length - GRADED_MAX),
        steps: stepsOf(decided, refused),
      };
    },
  };
}

const at = (ms: number): string => new Date(ms).toISOString();

/** The limits of an entry's caller: those asked for, or of its project; without a key, by the project's rule. */
function limitsFor(asked: PlanLimits | undefined, projects: Pick<ProjectRows, 'get'>): (entry: Entry) => PlanLimits {
  const known = new Map<string, ProjectRow | null>();
  return ({ route, keyId }) => {
    const id = route?.projectId ?? '';
    const project = known.get(id) ?? projects.get(id);
    known.set(id, project);
    const limits = asked ?? (project === null ? PLANS.free.limits : limitsOf(project));
    return keyId !== null || project === null ? limits : limitsWithoutKey({ limits, target: project.target });
  };
}

/** How many requests began in each step of real time, allowed and refused. */
function stepsOf(entries: readonly { realAtMs: number }[], refused: readonly boolean[]) {
  const lastMs = entries.at(-1)?.realAtMs ?? 0;
  const fromMs = Math.min(entries[0]?.realAtMs ?? 0, lastMs + 1 - SPAN_MS_MIN);
  const spanMs = lastMs - fromMs + 1;
  const stepSeconds = STEP_SECONDS * Math.max(1, Math.ceil(spanMs / 1_000 / STEP_SECONDS / STEPS_MAX));
  // One more, for the quiet after the last.
  const count = entries.length === 0 ? 0 : Math.ceil(spanMs / 1_000 / stepSeconds) + 1;
  const sums = { allowed: Array.from({ length: count }, () => 0), refused: Array.from({ length: count }, () => 0) };
  for (const [index, { realAtMs }] of entries.entries()) {
    const step = Math.floor((realAtMs - fromMs) / 1_000 / stepSeconds);
    const sum = refused[index] === true ? sums.refused : sums.allowed;
    sum[step] = (sum[step] ?? 0) + 1;
  }
  return { stepSeconds, until: at(fromMs + count * stepSeconds * 1_000), ...sums };
}
