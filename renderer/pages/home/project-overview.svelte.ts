import type { Deploy } from '../../../main/contract/projects.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import type { ApiKey } from '../../../main/contract/keys.ts';
import type { CallerUsage } from '../../../main/contract/limits.ts';
import type { PetRecord } from '../../../main/contract/pets.ts';
import type { Environment } from '../../../main/contract/values.ts';
import { describeFailure } from '../../connection/failure.ts';
import { inProject, LiveQuery, type ProjectSource } from '../../connection/live-query.svelte.ts';
import { RequestHistory } from './request-history.svelte.ts';

/** A sample; the Pets page lists all. */
export const FIRST_PETS = 8;

/** The number of pets that "add some" adds to an empty dataset. */
export const SEED_COUNT = 30;

export interface FirstPets {
  items: PetRecord[];
  total: number;
}

/** The Overview's data of one project. Created when the project is selected, closed when it is not. */
export class ProjectOverview {
  readonly usage: LiveQuery<CallerUsage[]>;
  readonly keys: LiveQuery<ApiKey[]>;
  readonly domains: LiveQuery<Domain[]>;
  readonly deploys: LiveQuery<Deploy[]>;
  readonly history: RequestHistory;
  readonly pets: Record<Environment, LiveQuery<FirstPets>>;
  #environment = $state<Environment>('production');
  #seeding = $state(false);
  #seedFailure = $state<string | undefined>(undefined);
  readonly #options: ProjectSource;

  constructor(options: ProjectSource) {
    this.#options = options;
    const { client, changes, time, projectId } = options;
    this.usage = new LiveQuery(options, {
      read: (signal) => client.limits.usage({ projectId }, { signal }),
      // A plan change sets new limits, a clock set back restarts windows, and a revoked key stops calling.
      concerns: inProject(options, 'clock.changed', 'limits.changed', 'keys.changed', 'projects.changed'),
    });
    this.keys = new LiveQuery(options, {
      read: (signal) => client.keys.list({ projectId }, { signal }),
      concerns: inProject(options, 'keys.changed'),
    });
    this.domains = new LiveQuery(options, {
      read: (signal) => client.domains.list({ projectId }, { signal }),
      concerns: inProject(options, 'domains.changed', 'certificates.changed'),
    });
    this.deploys = new LiveQuery(options, {
      read: (signal) => client.deploys.list({ projectId }, { signal }),
      concerns: inProject(options, 'deploys.changed'),
    });
    this.history = new RequestHistory({ client, changes, time, projectId });
    const petsOf = (environment: Environment): LiveQuery<FirstPets> =>
      new LiveQuery(options, {
        read: (signal) => client.pets.list({ projectId, environment, limit: FIRST_PETS }, { signal }),
        concerns: inProject({ projectId, environment }, 'pets.changed'),
      });
    this.pets = { production: petsOf('production'), staging: petsOf('staging') };
  }

  get environment(): Environment {
    return this.#environment;
  }

  set environment(environment: Environment) {
    this.#environment = environment;
    this.#seedFailure = undefined;
  }

  get seeding(): boolean {
    return this.#seeding;
  }

  get seedFailure(): string | undefined {
    return this.#seedFailure;
  }

  /** Adds sample pets to the selected dataset. */
  async seed(): Promise<void> {
    if (this.#seeding) return;
    this.#seeding = true;
    this.#seedFailure = undefined;
    const { client, projectId } = this.#options;
    try {
      await client.pets.seed({ projectId, environment: this.#environment, count: SEED_COUNT });
    } catch (error) {
      this.#seedFailure = describeFailure(error);
    } finally {
      this.#seeding = false;
    }
  }

  close(): void {
    for (const query of [
      this.usage,
      this.keys,
      this.domains,
      this.deploys,
      this.history,
      this.pets.production,
      this.pets.staging,
    ])
      query.close();
  }
}
