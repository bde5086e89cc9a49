import { codesAbout } from '../../../../main/contract/check-codes.ts';
import type { Domain } from '../../../../main/contract/domains.ts';
import type { Client } from '../../../connection/transport.ts';
import type { DomainActions } from '../domain-actions.svelte.ts';
import { Form } from '../../../shared/controls/form.svelte.ts';
import { Task } from '../../../shared/controls/task.svelte.ts';

export interface AttachmentOptions {
  client: Client;
  actions: Pick<DomainActions, 'changePlan'>;
  projectId: string;
  hostname?: string;
}

export interface Holder {
  hostname: string;
  projectId: string;
}

/** Attaches a hostname and offers a fix for each refusal. */
export class Attachment {
  readonly projectId: string;
  readonly form: Form<{ hostname: string }, Domain>;
  /** Deploys a project that was never deployed, changes its plan and retries; returns the attached domain. */
  readonly changePlan: Task<[], Domain | undefined>;
  /** Deploys and retries. */
  readonly deploy: Task<[], Domain | undefined>;
  #deployFault = $state<string | undefined>(undefined);
  #holder = $state.raw<Holder | undefined>(undefined);
  readonly #client: Client;

  constructor({ client, actions, projectId, hostname = '' }: AttachmentOptions) {
    this.#client = client;
    this.projectId = projectId;
    this.form = new Form({
      values: { hostname },
      submit: (values) => client.domains.attach({ projectId, hostname: hostnameIn(values.hostname) }),
      fieldOf: (code) => (ATTACH_CODES.has(code) ? 'hostname' : undefined),
    });
    this.changePlan = new Task(async () => {
      const deploys = await client.deploys.list({ projectId });
      // Before the plan: a failed deploy then leaves the project as it was.
      const isDeployed = deploys.some(({ status }) => status === 'succeeded') || (await this.#deploys());
      return isDeployed && (await actions.changePlan('pro')) ? this.attach() : undefined;
    });
    this.deploy = new Task(async () => ((await this.#deploys()) ? this.attach() : undefined));
  }

  /** The owner of the hostname, if that is the reason for the refusal. */
  get holder(): Holder | undefined {
    return this.form.code === 'in_use' ? this.#holder : undefined;
  }

  /** The reason why a deploy did not help. */
  get deployFault(): string | undefined {
    return this.#deployFault ?? this.deploy.failure ?? this.changePlan.failure;
  }

  async attach(): Promise<Domain | undefined> {
    this.#holder = undefined;
    this.#deployFault = undefined;
    const domain = await this.form.submit();
    if (domain === undefined && this.form.code === 'in_use') await this.#findHolder();
    return domain;
  }

  async #deploys(): Promise<boolean> {
    const { status, reason } = await this.#client.deploys.create({ projectId: this.projectId });
    this.#deployFault = status === 'failed' ? `The deploy failed. ${reason ?? ''}` : undefined;
    return status === 'succeeded';
  }

  async #findHolder(): Promise<void> {
    try {
      const { hostname, projectId } = await this.#client.domains.get({ hostname: this.form.values.hostname.trim() });
      this.#holder = { hostname, projectId };
    } catch {
      // The fault at the field names the project already; only the link is missing.
    }
  }
}

/** The hostname of a URL, such as one copied from an address bar; other text unchanged. */
function hostnameIn(typed: string): string {
  const text = typed.trim();
  return /^https?:\/\//i.test(text) ? (URL.parse(text)?.hostname ?? text) : text;
}

const ATTACH_CODES: ReadonlySet<string> = new Set(codesAbout('attach'));
