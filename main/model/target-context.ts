import type { Authority, Scheme } from '../base/hostname.ts';
import type { RateState } from './rate-decision.ts';
import type { Route } from './route.ts';

/** What the proxy's stages found out about a request that reaches the built-in API. */
export interface TargetContext {
  route: Route;
  /** The API key of this project that came with the request; null when there was none, or not a valid one. */
  keyId: string | null;
  /** For the rate headers. */
  rate: RateState;
  /** Whether it is a CORS preflight: it is not counted, and answered without an API key. */
  preflight: boolean;
  scheme: Scheme;
  /** Host and port as the client wrote them. */
  authority: Authority;
  /** `scheme://host[:port]` as the client wrote it, for absolute links: `https://demo.vivarium.localhost:8443`. */
  origin: string;
}
