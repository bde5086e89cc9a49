import type { Client } from './client.ts';

export interface StartOptions {
  /** Start with the two demo projects; false by default. */
  demo?: boolean;
  /** Freeze the clock at this ISO 8601 time; a date means its start in UTC. By default the clock runs. */
  clock?: string;
  /** A `vivarium.yaml` to bring up; relative to the working folder. */
  file?: string;
}

/** What was brought up from the file; empty without one. */
export interface StartedWorld {
  /** The secrets of the file’s API keys, by `project/name`. */
  readonly keys: Readonly<Record<string, string>>;
  /** The hostnames that lead to production, by project slug; the one of its base address is the first. */
  readonly hostnames: Readonly<Record<string, readonly string[]>>;
}

/**
 * A Vivarium in this process, on free ports and in memory. Every namespace of the contract is a member:
 * `vivarium.domains.attach(…)` is the command `vivarium domain attach`, with the same input and result. Refused
 * calls reject with an `Error` that has a `code`, such as `plan_required`, and the `issues` of the input.
 */
export interface Vivarium extends Omit<Client, 'ca' | 'manners' | 'world'>, AsyncDisposable {
  /** The procedures of the namespace `world`, and what the file of `startVivarium({ file })` has brought up. */
  readonly world: Client['world'] & StartedWorld;
  /** The procedures of the namespace `ca`, and the root certificate for other clients. */
  readonly ca: Client['ca'] & {
    /** Path of the root in PEM, for example for `NODE_EXTRA_CA_CERTS` of another process. */
    readonly file: string;
    /** The root in PEM, for example for the option `ca` of `node:https`. */
    readonly pem: string;
  };
  /** Grades the API clients; the same as `manners.report`. The namespace also has `manners.whatIf`. */
  readonly manners: Client['manners']['report'] & Client['manners'];
  /** The listeners on 127.0.0.1; `dns` is for UDP and TCP. */
  readonly ports: { readonly http: number; readonly https: number; readonly dns: number; readonly control: number };
  /** A forward proxy for browsers that reaches only the served hostnames. */
  readonly proxyUrl: string;
  /**
   * Variables for processes that a test starts, with which most programs reach the served hostnames and trust the root,
   * without a port: `spawn('node', ['app.js'], { env: { ...process.env, ...vivarium.env } })`.
   */
  readonly env: Readonly<Record<string, string>>;
  /** `https://shop.acme.test:PORT` for `shop.acme.test`. */
  url(hostname: string): string;
  /**
   * The standard `fetch`, which also resolves this Vivarium's hostnames with its DNS server and trusts its root for
   * them. A URL without a port reaches its listeners. Other hostnames are reached as usual.
   */
  readonly fetch: typeof globalThis.fetch;
  /** Saves the whole world, with its clock, under a name (default `snapshot`), replacing an older snapshot. */
  snapshot(name?: string): Promise<void>;
  /** Restores the whole world, with its clock, from a snapshot. */
  restore(name?: string): Promise<void>;
  /**
   * Breaks something on purpose, such as `api.unavailable`, until it is repaired, or for ten minutes of the clock:
   * `await using broken = await vivarium.break('http.empty-response', { on: { hostname } })`.
   */
  break(entry: string, options?: BreakOptions): Promise<Break>;
  /**
   * Runs `test` twice without faults, then once for each row of a table: `quick`, `full`, or rows such as
   * `{ break: 'api.unavailable', first: 2 }`. The world is restored before each run and at the end. Rejects with an
   * `ExamineError` if a row is wrong, hangs or is not what it expects; else resolves with all verdicts. `signal` aborts when
   * a run hangs.
   */
  examine(
    table: string | readonly ExamineRow[],
    test: (context: { signal: AbortSignal }) => unknown,
    options?: ExamineOptions,
  ): Promise<Examination>;
  /**
   * Opens a provider's own API in front of a project, by its id, slug or name, so that code which has the provider's
   * host hard-coded attaches domains here. From then on, `fetch` of this Vivarium reaches the host here only, and never
   * the real one; `env` does the same for processes.
   */
  provider(name: ProviderName, project: string, options?: ProviderOptions): Promise<ProviderConnection>;
  /** Creates a project with a key for one test, on a Vivarium that tests share. */
  tenant(options?: TenantOptions): Promise<Tenant>;
  /** Stops this Vivarium. Requests in progress may take 5 s. Further calls wait for the first. */
  close(): Promise<void>;
}

/** The input of `breaks.start`: what to break, how often, and for how long. */
export type BreakOptions = Omit<Parameters<Client['breaks']['start']>[0], 'entry'>;

/** A row of a table of faults. */
export interface ExamineRow {
  /** Its name in the report; that of the entry by default. */
  row?: string;
  /** What to break, such as `api.unavailable`. */
  break: string;
  parameters?: Record<string, string | number>;
  /** Which requests; without it, one that both runs without faults made. */
  on?: { hostname?: string; path?: string; method?: string };
  /** How many are struck, by default 1, and how many are spared before. */
  first?: number;
  after?: number;
  /** The verdicts that it may have. */
  expect?: Verdict | readonly Verdict[];
}

export interface ExamineOptions {
  /** Names of rows, or their families such as `http`; all by default. */
  only?: readonly string[];
  /** On which requests rows are placed; 1 by default. */
  seed?: number;
}

/** What came of each row, and of the runs without faults: how many tests passed twice, and the longer time. */
export type Examination = Pick<Awaited<ReturnType<Client['examinations']['get']>>, 'seed' | 'table' | 'calm' | 'rows'>;

export type Verdict = Examination['rows'][number]['verdict'];

/** Why `examine` rejects if a row has a verdict that it must not have; the message has the report as text. */
export interface ExamineError extends Error {
  readonly report: Examination;
}

export type ProviderName = Parameters<Client['providers']['connect']>[0]['provider'];

export interface ProviderOptions {
  /** Further projects of the same account; all others belong to somebody else. */
  also?: readonly string[];
}

/** A connection to a provider's API. */
export interface ProviderConnection extends AsyncDisposable {
  readonly id: string;
  /** For `Authorization: Bearer`; also in `env`, under the names that programs read. */
  readonly token: string;
  /** For clients with a base URL; the provider's own host leads here as well. */
  readonly baseUrl: string;
  /** Variables for processes, in place of those of `vivarium.env`. */
  readonly env: Readonly<Record<string, string>>;
  /** The token is refused from then on. */
  close(): Promise<void>;
}

/** A running break. */
export interface Break extends AsyncDisposable {
  readonly id: string;
  /** Repairs the break; does nothing if its time has passed. */
  repair(): Promise<void>;
}

export interface TenantOptions {
  /** `free` by default, without custom domains; only `enterprise` takes `limits`. */
  plan?: Parameters<Client['projects']['create']>[0]['plan'];
  limits?: { perMinute: number; perDay: number };
  /** The number of pets to generate in production, the same for every tenant; 0 by default. */
  pets?: number;
}

export interface Tenant extends AsyncDisposable {
  /** The `projectId` of calls. */
  readonly id: string;
  readonly slug: string;
  /** The secret of its API key. */
  readonly key: string;
  /** The base address over HTTPS, with `/v1`. */
  readonly baseUrl: string;
  /** `fetch` with the API key; a path such as `/pets` is appended to the base address. */
  readonly fetch: typeof globalThis.fetch;
  /** Removes the project with its keys, pets and domains. */
  close(): Promise<void>;
}
