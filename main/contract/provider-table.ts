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

/** The providers whose API is emulated, with the hosts that programs have hard-coded. */
export const PROVIDERS = {
  vercel: { title: 'Vercel', hosts: ['api.vercel.com'] },
  cloudflare: { title: 'Cloudflare', hosts: ['api.cloudflare.com'] },
  netlify: { title: 'Netlify', hosts: ['api.netlify.com'] },
  // The second is its older GraphQL API, of which nothing is emulated.
  fly: { title: 'Fly.io', hosts: ['api.machines.dev', 'api.fly.io'] },
  render: { title: 'Render', hosts: ['api.render.com'] },
  railway: { title: 'Railway', hosts: ['backboard.railway.com', 'backboard.railway.app'] },
} as const satisfies Record<string, { title: string; hosts: readonly string[] }>;

export type ProviderId = keyof typeof PROVIDERS;

export const PROVIDER_IDS = Object.keys(PROVIDERS) as ProviderId[];

/** How a provider’s emulated API is called where its calls are shown. */
export const simulated = (id: ProviderId): string => `${PROVIDERS[id].title} (simulated)`;
