import type { SecureContext } from 'node:tls';
import type { EpochMs } from '../base/clock.ts';
import type { Scheme } from '../base/text/hostname.ts';
import { type RunningBreak, DRILL_ENTRY } from '../contract/breaks.ts';
import type { Environment } from '../contract/values.ts';

/**
 * A fault that a running break has chosen for one request, DNS question or TLS handshake. The component concerned
 * produces it on the wire; the traffic entry names it.
 */
export interface Fault {
  breakId: string;
  /** The entry of the catalogue, such as `dns.servfail`. */
  entry: string;
  /** All parameters of the entry, checked, defaults included. */
  parameters: Readonly<Record<string, string | number>>;
  /** A number from 0 to 1 (exclusive), determined by the seed and the request's number, for faults that choose. */
  draw: number;
  /** Part of a drill, so its entry must not be revealed. */
  isHidden?: true;
}

/** The part of a fault that a traffic entry names. */
export type NamedFault = Pick<Fault, 'entry' | 'breakId'>;

export const nameOf = ({ entry, breakId, isHidden }: Fault): NamedFault =>
  isHidden === true ? { entry: DRILL_ENTRY, breakId: DRILL_ENTRY } : { entry, breakId };

/** A request that has passed the stage `limit`, and whose client has not opted out with `Vivarium-Break: off`. */
export interface RequestFacts {
  hostname: string;
  method: string;
  /** Without the query. */
  path: string;
  /** Null for callers without an API key. */
  keyId: string | null;
  /** By names in lower case. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  scheme: Scheme;
  http2: boolean;
  environment: Environment;
}

/** A DNS question; names are in lower case without the final dot. */
export interface QuestionFacts {
  name: string;
  /** A mnemonic, such as `AAAA`. */
  type: string;
}

/**
 * Asks the running breaks for faults. Each call is counted; null means no fault. A member is null while no break of
 * its kind runs, which makes that case free; so read it anew each time.
 */
export interface FaultSource {
  readonly request: ((facts: RequestFacts) => Fault | null) | null;
  /** How a request is delayed, whatever else breaks it. */
  readonly delay: ((facts: RequestFacts) => Fault | null) | null;
  readonly question: ((facts: QuestionFacts) => Fault | null) | null;
  /** Once for each connection, by server name; null for clients without SNI. */
  readonly handshake: ((hostname: string | null) => Fault | null) | null;
  /**
   * For components that know which entries affect their work: a step of a CA, a probe of the doctor. A rule with a
   * hostname matches if that hostname is among those concerned.
   */
  readonly named: ((entry: string, hostnames: readonly string[]) => Fault | null) | null;
  /** A fault that had no effect, such as on an answer that it does not fit, does not count as a strike. */
  giveBack(fault: Pick<Fault, 'breakId'>): void;
}

export const NO_FAULTS: FaultSource = {
  request: null,
  delay: null,
  question: null,
  handshake: null,
  named: null,
  giveBack: () => undefined,
};

export interface BreakRow {
  id: string;
  entry: string;
  rule: Pick<RunningBreak, 'on' | 'first' | 'after' | 'rate' | 'nth' | 'seed' | 'parameters'> & {
    /** Part of a drill, so its entry must not be revealed. */
    isHidden?: true;
  };
  startedAtMs: EpochMs;
  /** The intended duration; `untilMs` may come earlier if the clock was moved back. */
  forMs: number;
  untilMs: EpochMs;
  seen: number;
  struck: number;
  /** Undoes an edit of state; stored before the edit is made. Null for faults. */
  undo: KeptUndo | null;
}

export interface KeptUndo {
  /** The edited state, such as `records shop.acme.test`; only one break at a time may edit it. */
  edits: string;
  /** Anything that JSON can represent. */
  detail: unknown;
}

/** How a TLS listener treats a client instead of the usual handshake. */
export type BrokenHandshake =
  /** Another certificate, or other parameters. */
  | {
      kind: 'handshake';
      context: SecureContext;
      /** The protocols to choose from, in order; null answers without ALPN (RFC 7301). */
      protocols: readonly string[] | null;
      /** Clients that do not choose HTTP/2 get 403, as from a Node server without HTTP/1.1. */
      http2Only: boolean;
      /** Requests a certificate from the client; any will do. */
      clientCertificate: boolean;
    }
  /** The fatal alert for a name that the server does not have (RFC 6066 §3). */
  | { kind: 'unrecognized_name' }
  /** Reads what the client sends, but answers nothing until the listener's time limit ends the connection. */
  | { kind: 'stall' };
