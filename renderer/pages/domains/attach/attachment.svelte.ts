import { ORPCError } from '@orpc/client';
import { codesAbout } from '../../../../main/contract/check-codes.ts';
import type { Domain } from '../../../../main/contract/domains.ts';
import { describeFailure } from '../../../connection/failure.ts';
import type { Client } from '../../../connection/transport.ts';
import type { DomainActions } from '../domain-actions.svelte.ts';
import { Form } from '../../../shared/controls/form.svelte.ts';
import { Task } from '../../../shared/controls/task.svelte.ts';
import { hostnamesIn } from './pasted-hostnames.ts';

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

/** Several pasted hostnames, of which the first has been asked for; `refusal`: why it was refused. */
export interface Several {
  hostnames: readonly string[];
  refusal: string | undefined;
}

/** Attaches a hostname, or the first of several, and offers a fix for each refusal. */
export class Attachment {
  readonly projectId: string;
  readonly form: Form<{ hostname: string }, Domain | undefined>;
  /** Deploys a project that was never deployed, changes its plan and retries; returns the attached domain. */
  readonly changePlan: Task<[], Domain | undefined>;
  /** Deploys and retries. */
  readonly deploy: Task<[], Domain | undefined>;
  #several: Several | undefined;
  #deployFault = $state<string | undefined>(undefined);
  #holder = $state.raw<Holder | undefined>(undefined);
  readonly #client: Client;

  constructor({ client, actions, projectId, hostname = '' }: AttachmentOptions) {
    this.#client = client;
    this.projectId = projectId;
    this.form = new Form({
      values: { hostname },
      submit: (values) => this.#ask(hostnamesIn(values.hostname)),
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

  /** Those that remain to be attached after a successful attempt; undefined for one hostname. */
  get several(): Several | undefined {
    return this.#several;
  }

  async attach(): Promise<Domain | undefined> {
    this.#holder = undefined;
    this.#several = undefined;
    this.#deployFault = undefined;
    const domain = await this.form.submit();
    if (domain === undefined && this.form.code === 'in_use') await this.#findHolder();
    return domain;
  }

  /** Of several, the first is asked for, because a refusal for the plan or a deploy holds for all of them. */
  async #ask(hostnames: readonly string[]): Promise<Domain | undefined> {
    const [hostname = '', ...others] = hostnames;
    const attached = this.#client.domains.attach({ projectId: this.projectId, hostname });
    if (others.length === 0) return attached;
    const refused = (error: unknown): string => {
      if (!(error instanceof ORPCError) || OF_PROJECT.has(error.code)) throw error;
      return describeFailure(error);
    };
    this.#several = { hostnames, refusal: await attached.then(() => undefined, refused) };
    return undefined;
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

/** Refusals for a reason of the project, whatever the hostname. */
const OF_PROJECT: ReadonlySet<string> = new Set(['plan_required', 'deploy_required']);

const ATTACH_CODES: ReadonlySet<string> = new Set(codesAbout('attach'));
