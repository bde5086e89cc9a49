import type { SecureContext } from 'node:tls';
import type { EpochMs } from '../base/clock.ts';
import type { Scheme } from '../base/hostname.ts';
import type { RunningBreak } from '../contract/breaks.ts';
import { DRILL_ENTRY } from '../contract/drills.ts';
import type { Environment } from '../contract/values.ts';

/**
 * A fault that a running break has chosen for one request, DNS question or TLS handshake. The machine that it concerns
 * produces it on the wire; the traffic entry names it.
 */
export interface Fault {
  /** The id of the running break. */
  breakId: string;
  /** The entry of the catalogue, such as `dns.servfail`. */
  entry: string;
  /** All parameters of the entry, checked, defaults included. */
  parameters: Readonly<Record<string, string | number>>;
  /** A number from 0 up to 1 that the seed and the request's number determine, for faults that choose. */
  draw: number;
  /** A drill has it, so its entry is to be found out. */
  isHidden?: true;
}

/** What a traffic entry says of a fault. */
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
 * What the machines ask of the running breaks. Each counts what it is asked; null means that nothing is broken. While
 * no break of a kind runs, its member is null, so that nothing is paid: read it anew each time.
 */
export interface FaultSource {
  readonly request: ((facts: RequestFacts) => Fault | null) | null;
  readonly question: ((facts: QuestionFacts) => Fault | null) | null;
  /** Once for each connection, by server name; null for clients without SNI. */
  readonly handshake: ((hostname: string | null) => Fault | null) | null;
  /**
   * For a machine that knows which entries concern what it does: a step of a CA, a probe of the doctor. A rule with a
   * hostname selects what is about that hostname, whatever other ones it is about.
   */
  readonly named: ((entry: string, hostnames: readonly string[]) => Fault | null) | null;
}

export const NO_FAULTS: FaultSource = { request: null, question: null, handshake: null, named: null };

/** A running break as it is stored. */
export interface BreakRow {
  id: string;
  entry: string;
  rule: Pick<RunningBreak, 'on' | 'rate' | 'nth' | 'seed' | 'parameters'> & {
    /** A drill has it: nothing names it. */
    isHidden?: true;
  };
  startedAtMs: EpochMs;
  /** How long it was to run; `untilMs` may come earlier once the clock was moved back. */
  forMs: number;
  untilMs: EpochMs;
  seen: number;
  struck: number;
  /** What undoes an edit of state, kept before it is made; null for faults. */
  undo: KeptUndo | null;
}

export interface KeptUndo {
  /** What is edited, such as `records shop.acme.test`: one break at a time may edit it. */
  edits: string;
  /** Anything that JSON can represent. */
  detail: unknown;
}

/** What a TLS listener does with a client instead of the usual handshake. */
export type BrokenHandshake =
  /** Another certificate, or other terms. */
  | {
      kind: 'handshake';
      context: SecureContext;
      /** What is chosen from, in order; null answers without ALPN (RFC 7301). */
      protocols: readonly string[] | null;
      /** Clients that do not choose HTTP/2 get 403, as servers of Node answer that have nothing else. */
      http2Only: boolean;
      /** Demands a certificate of the client; any will do. */
      clientCertificate: boolean;
    }
  /** The fatal alert for a name that the server does not have (RFC 6066 §3). */
  | { kind: 'unrecognized_name' }
  /** Reads what the client sends, and answers nothing until the listener's time limit ends the connection. */
  | { kind: 'stall' };
