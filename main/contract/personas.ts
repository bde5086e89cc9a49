/**
 * The providers whose custom domains a project can imitate, as they call themselves; the first is the platform itself.
 */
export const PERSONA_NAMES = {
  'animal-store': 'Animal Store',
  vercel: 'Vercel',
  netlify: 'Netlify',
  'github-pages': 'GitHub Pages',
  cloudflare: 'Cloudflare for SaaS',
  mintlify: 'Mintlify',
  fly: 'Fly.io',
  render: 'Render',
  railway: 'Railway',
} as const;

export type PersonaId = keyof typeof PERSONA_NAMES;

export const PERSONA_IDS = Object.keys(PERSONA_NAMES) as PersonaId[];
