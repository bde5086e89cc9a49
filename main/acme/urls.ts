/** Paths below this one are the ACME server's. */
export const ACME_PATH = '/acme/';

/** Of a request's body: larger than a CSR for 100 names with an RSA key; Boulder takes 50,000. */
export const REQUEST_OCTETS_MAX = 65_536;

export const directoryUrl = (origin: string, profile: string): string => `${origin}${ACME_PATH}${profile}/directory`;

/** Names an account for good, also in CAA records (RFC 8657 §3): it has no profile in it. */
export const accountUrl = (origin: string, id: string): string => `${origin}${ACME_PATH}account/${id}`;
