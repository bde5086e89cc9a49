/** The deprecation of an operation: its dates and its replacement. */
export interface Retirement {
  /** Both in milliseconds since the Unix epoch. */
  deprecatedAtMs: number;
  sunsetAtMs: number;
  /** Relative to the base address. */
  successorPath: `/${string}`;
  /** Display text that completes "use …". */
  replacement: string;
}

/**
 * The specification gives getPet's removal date but not its deprecation date. The Deprecation header needs one (RFC
 * 9745 §2.1), so Vivarium uses five years earlier.
 */
export const GET_PET_RETIREMENT: Retirement = {
  deprecatedAtMs: Date.UTC(2025, 11, 5),
  sunsetAtMs: Date.UTC(2030, 11, 5),
  successorPath: '/pets',
  replacement: 'GET /pets with a status filter',
};

/** An HTTP-date in IMF-fixdate format (RFC 9110 §5.6.7), which JavaScript's `toUTCString` produces. */
export function httpDate(atMs: number): string {
  return new Date(atMs).toUTCString();
}

const PREPARED = new WeakMap<Retirement, readonly string[]>();

/** Deprecation (RFC 9745), Sunset (RFC 8594) and the link to the successor (RFC 8288, RFC 5829), as name, value, … */
export function retirementHeaders(retirement: Retirement, baseUrl: string): string[] {
  let dates = PREPARED.get(retirement);
  if (dates === undefined) {
    const { deprecatedAtMs, sunsetAtMs } = retirement;
    dates = ['Deprecation', `@${Math.floor(deprecatedAtMs / 1000)}`, 'Sunset', httpDate(sunsetAtMs)];
    PREPARED.set(retirement, dates);
  }
  return [...dates, 'Link', `<${baseUrl}${retirement.successorPath}>; rel="successor-version"`];
}
