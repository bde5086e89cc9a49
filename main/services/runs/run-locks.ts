import { conflict } from '../../contract/errors.ts';
import type { CallContext, Services } from '../../contract/index.ts';
import { allowsPlan } from '../../contract/plans.ts';
import { closestZone } from '../../contract/record-plan.ts';
import type { ZoneInfo } from '../../contract/zones.ts';
import { evaluateHostname } from '../../domains/hostname-rules.ts';
import { normalZone } from '../world/world-current.ts';
import type { Runs } from './runs.ts';

type Guards = {
  [Space in keyof Services]?: {
    [Name in keyof Services[Space]]?: (
      ...call: Services[Space][Name] extends (...given: infer Given) => unknown ? Given : never
    ) => void | Promise<void>;
  };
};

type Calls = Record<string, Record<string, (input: unknown, context: CallContext) => unknown>>;

export type RunLocks = ReturnType<typeof lockRuns>;

/**
 * Services that refuse to change what a command set while it runs: its target, its hostnames with their records and
 * zones, and the name, slug and plan of a project that it made. What is added (a key, a domain) stays possible, and
 * keeps the project.
 */
export function lockRuns(services: Services, runs: Pick<Runs, 'list' | 'recordsOf'>) {
  /** @throws VivariumError conflict when a run that `isHeld` holds something, which `what` names. */
  function refuse(what: string, isHeld: (run: ReturnType<Runs['list']>[number]) => boolean): void {
    const run = runs.list().find(isHeld);
    if (run === undefined) return;
    const { command, pid, folder } = run;
    throw conflict(`"${command}" (process ${pid}, in ${folder}) holds ${what} until it ends. Stop it there first.`);
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
    const { redirects } = await services.projects.get({ projectId }, context);
    for (const { from } of wanted ?? []) if (redirects.every((old) => old.from !== from)) refuseHostname(from);
  }

  async function refuseRecord({ id }: { id: string }): Promise<void> {
    for (const run of runs.list())
      if ((await runs.recordsOf(run.id)).includes(id)) refuse('this record', (holder) => holder.id === run.id);
  }

  const guards: Guards = {
    projects: {
      update({ projectId, name, slug, plan, target }) {
        refuse('this project', (run) => {
          if (run.projectId !== projectId) return false;
          const isNamed = name !== undefined || slug !== undefined;
          return target !== undefined || (isNamed && run.created) || (plan !== undefined && !allowsPlan(run, plan));
        });
      },
      remove: (input) => refuse('this project', ({ projectId }) => projectId === input.projectId),
    },
    domains: {
      remove: ({ hostname }) => refuseHostname(hostname),
      setRedirects: ({ projectId, redirects }, context) => refuseRedirects(projectId, redirects, context),
      import: ({ projectId, configuration }, context) => refuseRedirects(projectId, configuration.redirects, context),
    },
    zones: {
      async remove({ name }, context) {
        const all = (await services.zones.list({}, context)) as ZoneInfo[];
        const zone = normalZone(name);
        refuse(`the zone "${zone}"`, ({ hostnames }) => hostnames.some((own) => closestZone(own, all)?.name === zone));
      },
    },
    records: { update: refuseRecord, remove: refuseRecord },
  };

  const unlocked = services as unknown as Calls;
  const locked: Calls = { ...unlocked };
  for (const [space, guarded] of Object.entries(guards as Calls)) {
    const own = { ...unlocked[space] };
    for (const [name, guard] of Object.entries(guarded)) {
      own[name] = async (input, context) => {
        await guard(input, context);
        return unlocked[space]?.[name]?.(input, context);
      };
    }
    locked[space] = own;
  }

  return {
    services: locked as unknown as Services,
    /** @throws VivariumError conflict as the call itself would, which is not made. */
    async check(procedure: string, input: unknown, context: CallContext): Promise<void> {
      const [space = '', name = ''] = procedure.split('.');
      await (guards as Calls)[space]?.[name]?.(input, context);
    },
  };
}
