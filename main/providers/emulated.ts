import type { ProviderId } from '../contract/provider-table.ts';
import type { Provider } from './provider.ts';
import { CLOUDFLARE } from './cloudflare/provider.ts';
import { FLY } from './fly/provider.ts';
import { NETLIFY } from './netlify/provider.ts';
import { RAILWAY } from './railway/provider.ts';
import { RENDER } from './render/provider.ts';
import { VERCEL } from './vercel/provider.ts';

/** The providers whose API is emulated. A row is a provider. */
export const EMULATED: Readonly<Record<ProviderId, Provider>> = {
  vercel: VERCEL,
  cloudflare: CLOUDFLARE,
  netlify: NETLIFY,
  fly: FLY,
  render: RENDER,
  railway: RAILWAY,
};
