import type { ContractProcedure, ErrorMap, Meta } from '@orpc/contract';
import type { z } from 'zod';
import { access, status, clock, events } from './status.ts';
import { acme } from './acme.ts';
import { api, requests } from './api.ts';
import { backup, snapshots } from './snapshots.ts';
import { breaks, drills } from './breaks.ts';
import { ca, certificates, caa } from './certificates.ts';
import { deploys, projects } from './projects.ts';
import { doctor } from './doctor.ts';
import { domains } from './domains.ts';
import { examinations } from './examine.ts';
import { keys, limits } from './callers.ts';
import { machine } from './machine.ts';
import { manners } from './manners.ts';
import { pets, orders } from './pets.ts';
import { providers } from './providers.ts';
import { reach, lan } from './reach.ts';
import { runs } from './runs.ts';
import { settings } from './settings.ts';
import { traffic } from './traffic.ts';
import { worlds } from './world.ts';
import { dns, records, zones } from './zones.ts';

/**
 * The contract of a Vivarium. The app window, the browser, scripts and the command line derive their clients from it.
 */
export const contract = {
  status,
  projects,
  deploys,
  keys,
  limits,
  api,
  requests,
  pets,
  orders,
  domains,
  zones,
  records,
  dns,
  caa,
  certificates,
  ca,
  acme,
  clock,
  traffic,
  manners,
  providers,
  reach,
  runs,
  machine,
  lan,
  doctor,
  breaks,
  drills,
  examinations,
  backup,
  snapshots,
  world: worlds,
  settings,
  access,
  events,
};
export type Contract = typeof contract;

/** `pets.list`. */
export type ProcedureName = {
  [Namespace in keyof Contract]: `${Namespace}.${keyof Contract[Namespace] & string}`;
}[keyof Contract];

type OutputOf<Procedure> = Procedure extends { '~orpc': { outputSchema?: infer Schema } }
  ? NonNullable<Schema> extends z.ZodType
    ? z.output<NonNullable<Schema>>
    : unknown
  : never;

/** The result of a procedure, by its name. */
export type ResultOf<Name extends ProcedureName> =
  Name extends `${infer Namespace extends keyof Contract}.${infer Procedure}`
    ? OutputOf<Contract[Namespace][Procedure & keyof Contract[Namespace]]>
    : never;

/** Calls a procedure of a running Vivarium. @throws an Error with a sentence when it is refused */
export type Ask = <Name extends ProcedureName>(procedure: Name, input?: object) => Promise<ResultOf<Name>>;

/** What a service receives besides its input. `signal` aborts when the caller disconnects. */
export interface CallContext {
  signal: AbortSignal | undefined;
}

type Service<Procedure> =
  Procedure extends ContractProcedure<infer Input extends z.ZodType, infer Output extends z.ZodType, ErrorMap, Meta>
    ? (input: z.output<Input>, context: CallContext) => z.input<Output> | Promise<z.input<Output>>
    : Procedure extends ContractProcedure<infer Input extends z.ZodType, infer Output, ErrorMap, Meta>
      ? (input: z.output<Input>, context: CallContext) => StreamOf<Output>
      : never;

type StreamOf<Output> = Output extends { '~standard': { types?: { input: infer Value } | undefined } } ? Value : never;

/** One function for each procedure: a procedure without a service, or the reverse, does not compile. */
export type Services = {
  [Namespace in keyof Contract]: {
    [Procedure in keyof Contract[Namespace]]: Service<Contract[Namespace][Procedure]>;
  };
};
