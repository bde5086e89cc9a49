import { ORPCError } from '@orpc/client';
import { codesAbout } from '../../../main/contract/check-codes.ts';
import type { AttachedLocally } from '../../../main/contract/domains.ts';
import { PLANS } from '../../../main/contract/plans.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { Client } from '../../connection/transport.ts';
import { Form } from '../controls/form.svelte.ts';
import { changedToPro } from '../limits/plans.ts';
import type { Toasts } from '../session/toasts.svelte.ts';
import { formatCount, formatCounted } from '../time/format.ts';
import { ATTACHED_MAX, readRefusal, type Refusal } from './domain-works.ts';

export interface AttachmentOptions {
  client: Client;
  toasts: Pick<Toasts, 'done'>;
  /** Reactive; without one, a project is made. */
  project: () => Project | undefined;
  /** Whether it begins with putting records into Vivarium's own DNS, and verifying. */
  local: boolean;
  hostname?: string;
}

/** Several pasted hostnames, of which the first has been asked for; `refusal`: why it was refused. */
export interface Several {
  hostnames: readonly string[];
  refusal: Refusal | undefined;
  local: boolean;
}

/** What came of an attempt: the domain, or what is left of several. */
export type Attached = { owner: Project } & ({ domain: AttachedLocally } | { several: Several });

/** Attaches a hostname, or the first of several; changes the plan and deploys first where it has to. */
export class Attachment {
  readonly form: Form<{ hostname: string; local: boolean }, Attached>;
  readonly #options: AttachmentOptions;
  #holder = $state.raw<{ hostname: string; projectId: string } | undefined>(undefined);
  /** Whether several lines were pasted. */
  readonly isList: boolean = $derived.by(() => this.form.values.hostname.includes('\n'));
  readonly #lines: readonly string[] = $derived.by(() => hostnamesIn(this.form.values.hostname));
  /** Lines that will be refused: those that cannot be hostnames, and those that repeat one. */
  readonly #bad: readonly string[] = $derived.by(() =>
    this.#lines.filter((each, index, all) => !NAME.test(each) || all.indexOf(each) !== index),
  );

  constructor(options: AttachmentOptions) {
    const { local, hostname = '' } = options;
    this.#options = options;
    this.form = new Form({
      values: { hostname, local },
      submit: (values) => this.#attach(values),
      fieldOf: (code) => (ATTACH_CODES.has(code) ? 'hostname' : undefined),
    });
  }

  /** Why so many are not asked for, which lines will not be attached, or the engine's refusal. */
  get fault(): string | undefined {
    const { length } = this.#lines;
    if (length > ATTACHED_MAX)
      return `has ${formatCounted(length, 'hostname', 'hostnames')}; at most ${formatCount(ATTACHED_MAX)} are attached at once`;
    if (!this.isList || this.#bad.length === 0) return this.form.fault('hostname');
    return `Not a hostname, or repeated: ${this.#bad.slice(0, BAD_NAMED).join(', ')}`;
  }

  /** The text of the one button: all that will be done. */
  get verb(): string {
    if (this.form.submitting) return 'Attaching';
    const { length } = this.#lines;
    const share = this.#bad.length === 0 ? '' : `${formatCount(length - this.#bad.length)} of `;
    const what = length < 2 ? '' : ` ${share}${formatCounted(length, 'domain', 'domains')}`;
    return this.#needsPlan ? `Change to Pro and attach${what}` : `Attach${what}`;
  }

  get #needsPlan(): boolean {
    const project = this.#options.project();
    return project !== undefined && !PLANS[project.plan].domains;
  }

  /** The owner of the hostname, if that is the reason for the refusal. */
  get holder(): { hostname: string; projectId: string } | undefined {
    return this.form.code === 'in_use' ? this.#holder : undefined;
  }

  async attach(): Promise<Attached | undefined> {
    if (this.#lines.length > ATTACHED_MAX) return undefined;
    this.#holder = undefined;
    const attached = await this.form.submit();
    if (this.form.code === 'in_use') await this.#findHolder();
    return attached;
  }

  /** Of several, the first is asked for, because a refusal for the plan or a deploy holds for all of them. */
  async #attach({ hostname: typed, local }: { hostname: string; local: boolean }): Promise<Attached> {
    const { client, toasts, project } = this.#options;
    const hostnames = hostnamesIn(typed);
    const [hostname = ''] = hostnames;
    const before = project();
    const needsPlan = this.#needsPlan;
    const owner = before ?? (await client.projects.create({ name: hostname || 'Shop', plan: 'pro' }));
    const { id: projectId, plan } = owner;
    if (needsPlan) await client.projects.update({ projectId, plan: 'pro' });
    let result: { domain: AttachedLocally } | { several: Several };
    try {
      const domain = await this.#ask({ projectId, hostname, local });
      result = hostnames.length === 1 ? { domain } : { several: { hostnames, refusal: undefined, local } };
    } catch (error) {
      if (hostnames.length === 1 || !(error instanceof ORPCError) || OF_PROJECT.has(error.code)) {
        // A refused hostname leaves everything as it was.
        if (before === undefined) await client.projects.remove({ projectId });
        else if (needsPlan) await client.projects.update({ projectId, plan });
        throw error;
      }
      result = { several: { hostnames, refusal: readRefusal(error), local } };
    }
    if (needsPlan) toasts.done(changedToPro(client, owner));
    return { owner, ...result };
  }

  /** A project that was never deployed is deployed first. */
  async #ask(asked: { projectId: string; hostname: string; local: boolean }): Promise<AttachedLocally> {
    const { client } = this.#options;
    try {
      return await client.domains.attach(asked);
    } catch (error) {
      if (!(error instanceof ORPCError) || error.code !== 'deploy_required') throw error;
      const { status, reason = '' } = await client.deploys.create({ projectId: asked.projectId });
      if (status === 'failed') throw new ORPCError(error.code, { message: `The deploy failed. ${reason}`.trim() });
      return client.domains.attach(asked);
    }
  }

  async #findHolder(): Promise<void> {
    try {
      const { client } = this.#options;
      const { hostname, projectId } = await client.domains.get({ hostname: this.form.values.hostname.trim() });
      this.#holder = { hostname, projectId };
    } catch {
      // The fault at the field names the project already; only the link is missing.
    }
  }
}

/** Refusals for a reason of the project, whatever the hostname. */
const OF_PROJECT: ReadonlySet<string> = new Set(['plan_required', 'deploy_required']);

/** Roughly: labels without spaces that neither begin nor end with a hyphen; the engine decides. */
const NAME = /^(?:\*\.)?(?:[^\s._/-]+(?:-+[^\s._/-]+)*\.)+[^\s._/-]+(?:-+[^\s._/-]+)*\.?$/;

/** The first ones are named. */
const BAD_NAMED = 9;

const ATTACH_CODES: ReadonlySet<string> = new Set(codesAbout('attach'));

/** The hostname of a URL, such as one copied from an address bar; other text unchanged. */
function hostnameIn(typed: string): string {
  const text = typed.trim();
  return /^https?:\/\//i.test(text) ? (URL.parse(text)?.hostname ?? text) : text;
}

/** The hostnames of a text, one a line: a line with a space, or one that is there twice, is refused as a whole. */
export const hostnamesIn = (typed: string): string[] =>
  typed.trim().includes('\n')
    ? typed
        .split(/[\n,;]/)
        .map(hostnameIn)
        .filter(Boolean)
    : [hostnameIn(typed)];
