import type { Authority, Scheme } from '../base/hostname.ts';
import type { RateState } from './rate-decision.ts';
import type { Route } from './route.ts';

/** The stages' results for a request that reaches the built-in API. */
export interface TargetContext {
  route: Route;
  /** The valid API key of this project in the request, or null. */
  keyId: string | null;
  /** For the rate headers. */
  rate: RateState;
  /** Whether this is a CORS preflight, which is not counted and needs no API key. */
  preflight: boolean;
  scheme: Scheme;
  /** Host and port as the client wrote them. */
  authority: Authority;
  /** `scheme://host[:port]` as the client wrote it, for absolute links: `https://demo.vivarium.localhost:8443`. */
  origin: string;
}
