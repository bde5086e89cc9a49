import { ORPCError } from '@orpc/client';
import { SvelteSet } from 'svelte/reactivity';
import type { RunningBreak } from '../../../main/contract/breaks.ts';
import { certificateWord } from '../../../main/contract/check-codes.ts';
import type { Domain } from '../../../main/contract/domains.ts';
import { PERSONA_NAMES, type PersonaId } from '../../../main/contract/provider-table.ts';
import type { Project } from '../../../main/contract/projects.ts';
import type { Run } from '../../../main/contract/runs.ts';
import { lineOf, type RecordPlan } from '../../../main/contract/record-plan.ts';
import { describeFailure } from '../../connection/failure.ts';
import type { Client } from '../../connection/transport.ts';
import type { Announcer } from '../../shared/session/announcer.svelte.ts';
import { type DomainWorkOptions, onlyEnded, readUses, restoreUses } from './domain-removal.ts';
import { changedToPro } from '../../shared/limits/plans.ts';
import { applyPlan } from '../../shared/domains/record-plan.ts';
import type { Toasts } from '../../shared/session/toasts.svelte.ts';

export interface DomainActionsOptions extends DomainWorkOptions {
  toasts: Pick<Toasts, 'say' | 'fail' | 'done'>;
  announcer: Pick<Announcer, 'say'>;
  /** The run of the project, which holds its hostnames. */
  run: () => Run | undefined;
  /** Called with the result of a check before any refresh. */
  onverified: (domain: Domain) => void;
}

/** The action is *Verify* until it succeeds once, then *Re-verify*. */
export const verbOf = ({ verifiedAt }: Domain): 'Verify' | 'Re-verify' =>
  verifiedAt === undefined ? 'Verify' : 'Re-verify';

/** The actions on a project's domains, shared by the list and the detail. Each reports its own result. */
export class DomainActions {
  readonly #busy = new SvelteSet<string>();
  readonly #options: DomainActionsOptions;

  constructor(options: DomainActionsOptions) {
    this.#options = options;
  }

  isBusy(hostname: string): boolean {
    return this.#busy.has(hostname);
  }

  /** Whether a run serves it, so that it can be neither removed nor redirected. */
  isHeld(hostname: string): boolean {
    return this.#options.run()?.hostnames.includes(hostname) === true;
  }

  /** Checks the DNS now. The domain shows the findings, so they are only announced to screen readers. */
  async verify(hostname: string): Promise<Domain | undefined> {
    const domain = await this.#do(hostname, ({ domains }) => domains.verify({ hostname }));
    if (domain !== undefined) {
      this.#options.onverified(domain);
      this.#options.announcer.say(`${hostname}: ${verdictOf(domain)}.`);
    }
    return domain;
  }

  /** Issues a new certificate. The domain shows a refusal, so it is not reported again. */
  async renew(hostname: string): Promise<void> {
    const renewed = await this.#do(
      hostname,
      ({ certificates }) => certificates.renew({ hostname }),
      (error) => (isConflict(error) ? `${hostname} was not renewed; its checks say why.` : undefined),
    );
    if (renewed !== undefined) this.#options.toasts.say(`${hostname} has a new certificate.`);
  }

  /** Takes effect at once. Undo attaches the domain again, with its redirects, primary and breaks. */
  async remove(hostname: string): Promise<boolean> {
    const { client, projectId, toasts } = this.#options;
    const uses = await this.#do(hostname, async ({ domains }) => {
      const before = await readUses(this.#options);
      const { breaks = [] } = await domains.remove({ hostname });
      return onlyEnded(before, breaks);
    });
    if (uses === undefined) return false;
    let back: Domain | undefined;
    let broken: readonly string[] = [];
    toasts.done({
      text: `Removed ${hostname}. It is no longer served, and its certificate was deleted.${listed(' No longer broken', namesOf(uses.breaks))}`,
      undo: async () => {
        await client.domains.attach({ projectId, hostname });
        back = await client.domains.verify({ hostname });
        broken = namesOf(await restoreUses(this.#options, [hostname], uses));
      },
      undone() {
        const state = back === undefined ? 'not verified' : verdictOf(back);
        const left = namesOf(uses.breaks).filter((title) => !broken.includes(title));
        return `${hostname} is attached again, ${state}.${listed(' Broken again', broken)}${listed(' Still repaired', left)}`;
      },
    });
    return true;
  }

  /** Uses this hostname in base addresses; null: the platform's own. */
  async makePrimary(hostname: string | null): Promise<void> {
    const { client, projectId, toasts } = this.#options;
    const before = await this.#do(hostname ?? '', async ({ projects, domains }) => {
      const { primary } = await projects.get({ projectId });
      await domains.setPrimary({ projectId, hostname });
      return { primary };
    });
    if (before === undefined) return;
    toasts.done({
      text: `Base addresses use ${named(hostname)}.`,
      undo: () => client.domains.setPrimary({ projectId, hostname: before.primary }),
      undone: `Base addresses use ${named(before.primary)} again.`,
    });
  }

  /** Adds the right record of a domain to Vivarium's own DNS. */
  async putRecord(hostname: string, plan: Extract<RecordPlan, { kind: 'put' }>): Promise<boolean> {
    const undo = await this.#do(hostname, (client) => applyPlan(client, plan));
    if (undo === undefined) return false;
    const line = lineOf(plan.record);
    this.#options.toasts.done({
      text: `${line} is in the zone ${plan.zone}.`,
      undo,
      undone: `${line} is removed from the zone ${plan.zone} again${plan.replaced.length === 0 ? '' : ', and what it replaced is back'}.`,
    });
    return true;
  }

  /** Lets the root sign for a suffix; pending certificates are then issued. */
  async extendRoot(hostname: string, suffix: string): Promise<void> {
    const extended = await this.#do(hostname, ({ ca }) => ca.extend({ suffix, confirm: true }));
    if (extended !== undefined) this.#options.toasts.say(`The root may sign for ${suffix}. Trust its new certificate.`);
  }

  /** Changes the plan to Pro, for domains that the current one does not allow. */
  async changePlan(): Promise<void> {
    const { client, toasts } = this.#options;
    const before = await this.#update({ plan: 'pro' });
    if (before !== undefined) toasts.done(changedToPro(client, before));
  }

  /** Lets the project's domains imitate those of another provider. */
  async changePersona(persona: PersonaId): Promise<void> {
    const { client, projectId, toasts } = this.#options;
    const before = await this.#update({ persona });
    if (before === undefined) return;
    const say = (id: PersonaId) => `The domains imitate ${PERSONA_NAMES[id]}`;
    toasts.done({
      text: `${say(persona)}.`,
      undo: () => client.projects.update({ projectId, persona: before.persona }),
      undone: `${say(before.persona)} again.`,
    });
  }

  /** Changes the project; returns it as it was before. */
  #update(changes: { plan?: 'pro'; persona?: PersonaId }): Promise<Project | undefined> {
    const { projectId } = this.#options;
    return this.#do('', async ({ projects }) => {
      const project = await projects.get({ projectId });
      await projects.update({ projectId, ...changes });
      return project;
    });
  }

  async advanceTo(at: string): Promise<void> {
    const moved = await this.#do('', ({ clock }) => clock.set({ to: at }));
    if (moved !== undefined)
      this.#options.toasts.say('The simulated clock was moved forward. “Back to the real time” is at the top.');
  }

  /**
   * Runs one action per hostname at a time. A failure is reported, in `messageFor`'s words if any, and gives undefined.
   */
  async #do<Output>(
    hostname: string,
    work: (client: Client) => Promise<Output>,
    messageFor: (error: unknown) => string | undefined = () => undefined,
  ): Promise<Output | undefined> {
    if (this.#busy.has(hostname)) return undefined;
    this.#busy.add(hostname);
    try {
      return await work(this.#options.client);
    } catch (error) {
      this.#options.toasts.fail(messageFor(error) ?? describeFailure(error));
      return undefined;
    } finally {
      this.#busy.delete(hostname);
    }
  }
}

const isConflict = (error: unknown): boolean => error instanceof ORPCError && error.code === 'conflict';

const namesOf = (breaks: readonly RunningBreak[]): string[] => breaks.map(({ title }) => title);

const listed = (what: string, titles: readonly string[]): string =>
  titles.length === 0 ? '' : `${what}: ${titles.join(', ')}.`;

const named = (hostname: string | null): string => hostname ?? 'the platform’s own hostname';

function verdictOf({ state, certificate }: Domain): string {
  if (state !== 'verified') return `not verified, ${state}`;
  return certificate.state === 'issued'
    ? 'verified, with a certificate'
    : `verified, its certificate is ${certificateWord(certificate)}`;
}
