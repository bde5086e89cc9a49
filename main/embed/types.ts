import type { Client } from './client.ts';

export interface StartOptions {
  /** Start with the two demo projects; false by default. */
  demo?: boolean;
  /** Freeze the clock at this moment: ISO 8601, or a date, which is its beginning in UTC. By default it runs. */
  clock?: string;
}

/**
 * A Vivarium of this process, on free ports and in memory. It has every namespace of the contract as a member:
 * `vivarium.domains.attach(…)` is the command `vivarium domains attach`, with the same input and the same answer. What
 * Vivarium refuses rejects with an `Error` that has a `code`, such as `plan_required`, and the `issues` of the input.
 */
export interface Vivarium extends Omit<Client, 'ca'>, AsyncDisposable {
  /** The calls about the root, and the root itself, for other clients. */
  readonly ca: Client['ca'] & {
    /** The root as a PEM file, such as for `NODE_EXTRA_CA_CERTS` of another process. */
    readonly file: string;
    /** The root as PEM, such as for the option `ca` of `node:https`. */
    readonly pem: string;
  };
  /** The listeners on 127.0.0.1; `dns` is for UDP and TCP. */
  readonly ports: { readonly http: number; readonly https: number; readonly dns: number; readonly control: number };
  /** A forward proxy that leads to the served hostnames only, for browsers. */
  readonly proxyUrl: string;
  /** `https://shop.acme.test:PORT` for `shop.acme.test`. */
  url(hostname: string): string;
  /**
   * The standard `fetch`, which also resolves the hostnames of this Vivarium by its DNS server and trusts its root for
   * them. A URL without a port reaches its listeners. Other hostnames are reached as always.
   */
  readonly fetch: typeof globalThis.fetch;
  /** Keeps the whole world, with its clock, under a name (`snapshot` if omitted), in place of an older one of that name. */
  snapshot(name?: string): Promise<void>;
  /** Returns the whole world, with its clock, to such a snapshot. */
  restore(name?: string): Promise<void>;
  /**
   * Breaks something on purpose, such as `api.unavailable`, until it is repaired, or for ten minutes of the clock:
   * `await using broken = await vivarium.break('http.empty-response', { on: { hostname } })`.
   */
  break(entry: string, options?: BreakOptions): Promise<Break>;
  /** A new project with a key: what a test needs to have for itself, on a Vivarium that it shares. */
  tenant(options?: TenantOptions): Promise<Tenant>;
  /** Stops it. Requests in progress may take 5 s. Further calls wait for the first. */
  close(): Promise<void>;
}

/** The input of `breaks.start`: what to break, how much of it, and how long. */
export type BreakOptions = Omit<Parameters<Client['breaks']['start']>[0], 'entry'>;

/** What is broken until it is repaired. */
export interface Break extends AsyncDisposable {
  readonly id: string;
  /** Also once its time is over. */
  repair(): Promise<void>;
}

export interface TenantOptions {
  /** `free` by default, which has no custom domains; `enterprise` with `limits`, which no other plan takes. */
  plan?: 'free' | 'pro' | 'business' | 'enterprise';
  limits?: { perMinute: number; perDay: number };
  /** How many generated pets its production has, the same ones each time; none by default. */
  pets?: number;
}

export interface Tenant extends AsyncDisposable {
  /** What the calls take as `projectId`. */
  readonly id: string;
  readonly slug: string;
  /** The secret of its API key. */
  readonly key: string;
  /** The base address over HTTPS, with `/v1`. */
  readonly baseUrl: string;
  /** `fetch` with its API key; a path such as `/pets` follows the base address. */
  readonly fetch: typeof globalThis.fetch;
  /** Removes the project, with its keys, pets and domains. */
  close(): Promise<void>;
}
