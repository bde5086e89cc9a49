import type { ApiKey, CallerUsage } from '../../../main/contract/callers.ts';
import type { PlanLimits } from '../../../main/contract/projects.ts';

/** The share of a limit from which a caller is marked. */
export const NEAR_LIMIT_SHARE = 0.8;

/** `idle`: no window has begun · `ok` · `near`: from 80 % · `exhausted`: the next request is refused. */
export type GaugeLevel = 'idle' | 'ok' | 'near' | 'exhausted';

/** One rate window at a moment of the app's clock. */
export interface Gauge {
  limit: number;
  used: number;
  level: GaugeLevel;
  /** Epoch milliseconds; undefined before the first request. */
  resetsAtMs: number | undefined;
}

type WindowUsage = CallerUsage['minute'];

export function levelAt(used: number, limit: number): GaugeLevel {
  const share = used / limit;
  return share >= 1 ? 'exhausted' : share >= NEAR_LIMIT_SHARE ? 'near' : 'ok';
}

/** Rounded up to the second, as in `X-RateLimit-Reset` and in Traffic. */
const secondAfter = (timestamp: string): number => Math.ceil(Date.parse(timestamp) / 1_000) * 1_000;

/** An expired window counts as idle, because the next request begins a new one. */
export function gaugeAt(window: WindowUsage, nowMs: number): Gauge {
  const resetsAtMs = window.resetsAt === undefined ? undefined : secondAfter(window.resetsAt);
  if (resetsAtMs === undefined || resetsAtMs <= nowMs) {
    return { limit: window.limit, used: 0, level: 'idle', resetsAtMs: undefined };
  }
  return { limit: window.limit, used: window.used, level: levelAt(window.used, window.limit), resetsAtMs };
}

/** The end of a ban in epoch milliseconds; undefined if there is none or it is over. */
export function banAt(usage: CallerUsage, nowMs: number): number | undefined {
  if (usage.bannedUntil === undefined) return undefined;
  const untilMs = secondAfter(usage.bannedUntil);
  return untilMs > nowMs ? untilMs : undefined;
}

export interface NamedCaller {
  usage: CallerUsage;
  /** A key's name, or the address. */
  name: string;
  /** The prefix of a key's secret. */
  prefix: string | undefined;
  revoked: boolean;
}

/**
 * The sort rank of a caller: banned, then exhausted, then active, then idle. Rows move only when their rank changes.
 */
function rankAt(usage: CallerUsage, nowMs: number): number {
  if (banAt(usage, nowMs) !== undefined) return 0;
  const levels = [usage.minute, usage.day].map((window) => gaugeAt(window, nowMs).level);
  return levels.includes('exhausted') ? 1 : levels.every((level) => level === 'idle') ? 3 : 2;
}

/** The same rows, sorted by rank. */
export const urgentFirst = <Row extends { usage: CallerUsage }>(rows: readonly Row[], nowMs: number): Row[] =>
  rows
    .map((row) => ({ row, rank: rankAt(row.usage, nowMs) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ row }) => row);

/** All callers, and the keys without requests yet. Keys come first, in order of creation, then addresses by name. */
export function nameCallers(
  usages: readonly CallerUsage[],
  keys: readonly ApiKey[],
  limits: PlanLimits,
): NamedCaller[] {
  const usageOfKey = new Map(usages.flatMap((usage) => (usage.keyId === undefined ? [] : [[usage.keyId, usage]])));
  const named: NamedCaller[] = [];
  for (const key of [...keys].sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id))) {
    const usage = usageOfKey.get(key.id);
    usageOfKey.delete(key.id);
    const revoked = key.revokedAt !== undefined;
    if (revoked && usage === undefined) continue;
    named.push({ usage: usage ?? unusedBy(key.id, limits), name: key.name, prefix: key.prefix, revoked });
  }
  const others = usages.filter((usage) => usage.keyId === undefined || usageOfKey.has(usage.keyId));
  for (const usage of [...others].sort((a, b) => a.caller.localeCompare(b.caller))) {
    named.push({ usage, name: callerName(usage.caller), prefix: undefined, revoked: false });
  }
  return named;
}

export interface ActiveKey {
  key: ApiKey;
  usage: CallerUsage;
}

/** The active keys in the order of `keys`, each with its use of the limits, and the addresses by name. */
export function groupCallers(
  usages: readonly CallerUsage[],
  keys: readonly ApiKey[],
  limits: PlanLimits,
): { keys: ActiveKey[]; addresses: CallerUsage[] } {
  const usageOfKey = new Map(usages.map((usage) => [usage.keyId, usage]));
  return {
    keys: keys
      .filter((key) => key.revokedAt === undefined)
      .map((key) => ({ key, usage: usageOfKey.get(key.id) ?? unusedBy(key.id, limits) })),
    addresses: usages.filter(({ keyId }) => keyId === undefined).toSorted((a, b) => a.caller.localeCompare(b.caller)),
  };
}

function unusedBy(keyId: string, limits: PlanLimits): CallerUsage {
  return {
    caller: `key:${keyId}`,
    keyId,
    minute: { limit: limits.perMinute, used: 0 },
    day: { limit: limits.perDay, used: 0 },
    strikes: 0,
  };
}

export const trafficFilterOf = ({ keyId, caller }: CallerUsage): string =>
  keyId === undefined ? `address:${callerName(caller)}` : `key:${keyId}`;

export const callerName = (caller: string): string => caller.replace(/^(?:key|address):/, '');
