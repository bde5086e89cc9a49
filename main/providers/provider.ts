import type { z } from 'zod';
import type { EpochMs } from '../base/clock.ts';
import type { Check, Domain } from '../contract/domains.ts';
import type { Services } from '../contract/index.ts';
import type { ProviderId } from '../contract/provider-table.ts';
import type { RateState, RateLimits } from '../model/rate-decision.ts';
import type { RuledWorld } from './domains.ts';

/** A provider whose API is emulated, as data and pure functions. */
export interface Provider {
  id: ProviderId;
  /** The header fields, in lower case, in which its clients send their token. */
  credentials: readonly string[];
  /** Variables that programs read: those of the token, the ids of the account, and credentials to be unset. */
  variables: {
    token: readonly string[];
    ids(account: Account): Readonly<Record<string, string>>;
    unset: readonly string[];
  };
  operations: readonly Operation[];
  /** How an app learns about a hostname. */
  asks(project: ProviderProject, hostname: string): readonly Question[];
  /** By the name that operations use; `default` counts all others. */
  limits: Readonly<Record<'default', RateLimits> & Record<string, RateLimits>>;
  /** How it refuses what any call may be refused, by Vivarium's code; `…` is Vivarium's sentence. */
  refusals: Readonly<Record<string, Partial<Refusal>>>;
  /** Writes a refusal in the provider's form; `said` is Vivarium's sentence. */
  failure(refusal: Refusal, said: string): Reply;
  /** Those of the specification without it. Times are real ones. */
  rateFields?(rate: RateState, nowMs: EpochMs): readonly string[];
  /** What no official source settles, with the choice that was made. */
  unsettled: readonly string[];
}

/** A call of an operation without a body. */
export interface Question {
  name: string;
  params: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
}

/** One operation of a provider's API. */
export interface Operation {
  /** As in the official specification. */
  name: string;
  method: string;
  /** Parameters in braces: `/v9/projects/{idOrName}/domains`. The number of the version is not compared. */
  path: string;
  /** The JSON body; none is read without it. */
  input?: z.ZodType;
  /** The row of `limits`. */
  limit?: string;
  /** `body` is by the schema; undefined without one. */
  handle(call: Call, body: unknown): Reply | Promise<Reply>;
  /** Why it is not emulated, although its provider’s surface here counts it. */
  missing?: string;
  /** The official client that drives it, if another one than most. */
  drivenBy?: string;
}

export interface Call {
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  account: Account;
  world: RuledWorld;
  /** Of `providers.ask`, which changes nothing: no claim is settled. */
  isQuestion?: true;
}

export interface Reply {
  status: number;
  /** A text as it is, anything else as JSON. */
  body: unknown;
  /** The request is of no operation, so its body is not recorded; neither is that of a 501. */
  isUnread?: true;
}

/** Why a call is refused. `more`: further members of the provider's error. */
export interface Refusal {
  status: number;
  code: string;
  message: string;
  more?: Readonly<Record<string, unknown>>;
}

/** Who calls: the projects of one connection, which exist at this moment. */
export interface Account {
  /** 24 hexadecimal digits; the same for the same first project. */
  id: string;
  projects: readonly [ProviderProject, ...ProviderProject[]];
}

export interface ProviderProject {
  id: string;
  name: string;
  slug: string;
}

/** A domain of any project. */
export interface HeldDomain {
  hostname: string;
  projectId: string;
  attachedAtMs: EpochMs;
  /** Since when checks have failed; null while it is verified. */
  seriesAtMs: EpochMs | null;
}

/** A row that the engine has no place for. */
export interface ProviderItem {
  provider: ProviderId;
  kind: 'claim' | 'domain' | 'extra' | 'origin' | 'record';
  projectId: string;
  /** A hostname, or the id of a record. */
  name: string;
  createdAtMs: EpochMs;
  data: Record<string, unknown>;
}

/** What a hostname's DNS says now, and whether its certificate may be issued. */
export interface HostnameLook {
  /** As in a verification by the project's persona, without claims. */
  checks: readonly Check[];
  /** CAA, and the suffixes of the root. */
  gate: readonly Check[];
}

/** The engine's facts, and the ways to change them. Services throw `VivariumError`. */
export interface World {
  services: Pick<Services, 'domains' | 'zones' | 'records' | 'certificates'>;
  now(): EpochMs;
  /** Of all projects, oldest first. */
  domains(): readonly HeldDomain[];
  /** Expects normal form. */
  held(hostname: string): HeldDomain | null;
  /** In normal form; null for a text that is no hostname, with the reason. */
  hostname(text: string): { hostname: string; apex: string } | { fault: string };
  /** Attaches by the rules about hostnames only. */
  attach(projectId: string, hostname: string): void;
  verify(hostname: string): Promise<Domain>;
  /** Why a project could not redirect a hostname of its own; null if it could. Expects normal form. */
  redirectFault(projectId: string, hostname: string, to: string): string | null;
  look(projectId: string, hostname: string): Promise<HostnameLook>;
  /** The values that DNS answers now; empty without any. */
  resolve(name: string, type: 'A' | 'CNAME' | 'NS' | 'TXT'): Promise<readonly string[]>;
  /** Where a project's domains point: the name for CNAMEs, and its IPv4 addresses. */
  target(project: ProviderProject): Promise<{ name: string; addresses: readonly string[] }>;
  /** The TXT record by which a project proves a claim. */
  proof(project: ProviderProject, hostname: string): { name: string; value: string };
  items: {
    list(kind: ProviderItem['kind']): readonly ProviderItem[];
    put(item: Omit<ProviderItem, 'provider' | 'createdAtMs'>): void;
    remove(item: Pick<ProviderItem, 'kind' | 'projectId' | 'name'>): void;
  };
}
