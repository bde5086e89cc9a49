import type { ApiKey } from '../../main/contract/keys.ts';
import type { CallerUsage } from '../../main/contract/limits.ts';
import type { PlanLimits } from '../../main/contract/projects.ts';

/** From this share of a limit on, a caller is worth a look. */
export const NEAR_LIMIT_SHARE = 0.8;

/** `idle`: no window has begun · `ok` · `near`: from 80 % · `exhausted`: the next request is refused. */
export type GaugeLevel = 'idle' | 'ok' | 'near' | 'exhausted';

/** One rate window as it is at a moment of the app's clock. */
export interface Gauge {
  limit: number;
  used: number;
  level: GaugeLevel;
  /** Epoch milliseconds; undefined while no window has begun. */
  resetsAtMs: number | undefined;
}

type WindowUsage = CallerUsage['minute'];

/** A window whose time has passed is over: the next request begins a new one, whatever the engine said last. */
export function gaugeAt(window: WindowUsage, nowMs: number): Gauge {
  const resetsAtMs = window.resetsAt === undefined ? undefined : Date.parse(window.resetsAt);
  if (resetsAtMs === undefined || resetsAtMs <= nowMs) {
    return { limit: window.limit, used: 0, level: 'idle', resetsAtMs: undefined };
  }
  const share = window.used / window.limit;
  const level = share >= 1 ? 'exhausted' : share >= NEAR_LIMIT_SHARE ? 'near' : 'ok';
  return { limit: window.limit, used: window.used, level, resetsAtMs };
}

/** Until when a caller is banned, in epoch milliseconds; undefined when it is not, or no longer. */
export function banAt(usage: CallerUsage, nowMs: number): number | undefined {
  if (usage.bannedUntil === undefined) return undefined;
  const untilMs = Date.parse(usage.bannedUntil);
  return untilMs > nowMs ? untilMs : undefined;
}

/** A caller with what a person knows it by. */
export interface NamedCaller {
  usage: CallerUsage;
  /** A key's name, or the address. */
  name: string;
  /** The beginning of a key's secret. */
  prefix: string | undefined;
  revoked: boolean;
}

/**
 * Everyone whose use of the limits can be shown: who has called, and the keys that have not yet. Keys first, in the
 * order they were made, then addresses by name, so that rows stay where they are while numbers move.
 */
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

/** An API key that is in force, with its use of the limits. */
export interface KeyInUse {
  key: ApiKey;
  usage: CallerUsage;
}

/** The keys in force in the order of `keys`, each with its use of the limits, and the addresses by name. */
export function groupCallers(
  usages: readonly CallerUsage[],
  keys: readonly ApiKey[],
  limits: PlanLimits,
): { keys: KeyInUse[]; addresses: CallerUsage[] } {
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

export const callerName = (caller: string): string => caller.replace(/^(?:key|address):/, '');
