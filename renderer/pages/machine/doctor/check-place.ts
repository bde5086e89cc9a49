import type { DoctorCheck } from '../../../../main/contract/doctor.ts';
import type { Project } from '../../../../main/contract/projects.ts';
import type { Place } from '../../../shared/navigation/places.ts';

/** Undefined when the fix is outside the interface or on the current page. */
export function placeOfCheck(
  { id, area, projectId }: Pick<DoctorCheck, 'id' | 'area' | 'projectId'>,
  projects: readonly Pick<Project, 'id' | 'slug'>[],
): { place: Place; label: string } | undefined {
  if (area === 'trust' || area === 'root') return { place: { page: 'certificates' }, label: 'Certificates' };
  if (id === 'dns.resolver') return { place: { page: 'settings' }, label: 'Settings' };
  const slug = projects.find((project) => project.id === projectId)?.slug;
  if (slug === undefined) return undefined;
  if (area === 'upstreams') return { place: { page: 'general', project: slug }, label: 'General' };
  return { place: { page: 'domains', project: slug, item: id.slice(id.indexOf('.') + 1) }, label: 'Domain' };
}
