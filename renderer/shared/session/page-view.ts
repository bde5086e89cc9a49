import type { Project } from '../../../main/contract/projects.ts';
import type { Session } from './session.svelte.ts';

/** A page about one project, created anew per project. `item`: the selected item in the address. */
export interface ProjectViewProps {
  session: Session;
  project: Project;
  item: string | undefined;
}

/** A page about this Vivarium, or one that works without a project. */
export interface EngineViewProps {
  session: Session;
  item: string | undefined;
}
