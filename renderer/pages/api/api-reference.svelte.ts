import type { ApiExchange } from '../../../main/contract/api.ts';
import type { HttpBlock } from '../../../main/contract/http-file.ts';
import type { ApiKey, CallerUsage } from '../../../main/contract/callers.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { Environment } from '../../../main/contract/values.ts';
import type { Client } from '../../connection/transport.ts';
import { inProject, LiveQuery, type Source } from '../../connection/live-query.svelte.ts';
import { readApiDocument, type ApiDocument, type ApiOperation } from './api-document.ts';
import { SavedRequests } from './trial/saved-requests.svelte.ts';
import { Trial } from './trial/api-trial.svelte.ts';

/** A project's API as the engine knows it. */
export interface Description {
  environment: Environment;
  baseUrl: string;
  /** Undefined when the target serves none, or not in OpenAPI 3. */
  document: ApiDocument | undefined;
}

/** The credentials of a request: an API key of the project by id, with its secret, or none. */
export type Credential = { kind: 'key'; keyId: string } | { kind: 'secret' } | { kind: 'none' };

export interface ApiReferenceOptions extends Source {
  project: Pick<Project, 'id'>;
  environment: Environment;
}

/** The description of a project's API and the requests tried on it. Secrets stay in memory. */
export class ApiReference {
  readonly description: LiveQuery<Description>;
  readonly keys: LiveQuery<ApiKey[]>;
  readonly usage: LiveQuery<CallerUsage[]>;
  readonly saved: SavedRequests;
  secret = $state('');
  #environment = $state<Environment>('production');
  #chosen = $state.raw<Credential | undefined>(undefined);
  /** The typed values per operation, while the page is open. */
  // eslint-disable-next-line svelte/prefer-svelte-reactivity -- entries are created on access and never awaited
  readonly #trials = new Map<string, Trial>();
  readonly #options: ApiReferenceOptions;
  readonly usableKeys = $derived.by(() => (this.keys.value ?? []).filter(({ revokedAt }) => revokedAt === undefined));

  constructor(options: ApiReferenceOptions) {
    this.#options = options;
    this.#environment = options.environment;
    const { client, changes, time, project } = options;
    const projectId = project.id;
    this.saved = new SavedRequests({ client, changes, time, projectId });
    let read: { text: string; document: ApiDocument | undefined } | undefined;
    // A change of primary or slug changes the base address.
    this.description = new LiveQuery(options, inProject({ projectId }, 'projects.changed'), async (signal) => {
      const environment = this.#environment;
      const { baseUrl, document: text } = await client.api.describe({ projectId, environment }, { signal });
      if (text !== null && read?.text !== text) read = { text, document: readApiDocument(text) };
      return { environment, baseUrl, document: text === null ? undefined : read?.document };
    });
    this.keys = new LiveQuery(options, inProject({ projectId }, 'keys.changed'), (signal) =>
      client.keys.list({ projectId }, { signal }),
    );
    this.usage = new LiveQuery(options, inProject({ projectId }, 'limits.changed', 'clock.changed'), (signal) =>
      client.limits.usage({ projectId }, { signal }),
    );
  }

  get projectId(): string {
    return this.#options.project.id;
  }

  get environment(): Environment {
    return this.#environment;
  }

  set environment(environment: Environment) {
    if (environment === this.#environment) return;
    this.#environment = environment;
    this.description.reread();
  }

  /** The selected credentials, by default the project's oldest key. */
  get credential(): Credential {
    const chosen = this.#chosen;
    const usable = this.usableKeys;
    if (chosen !== undefined && (chosen.kind !== 'key' || usable.some(({ id }) => id === chosen.keyId))) return chosen;
    const oldest = usable.at(-1);
    return oldest === undefined ? { kind: 'none' } : { kind: 'key', keyId: oldest.id };
  }

  set credential(credential: Credential) {
    this.#chosen = credential;
  }

  /** The trial of an operation; of a custom request when undefined. */
  trialOf(operation: ApiOperation | undefined): Trial {
    const id = operation?.id ?? '';
    const known = this.#trials.get(id);
    if (known !== undefined) return known;
    const variables = () => this.saved.variables;
    const trial = new Trial({ operation, send: (request) => this.#send(request), variables });
    this.#trials.set(id, trial);
    return trial;
  }

  /** Opens a saved request, or one of the history, in the form for custom ones. */
  open({ method, target, headers, body, checks }: HttpBlock): void {
    const others = headers.filter(({ name }) => name.toLowerCase() !== 'authorization');
    if (others.length === headers.length) this.credential = { kind: 'none' };
    else if (this.credential.kind === 'none') this.#chosen = undefined;
    const base = this.description.value?.baseUrl.replace(/\/$/, '') ?? '';
    const path = [base, '{{baseUrl}}'].reduce(
      (rest, start) => (rest.startsWith(start) ? rest.slice(start.length) : rest),
      target,
    );
    const fields = Object.fromEntries(others.map(({ name, value }) => [name, value]));
    this.trialOf(undefined).show({ method, path, headers: fields, ...(body !== undefined && { body }) }, checks);
  }

  close(): void {
    for (const each of [this.saved, this.description, this.keys, this.usage]) each.close();
  }

  #send(request: {
    method: string;
    path: string;
    headers: Record<string, string>;
    body?: string;
  }): Promise<ApiExchange> {
    const { client, project } = this.#options;
    const credential = this.credential;
    type Input = Parameters<Client['api']['send']>[0];
    return client.api.send({
      projectId: project.id,
      environment: this.#environment,
      ...request,
      // The document may name other servers; the engine lists the allowed ones.
      method: request.method as Exclude<Input['method'], undefined>,
      ...(credential.kind === 'key' && { keyId: credential.keyId }),
      ...(credential.kind === 'secret' && { secret: this.secret.trim() }),
    });
  }
}
