import { z } from 'zod';
import type { StateBreak } from '../breaks/state-break.ts';
import { VivariumError } from '../contract/errors.ts';
import { isWildcard } from '../contract/wildcards.ts';
import type { Lifecycle } from '../domains/lifecycle.ts';
import { parentOf } from '../model/dns-name.ts';
import type { ProjectRows } from './dependencies.ts';
import { inputError } from './project-rules.ts';

const kept = z.object({ above: z.string(), projectId: z.string() });

/** Attaches the name above a domain to another project, which then has a claim on the domain. */
export function claimBreak({
  projects,
  lifecycle,
}: {
  projects: Pick<ProjectRows, 'list'>;
  lifecycle: Pick<Lifecycle, 'get' | 'find' | 'evaluate' | 'attach' | 'remove'>;
}): StateBreak {
  return {
    prepare({ on }) {
      if (on.hostname === undefined) throw inputError('on.hostname', 'is needed: the hostname of an attached domain.');
      const { hostname, projectId: owner } = lifecycle.get(on.hostname);
      const above = parentOf(isWildcard(hostname) ? parentOf(hostname) : hostname);
      const other = projects.list().find(({ id }) => id !== owner && lifecycle.evaluate(id, above).ok);
      if (other === undefined) {
        const needs = 'another project, deployed and on a plan with domains, which may attach it';
        throw new VivariumError('conflict', `${hostname} can’t be broken so: ${above} needs ${needs}.`);
      }
      const detail: z.infer<typeof kept> = { above, projectId: other.id };
      return { edits: `domain ${above}`, detail };
    },
    apply({ detail }) {
      const { above, projectId } = kept.parse(detail);
      if (lifecycle.find(above) === null) lifecycle.attach(projectId, above);
    },
    undo({ detail }) {
      const { above, projectId } = kept.parse(detail);
      // One that was removed, or attached to a third project, is not the break’s any more.
      if (lifecycle.find(above)?.projectId === projectId) lifecycle.remove(above);
    },
  };
}
