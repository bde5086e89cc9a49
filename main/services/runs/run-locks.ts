import { VivariumError } from '../../contract/errors.ts';
import type { CallContext, Services } from '../../contract/index.ts';
import { allowsPlan } from '../../contract/plans.ts';
import type { Run } from '../../contract/runs.ts';
import { evaluateHostname } from '../../domains/hostname-rules.ts';

/**
 * Services that refuse to change what a command set while it runs: its target, its hostnames, and the name, slug and
 * plan of a project that it made. What is added (a key, a domain) stays possible, and keeps the project.
 */
export function lockRuns(services: Services, list: () => readonly Run[]): Services {
  const { projects, domains } = services;

  /** @throws VivariumError conflict when a run that `isHeld` holds something, which `what` names. */
  function refuse(what: string, isHeld: (run: Run) => boolean): void {
    const run = list().find(isHeld);
    if (run === undefined) return;
    const { command, pid, folder } = run;
    throw new VivariumError(
      'conflict',
      `"${command}" (process ${pid}, in ${folder}) holds ${what} until it ends. Stop it there first.`,
    );
  }

  function refuseHostname(text: string): void {
    const verdict = evaluateHostname(text);
    if (verdict.ok) refuse(`"${verdict.hostname}"`, ({ hostnames }) => hostnames.includes(verdict.hostname));
  }

  /** Those that are new; the others were there before the run. */
  async function refuseRedirects(
    projectId: string,
    wanted: readonly { from: string }[] | undefined,
    context: CallContext,
  ): Promise<void> {
    const { redirects } = await projects.get({ projectId }, context);
    for (const { from } of wanted ?? []) if (redirects.every((old) => old.from !== from)) refuseHostname(from);
  }

  return {
    ...services,
    projects: {
      ...projects,
      update(input, context) {
        const { projectId, name, slug, plan, target } = input;
        refuse('this project', (run) => {
          if (run.projectId !== projectId) return false;
          const isNamed = name !== undefined || slug !== undefined;
          return target !== undefined || (isNamed && run.created) || (plan !== undefined && !allowsPlan(run, plan));
        });
        return projects.update(input, context);
      },
      remove(input, context) {
        refuse('this project', ({ projectId }) => projectId === input.projectId);
        return projects.remove(input, context);
      },
    },
    domains: {
      ...domains,
      remove(input, context) {
        refuseHostname(input.hostname);
        return domains.remove(input, context);
      },
      async setRedirects(input, context) {
        await refuseRedirects(input.projectId, input.redirects, context);
        return domains.setRedirects(input, context);
      },
      async import(input, context) {
        await refuseRedirects(input.projectId, input.configuration.redirects, context);
        return domains.import(input, context);
      },
    },
  };
}
