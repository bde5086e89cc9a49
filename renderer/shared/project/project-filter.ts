import type { Project } from '../../../main/contract/projects.ts';

/** The maximum number of listed projects; a search finds the others. */
export const PROJECTS_SHOWN_MAX = 50;

/**
 * The projects whose name or slug contains every word of `text`: prefix matches first, otherwise in their given order.
 */
export function matchingProjects(projects: readonly Project[], text: string): Project[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter((word) => word !== '');
  const found = projects.filter(({ name, slug }) => {
    const searchText = `${name.toLowerCase()} ${slug}`;
    return words.every((word) => searchText.includes(word));
  });
  const isFirst = ({ name, slug }: Project): boolean =>
    wanted !== '' && (name.toLowerCase().startsWith(wanted) || slug.startsWith(wanted));
  return [...found.filter(isFirst), ...found.filter((project) => !isFirst(project))];
}

/** The first of the matching projects; `hidden`: the number of the others. */
export function findProjects(projects: readonly Project[], text: string) {
  const ordered = matchingProjects(projects, text);
  return { shown: ordered.slice(0, PROJECTS_SHOWN_MAX), hidden: Math.max(0, ordered.length - PROJECTS_SHOWN_MAX) };
}
