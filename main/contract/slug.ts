/** The most characters of a slug: with `-staging` it is a DNS label. */
export const SLUG_LENGTH_MAX = 55;

/** The letters and digits of a name without accents, in lower case, joined by hyphens; empty if there are none. */
export function slugify(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH_MAX)
    .replace(/^-+|-+$/g, '');
}
