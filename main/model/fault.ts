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
}

/** A request that has passed the stage `limit`. */
export interface RequestFacts {
  hostname: string;
  method: string;
  /** Without the query. */
  path: string;
  /** Null for callers without an API key. */
  keyId: string | null;
  /** Whether the client has opted out with `Vivarium-Break: off`. */
  optedOut: boolean;
}

/** A DNS question; names are in lower case without the final dot. */
export interface QuestionFacts {
  name: string;
  /** A mnemonic, such as `AAAA`. */
  type: string;
}

/**
 * What the machines ask of the running breaks. Each counts what it is asked; null means that nothing is broken. While
 * no break of a kind runs, its member is null, so that nothing is paid.
 */
export interface FaultSource {
  readonly request: ((facts: RequestFacts) => Fault | null) | null;
  readonly question: ((facts: QuestionFacts) => Fault | null) | null;
  /** By server name; null for clients without SNI. */
  readonly handshake: ((hostname: string | null) => Fault | null) | null;
  /** A connection to the proxy's HTTP or HTTPS listener, before anything is read from it. */
  readonly connection: ((scheme: 'http' | 'https') => Fault | null) | null;
}

export const NO_FAULTS: FaultSource = { request: null, question: null, handshake: null, connection: null };
