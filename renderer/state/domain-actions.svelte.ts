import { ORPCError } from '@orpc/client';
import { SvelteSet } from 'svelte/reactivity';
import type { Domain } from '../../main/contract/domains.ts';
import type { Plan, Project } from '../../main/contract/projects.ts';
import { describeFailure } from '../connection/failure.ts';
import { ConnectionLostError, type Client } from '../connection/transport.ts';
import type { Announcer } from './announcer.svelte.ts';
import { makeEdits, type CaaEdit } from './caa-edits.ts';
import { carryOut, lineOf, type RecordPlan } from './record-plan.ts';
import type { Toasts } from './toasts.svelte.ts';

export interface DomainActionsOptions {
  client: Client;
  toasts: Pick<Toasts, 'say' | 'fail' | 'done'>;
  announcer: Pick<Announcer, 'say'>;
  projectId: string;
  /** Told what a check has found, before anything is read again. */
  onverified: (domain: Domain) => void;
}

/** What is called *Verify* until it succeeds once is called *Re-verify* after that. */
export const verbOf = ({ verifiedAt }: Domain): 'Verify' | 'Re-verify' =>
  verifiedAt === undefined ? 'Verify' : 'Re-verify';

/** What can be done to the domains of a project, from the list and from the detail alike. Each reports by itself. */
export class DomainActions {
  readonly #busy = new SvelteSet<string>();
  readonly #options: DomainActionsOptions;

  constructor(options: DomainActionsOptions) {
    this.#options = options;
  }

  /** Whether something is being done to the hostname. */
  isBusy(hostname: string): boolean {
    return this.#busy.has(hostname);
  }

  /** Looks at the DNS now. What it found shows at the domain, so it is only said aloud. */
  async verify(hostname: string): Promise<Domain | undefined> {
    const domain = await this.#do(hostname, ({ domains }) => domains.verify({ hostname }));
    if (domain !== undefined) {
      this.#options.onverified(domain);
      this.#options.announcer.say(`${hostname}: ${verdictOf(domain)}.`);
    }
    return domain;
  }

  /** Issues its certificate anew. Why it is refused stands at the domain by then, so it is not said a second time. */
  async renew(hostname: string): Promise<void> {
    const renewed = await this.#do(
      hostname,
      ({ certificates }) => certificates.renew({ hostname }),
      (error) => (isConflict(error) ? `${hostname} was not renewed; its checks say why.` : undefined),
    );
    if (renewed !== undefined) this.#options.toasts.say(`${hostname} has a new certificate.`);
  }

  /** Takes effect at once. The way back attaches it again, with what the project had of it. */
  async remove(hostname: string): Promise<boolean> {
    const { client, projectId, toasts } = this.#options;
    const before = await this.#do(hostname, async ({ projects, domains }) => {
      const project = await projects.get({ projectId });
      await domains.remove({ hostname });
      return project;
    });
    if (before === undefined) return false;
    let back: Domain | undefined;
    toasts.done({
      text: `Removed ${hostname}. It is not served any more, and its certificate is gone.`,
      undo: async () => {
        await client.domains.attach({ projectId, hostname });
        back = await client.domains.verify({ hostname });
        await this.#restore(hostname, before);
      },
      undone: () => `${hostname} is attached again, ${back === undefined ? 'not verified' : verdictOf(back)}.`,
    });
    return true;
  }

  /** Shows base addresses with this hostname; null: with the platform's own. */
  async makePrimary(hostname: string | null): Promise<void> {
    const { client, projectId, toasts } = this.#options;
    const before = await this.#do(hostname ?? '', async ({ projects, domains }) => {
      const { primary } = await projects.get({ projectId });
      await domains.setPrimary({ projectId, hostname });
      return { primary };
    });
    if (before === undefined) return;
    toasts.done({
      text: `Base addresses are shown with ${named(hostname)}.`,
      undo: () => client.domains.setPrimary({ projectId, hostname: before.primary }),
      undone: `Base addresses are shown with ${named(before.primary)} again.`,
    });
  }

  /** Puts the right record of a domain into Vivarium's own DNS. */
  async putRecord(hostname: string, plan: Extract<RecordPlan, { kind: 'put' }>): Promise<boolean> {
    const undo = await this.#do(hostname, (client) => carryOut(client, plan));
    if (undo === undefined) return false;
    const line = lineOf(plan.record);
    this.#options.toasts.done({
      text: `${line} is in the zone ${plan.zone}.`,
      undo,
      undone: `${line} is out of the zone ${plan.zone} again${plan.replaced.length === 0 ? '' : ', and what it replaced is back'}.`,
    });
    return true;
  }

  /** Makes the smallest change that turns a CAA verdict around, in Vivarium's own DNS. */
  async changeCaa(hostname: string, edits: readonly CaaEdit[]): Promise<void> {
    const undo = await this.#do(hostname, (client) => makeEdits(client, edits));
    if (undo === undefined) return;
    const names = edits
      .map(({ name }) => name)
      .filter((name, index, all) => all.indexOf(name) === index)
      .join(' and ');
    this.#options.toasts.done({
      text: `The CAA records of ${names} are changed.`,
      undo,
      undone: `The CAA records of ${names} are as they were.`,
    });
  }

  /** Lets the root sign for a suffix; certificates that waited for it are issued. */
  async extendRoot(hostname: string, suffix: string): Promise<void> {
    const extended = await this.#do(hostname, ({ ca }) => ca.extend({ suffix }));
    if (extended !== undefined) this.#options.toasts.say(`The root may sign for ${suffix}. Trust its new certificate.`);
  }

  /** Another plan, for domains that the one there is does not allow. */
  async changePlan(plan: Exclude<Plan, 'enterprise'>): Promise<boolean> {
    const { client, projectId, toasts } = this.#options;
    const before = await this.#do('', async ({ projects }) => {
      const project = await projects.get({ projectId });
      await projects.update({ projectId, plan });
      return project;
    });
    if (before === undefined) return false;
    const limits = before.plan === 'enterprise' ? { limits: before.limits } : {};
    toasts.done({
      text: `${before.name} is on the plan ${titleOf(plan)}.`,
      undo: () => client.projects.update({ projectId, plan: before.plan, ...limits }),
      undone: `${before.name} is on the plan ${titleOf(before.plan)} again.`,
    });
    return true;
  }

  /** Moves the app's clock, so that what waits for a moment happens now. */
  async advanceTo(at: string): Promise<void> {
    const moved = await this.#do('', ({ clock }) => clock.set({ to: at }));
    if (moved !== undefined) this.#options.toasts.say('The app’s clock was moved forward. It can be reset at the top.');
  }

  async #restore(hostname: string, { primary, redirects }: Project): Promise<void> {
    const { client, projectId } = this.#options;
    if (primary === hostname) await client.domains.setPrimary({ projectId, hostname });
    const lost = redirects.filter(({ from, to }) => from === hostname || to === hostname);
    if (lost.length === 0) return;
    const { redirects: kept } = await client.projects.get({ projectId });
    await client.domains.setRedirects({ projectId, redirects: [...kept, ...lost] });
  }

  /** Does one thing at a time to a hostname; a failure is reported, in the engine's words unless `tell` has others, and gives undefined. */
  async #do<Output>(
    hostname: string,
    work: (client: Client) => Promise<Output>,
    tell: (error: unknown) => string | undefined = () => undefined,
  ): Promise<Output | undefined> {
    if (this.#busy.has(hostname)) return undefined;
    this.#busy.add(hostname);
    try {
      return await work(this.#options.client);
    } catch (error) {
      this.#options.toasts.fail(
        error instanceof ConnectionLostError
          ? 'There is no connection to Vivarium. Try again when it is back.'
          : (tell(error) ?? describeFailure(error)),
      );
      return undefined;
    } finally {
      this.#busy.delete(hostname);
    }
  }
}

const isConflict = (error: unknown): boolean => error instanceof ORPCError && error.code === 'conflict';

const named = (hostname: string | null): string => hostname ?? 'the platform’s own hostname';

export const titleOf = (plan: Plan): string => plan.charAt(0).toUpperCase() + plan.slice(1);

function verdictOf({ state, certificate }: Domain): string {
  if (state !== 'verified') return `not verified, ${state}`;
  return certificate.state === 'issued'
    ? 'verified, with a certificate'
    : `verified, its certificate is ${certificate.state}`;
}
