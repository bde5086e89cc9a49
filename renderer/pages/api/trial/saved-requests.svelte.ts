import {
  joinTexts,
  readHttpFile,
  withoutRequest,
  writeRequest,
  type HttpBlock,
  type HttpRequest,
} from '../../../../main/contract/http-file.ts';
import type { Client } from '../../../connection/transport.ts';
import { LiveQuery, type ProjectSource } from '../../../connection/live-query.svelte.ts';
import { Form } from '../../../shared/controls/form.svelte.ts';

type Texts = Awaited<ReturnType<Client['requests']['get']>>;

/** A project's saved requests and the last ones sent; both are `.http` texts that the engine keeps. */
export class SavedRequests {
  readonly query: LiveQuery<Texts>;
  readonly editing: Form<{ text: string }, { saved: string }>;
  readonly #unfollow: () => void;
  readonly #options: ProjectSource;
  readonly #saved = $derived.by(() => readHttpFile(this.query.value?.saved ?? ''));
  /** The last requests sent, newest first. */
  readonly history = $derived.by(() => readHttpFile(this.query.value?.history ?? '').requests);
  readonly requests: readonly HttpBlock[] = $derived.by(() => this.#saved.requests);

  constructor(options: ProjectSource) {
    this.#options = options;
    const { client, projectId } = options;
    this.query = new LiveQuery(
      options,
      (change) => change.type === 'requests.changed' && change.projectId === projectId,
      (signal) => client.requests.get({ projectId }, { signal }),
    );
    this.editing = new Form({ values: { text: '' }, submit: ({ text }) => this.save(text) });
    this.#unfollow = this.query.follow(({ saved }) => {
      if (this.editing.typed === undefined) this.editing.reset({ text: saved });
    });
  }

  get variables(): Readonly<Record<string, string>> {
    // Requests are sent to the project's own base address, as the form's key.
    return { ...this.#saved.variables, baseUrl: '' };
  }

  async save(text: string): Promise<{ saved: string }> {
    const { client, projectId } = this.#options;
    const answer = await client.requests.save({ projectId, text });
    this.query.amend((texts) => ({ ...texts, ...answer }));
    return answer;
  }

  /** Adds a request; returns what undoes that. */
  async add(request: HttpRequest): Promise<() => Promise<unknown>> {
    const before = this.query.value?.saved ?? '';
    await this.save(joinTexts(before, writeRequest(request)));
    return () => this.save(before);
  }

  async remove(request: HttpBlock): Promise<() => Promise<unknown>> {
    const before = this.query.value?.saved ?? '';
    await this.save(withoutRequest(before, request));
    return () => this.save(before);
  }

  async forget(): Promise<void> {
    const { client, projectId } = this.#options;
    await client.requests.forget({ projectId });
  }

  /**
   * The saved requests as a file for other programs: with the base address, and with the key from the variable
   * `VIVARIUM_KEY` of the environment.
   */
  fileText(baseUrl: string): string {
    const { variables } = this.#saved;
    const given = { baseUrl: baseUrl.replace(/\/$/, ''), key: '{{$processEnv VIVARIUM_KEY}}' };
    const lines = Object.entries(given).flatMap(([name, value]) => (name in variables ? [] : [`@${name} = ${value}`]));
    return [...lines, '', this.query.value?.saved ?? ''].join('\n');
  }

  close(): void {
    this.#unfollow();
    this.query.close();
  }
}
