import type { Project } from '../../../main/contract/projects.ts';
import type { Client } from '../../connection/transport.ts';
import type { PageContext } from '../session/context.ts';
import type { Session } from '../session/session.svelte.ts';

/** Shows a project that was just made, reports it with an undo, and checks at once whether its server answers. */
export function openNewProject(session: Session, page: PageContext, project: Project): void {
  const { id: projectId, name, slug, target } = project;
  const { client } = session;
  // Otherwise its page would say that there is no such project until the next read.
  session.projects.amend((all) => [project, ...all.filter(({ id }) => id !== projectId)]);
  page.navigator.go({ page: 'home', project: slug });
  page.toasts.done({
    text: `Created ${name}.`,
    undo: () => client.projects.remove({ projectId }),
    undone: `${name} is removed again.`,
  });
  if (target.kind === 'upstream') void deploy(client, page, projectId);
}

/** Checks that the target answers, and says so; a failure is shown by Home. */
export const deploy = (client: Client, { toasts }: Pick<PageContext, 'toasts'>, projectId: string): Promise<void> =>
  toasts.attempt('It could not be deployed.', async () => {
    const { status } = await client.deploys.create({ projectId });
    if (status === 'succeeded') toasts.say('Deployed: the target answers.');
  });
