import type { Domain } from '../../../main/contract/domains.ts';
import type { ApiKey, CallerUsage } from '../../../main/contract/callers.ts';
import { factsOf, type Plan } from '../../../main/contract/plans.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { Settings } from '../../../main/contract/settings.ts';
import { inProject, LiveQuery } from '../../connection/live-query.svelte.ts';
import { formatCounted } from '../../shared/time/format.ts';
import { liftingWith } from '../../shared/limits/ban-lift.ts';
import { Form } from '../../shared/controls/form.svelte.ts';
import { describeLimits, readLimits, type TypedLimits } from '../../shared/limits/plans.ts';
import type { SettingsSource } from '../../shared/session/settings-query.ts';
import { Task } from '../../shared/controls/task.svelte.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';
import type { FreshKey, UnreadSecrets } from '../../shared/session/unread-secrets.svelte.ts';

export interface KeysAndLimitsOptions extends SettingsSource {
  toasts: Toasts;
  secrets: UnreadSecrets;
  /** The page's project, with its latest values. */
  project: () => Project;
}

type AgreedValues = TypedLimits & { plan: Plan } & Record<string, unknown>;

/** A project's plan, keys and callers, with their actions. Created for one project, closed with the page. */
export class KeysAndLimits {
  readonly projectId: string;
  readonly usage: LiveQuery<CallerUsage[]>;
  readonly keys: LiveQuery<ApiKey[]>;
  readonly domains: LiveQuery<Domain[]>;
  /** Contains the ban rule. */
  readonly settings: LiveQuery<Settings>;
  readonly newKey: Form<{ name: string }, FreshKey>;
  /** A plan whose limits are agreed, with them. */
  readonly agreed: Form<AgreedValues, Project>;
  readonly changingPlan: Task<[Plan], Project>;
  readonly lifting: Task<[keyId: string, name: string]>;
  readonly resetting: Task<[caller?: { caller: string; name: string }]>;
  readonly #options: KeysAndLimitsOptions;
  /** The number of attached domains; undefined until loaded. */
  readonly domainCount: number | undefined = $derived.by(() => this.domains.value?.length);

  constructor(options: KeysAndLimitsOptions) {
    this.#options = options;
    this.settings = options.settings;
    const { client, toasts, secrets, project } = options;
    const projectId = project().id;
    this.projectId = projectId;
    this.usage = new LiveQuery(
      options,
      inProject({ projectId }, 'limits.changed', 'keys.changed', 'projects.changed', 'clock.changed'),
      (signal) => client.limits.usage({ projectId }, { signal }),
    );
    // Every request updates a key's last use.
    this.keys = new LiveQuery(options, inProject({ projectId }, 'keys.changed', 'limits.changed'), (signal) =>
      client.keys.list({ projectId }, { signal }),
    );
    this.domains = new LiveQuery(options, inProject({ projectId }, 'domains.changed', 'projects.changed'), (signal) =>
      client.domains.list({ projectId }, { signal }),
    );

    this.newKey = new Form({
      values: { name: '' },
      submit: async ({ name }) => {
        const key = await client.keys.create({ projectId, ...(name.trim() !== '' && { name }) });
        secrets.hold(projectId, key);
        return key;
      },
    });
    this.changingPlan = new Task((plan) => this.#change({ plan }));
    this.agreed = new Form({
      values: this.#agreedLimits(project().plan),
      submit: (values) => this.#change({ plan: values.plan, limits: readLimits(values) }),
    });
    this.lifting = liftingWith(client, toasts);
    this.resetting = new Task(async (of) => {
      await client.limits.reset({ projectId, ...(of !== undefined && { caller: of.caller }) });
      toasts.say(of === undefined ? 'All counters are at zero.' : `The counters of ${of.name} are at zero.`);
    });
  }

  /** Fills the form of a plan whose limits are agreed with the current ones. */
  beginAgreeing(plan: Plan): void {
    this.agreed.reset(this.#agreedLimits(plan));
  }

  async revoke({ id, name }: ApiKey): Promise<void> {
    const { client, secrets, toasts } = this.#options;
    await client.keys.revoke({ keyId: id });
    secrets.acknowledge(id);
    toasts.say(`${name} is revoked.`);
  }

  close(): void {
    for (const query of [this.usage, this.keys, this.domains]) query.close();
  }

  #agreedLimits(plan: Plan): AgreedValues {
    const { perMinute, perDay } = this.#options.project().limits;
    return { plan, 'limits.perMinute': String(perMinute), 'limits.perDay': String(perDay) };
  }

  async #change(to: { plan: Plan; limits?: Project['limits'] }): Promise<Project> {
    const { client, toasts, project } = this.#options;
    const before = project();
    const projectId = before.id;
    const changed = await client.projects.update({ projectId, ...to });
    const kept = factsOf(before.plan).limits === null ? { limits: before.limits } : {};
    toasts.done({
      text: this.#report(before, changed),
      undo: () => client.projects.update({ projectId, plan: before.plan, ...kept }),
      undone: `${before.name} is on ${factsOf(before.plan).title} again.`,
    });
    return changed;
  }

  #report(before: Project, { name, plan, limits }: Project): string {
    const { title, ...facts } = factsOf(plan);
    const agreed = facts.limits === null ? `: ${describeLimits(limits)}` : '';
    const domains = this.domainCount ?? 0;
    const counted = formatCounted(domains, 'domain is', 'domains are');
    const suspended = domains > 0 && !facts.domains && factsOf(before.plan).domains ? ` ${counted} suspended.` : '';
    return `${name} is on ${title} now${agreed}.${suspended}`;
  }
}
