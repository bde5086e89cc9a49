import type { DrillSubject } from '../contract/drills.ts';

/** What a drill plays in; a domain is `shop.drill.test` in the zone `drill.test`, verified and with a certificate. */
export type DrillPlace = 'project' | 'domain';

/** What is wrong: breaks of the catalogue, whose names are hidden, or edits of the practice project. */
export type DrillTrouble =
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
  /** A CNAME to Vivarium for a hostname that is not attached. */
  | { kind: 'unattached'; hostname: string };

/** What has to be so in the end; `mending.ts` checks it. */
export type DrillMending =
  /** After a refusal, a client waits as long as `Retry-After` says, and is answered. */
  | { kind: 'waited' }
  /** A client ends a request without an answer by itself. */
  | { kind: 'gave up'; withinMs: number }
  /** After an answer that failed, a client looks before it repeats. */
  | { kind: 'looked' }
  /** A client is answered over HTTP/2. */
  | { kind: 'over HTTP/2' }
  /** The last request is answered, with another key than the first where one is asked for. */
  | { kind: 'answered'; withNewKey?: true }
  /** The hostname is verified, with a certificate, and a new one where one is asked for. */
  | { kind: 'serves'; hostname: string; renewed?: true };

export interface DrillCause {
  id: string;
  text: string;
  /** Why it is not this one; absent for the right cause. */
  why?: string;
}

/**
 * A trouble with a hidden cause. Texts may have `{url}` and `{secureUrl}` (with `/v1`), `{key}`, `{ca}` (the root’s
 * file), `{https}` and `{dns}` (ports).
 */
export interface DrillText {
  id: string;
  title: string;
  subject: DrillSubject;
  teaches: string;
  place: DrillPlace;
  troubles: readonly DrillTrouble[];
  story: string;
  command: string;
  /** Exactly one without `why`. */
  causes: readonly DrillCause[];
  hints: readonly string[];
  /** How to mend it, said once the cause is found, with a command that helps. */
  task: string;
  taskCommand: string;
  mending: DrillMending;
  /** What was done to cause it, said at the end. */
  explanation: string;
}

/** Of the practice project. */
export const DRILL_SLUG = 'drill';
export const DRILL_ZONE = 'drill.test';
export const DRILL_DOMAIN = 'shop.drill.test';

/** The right cause of a drill. */
export function rightCause({ id, causes }: Pick<DrillText, 'id' | 'causes'>): DrillCause {
  const right = causes.find(({ why }) => why === undefined);
  if (right === undefined) throw new Error(`The drill ${id} has no right cause.`);
  return right;
}

/** A command within a text. */
export const code = (command: string): string => `\`${command}\``;
