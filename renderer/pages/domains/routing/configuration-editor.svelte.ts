import { ORPCError } from '@orpc/client';
import type { DomainConfiguration } from '../../../../main/contract/domains.ts';
import { issuesOf } from '../../../connection/failure.ts';
import { LiveQuery, type Source } from '../../../connection/live-query.svelte.ts';
import { Form } from '../../../shared/controls/form.svelte.ts';
import type { Toasts } from '../../../shared/session/toasts.svelte.ts';

export interface ConfigurationEditorOptions extends Source {
  toasts: Pick<Toasts, 'done'>;
  projectId: string;
}

/** The domain configuration of a project as JSON, displayed and edited. */
export class ConfigurationEditor {
  readonly configuration: LiveQuery<DomainConfiguration>;
  readonly form: Form<{ text: string }, DomainConfiguration>;
  readonly #options: ConfigurationEditorOptions;
  readonly #unfollow: () => void;

  constructor(options: ConfigurationEditorOptions) {
    this.#options = options;
    const { client, projectId } = options;
    this.configuration = new LiveQuery(options, ['domains.changed', 'projects.changed'], (signal) =>
      client.domains.export({ projectId }, { signal }),
    );
    this.form = new Form({ values: { text: '' }, submit: ({ text }) => this.#apply(text), fieldOf: () => 'text' });
    this.#unfollow = this.configuration.follow((value) =>
      this.form.follow({ text: `${JSON.stringify(value, null, 2)}\n` }),
    );
  }

  close(): void {
    this.#unfollow();
    this.configuration.close();
  }

  /** Attaches missing domains, sets the primary and the redirects. Removes no domain. */
  async #apply(text: string): Promise<DomainConfiguration> {
    const { client, projectId, toasts } = this.#options;
    // The engine validates the content, including unknown fields.
    const configuration = readJson(text) as object;
    const before = await client.domains.export({ projectId });
    const after = await client.domains.import({ projectId, configuration }).catch((error: unknown) => {
      // In the names of the file, one fault a line.
      const faults = issuesOf(error).map(({ path, message }) => `“${path.replace('configuration.', '')}”: ${message}`);
      throw faults.length === 0 ? error : new ORPCError('invalid_request', { message: faults.join('\n') });
    });
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
    return after;
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
    throw new ORPCError('invalid_request', { message });
  }
}
