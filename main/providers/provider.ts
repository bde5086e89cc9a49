import type { z } from 'zod';
import type { EpochMs } from '../base/clock.ts';
import type { ProviderId } from '../contract/provider-table.ts';
import type { RateState, RateLimits } from '../model/rate-decision.ts';
import type { RuledWorld } from './domains.ts';
import type { Account, ProviderProject } from './facts.ts';

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
