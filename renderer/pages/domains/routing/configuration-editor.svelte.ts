import type { DomainConfiguration } from '../../../../main/contract/domains.ts';
import { describeFailure } from '../../../connection/failure.ts';
import { LiveQuery, type Source } from '../../../connection/live-query.svelte.ts';
import type { Toasts } from '../../../shared/session/toasts.svelte.ts';

export interface ConfigurationEditorOptions extends Source {
  toasts: Pick<Toasts, 'done'>;
  projectId: string;
}

/** The domain configuration of a project as JSON, displayed and edited. */
export class ConfigurationEditor {
  readonly configuration: LiveQuery<DomainConfiguration>;
  #draft = $state<string | undefined>(undefined);
  applying = $state(false);
  fault = $state<string | undefined>(undefined);
  readonly #options: ConfigurationEditorOptions;
  readonly edited: boolean = $derived.by(() => this.#draft !== undefined);

  constructor(options: ConfigurationEditorOptions) {
    this.#options = options;
    const { client, projectId } = options;
    this.configuration = new LiveQuery(options, ['domains.changed', 'projects.changed'], (signal) =>
      client.domains.export({ projectId }, { signal }),
    );
  }

  /** The edited text, or the configuration in force. */
  get text(): string {
    return this.#draft ?? this.stored;
  }

  set text(text: string) {
    this.#draft = text === this.stored ? undefined : text;
    this.fault = undefined;
  }

  /** The configuration in force, formatted as a file. */
  get stored(): string {
    const { value } = this.configuration;
    return value === undefined ? '' : `${JSON.stringify(value, null, 2)}\n`;
  }

  get typed(): string | undefined {
    return this.#draft;
  }

  restore(kept: unknown): void {
    if (typeof kept === 'string') this.#draft = kept;
  }

  discard(): void {
    this.#draft = undefined;
    this.fault = undefined;
  }

  /** Applies the text: attaches missing domains, sets the primary and the redirects. Removes no domain. */
  async apply(): Promise<boolean> {
    const before = this.configuration.value;
    if (this.applying || before === undefined) return false;
    const configuration = this.#parse();
    if (configuration === undefined) return false;
    const { client, projectId } = this.#options;
    this.applying = true;
    try {
      // The engine validates the content, including unknown fields.
      const after = await client.domains.import({ projectId, configuration: configuration as object });
      this.#draft = undefined;
      this.#report(before, after);
      return true;
    } catch (error) {
      this.fault = describeFailure(error);
      return false;
    } finally {
      this.applying = false;
    }
  }

  close(): void {
    this.configuration.close();
  }

  #parse(): unknown {
    this.fault = undefined;
    try {
      return JSON.parse(this.text);
    } catch (error) {
      this.fault = `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
      return undefined;
    }
  }

  #report(before: DomainConfiguration, after: DomainConfiguration): void {
    const { client, projectId, toasts } = this.#options;
    const attached = after.domains.filter((hostname) => !before.domains.includes(hostname));
    const added = attached.length === 0 ? '' : ` Attached: ${attached.join(', ')}; verify them next.`;
    toasts.done({
      text: `The configuration applies now.${added}`,
      undo: async () => {
        const { primary, redirects } = before;
        await client.domains.import({ projectId, configuration: { primary, redirects } });
        for (const hostname of attached) await client.domains.remove({ hostname });
      },
      undone: 'The configuration was restored.',
    });
  }
}
