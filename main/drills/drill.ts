import type { DrillSubject } from '../contract/breaks.ts';

/** The setting of a drill; a domain is `shop.drill.test` in the zone `drill.test`, verified and with a certificate. */
export type DrillPlace = 'project' | 'domain';

/** A hidden break of the catalogue, or an edit of the practice project. */
export type DrillProblem =
  | {
      kind: 'break';
      entry: string;
      at: DrillPlace;
      method?: string;
      nth?: number;
      parameters?: Readonly<Record<string, string | number>>;
    }
  | { kind: 'limits'; perMinute: number; perDay: number }
  | { kind: 'revoked key' }
  | { kind: 'dead target' }
  /** A hostname has a CNAME to Vivarium but is not attached. */
  | { kind: 'unattached'; hostname: string };

/** The state that completes the drill; `fix.ts` checks it. */
export type DrillFix =
  /** After a refusal, a client waits as long as `Retry-After` says, and its next request succeeds. */
  | { kind: 'waited' }
  /** A client aborts a request that gets no answer. */
  | { kind: 'gave up'; withinMs: number }
  /** After a failed answer, a client checks the outcome before it retries. */
  | { kind: 'checked first' }
  /** A client gets an answer over HTTP/2. */
  | { kind: 'over HTTP/2' }
  /** The last request succeeds, with a new key if required. */
  | { kind: 'answered'; withNewKey?: true }
  /** The hostname is verified and has a certificate, a new one if required. */
  | { kind: 'serves'; hostname: string; renewed?: true };

export interface DrillCause {
  id: string;
  text: string;
  /** Why this cause is wrong; absent for the right one. */
  why?: string;
}

/**
 * A problem with a hidden cause. Texts may contain `{url}` and `{secureUrl}` (with `/v1`), `{key}`, `{ca}` (the file of
 * the root), `{https}` and `{dns}` (ports).
 */
export interface DrillText {
  id: string;
  title: string;
  subject: DrillSubject;
  teaches: string;
  place: DrillPlace;
  problems: readonly DrillProblem[];
  story: string;
  command: string;
  /** Exactly one cause has no `why`. */
  causes: readonly DrillCause[];
  hints: readonly string[];
  /** How to fix the problem, shown after the cause is found, with a helpful command. */
  task: string;
  taskCommand: string;
  fix: DrillFix;
  /** How the problem was caused, shown at the end. */
  explanation: string;
}

export const DRILL_SLUG = 'drill';
export const DRILL_ZONE = 'drill.test';
export const DRILL_DOMAIN = 'shop.drill.test';

export function rightCause({ id, causes }: Pick<DrillText, 'id' | 'causes'>): DrillCause {
  const right = causes.find(({ why }) => why === undefined);
  if (right === undefined) throw new Error(`The drill ${id} has no right cause.`);
  return right;
}

/** Formats a command within a text. */
export const code = (command: string): string => `\`${command}\``;
