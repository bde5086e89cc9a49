/** That an operation is deprecated, when it is removed, and what replaces it. */
export interface Retirement {
  /** Milliseconds since the Unix epoch, both. */
  deprecatedAtMs: number;
  sunsetAtMs: number;
  /** Relative to the base address. */
  successorPath: `/${string}`;
  /** For people: completes "use …". */
  replacement: string;
}

/**
 * The specification names the day of getPet's removal, not that of its deprecation. The Deprecation header needs one
 * (RFC 9745 §2.1), so Vivarium says five years before.
 */
export const GET_PET_RETIREMENT: Retirement = {
  deprecatedAtMs: Date.UTC(2025, 11, 5),
  sunsetAtMs: Date.UTC(2030, 11, 5),
  successorPath: '/pets',
  replacement: 'GET /pets with a status filter',
};

/** An HTTP-date in IMF-fixdate form (RFC 9110 §5.6.7), which is what JavaScript's UTC form is. */
export function httpDate(atMs: number): string {
  return new Date(atMs).toUTCString();
}

/** Deprecation (RFC 9745), Sunset (RFC 8594) and the link to the successor (RFC 8288, RFC 5829), as name, value, … */
export function retirementHeaders(retirement: Retirement, baseUrl: string): string[] {
  return [
    'Deprecation',
    `@${Math.floor(retirement.deprecatedAtMs / 1000)}`,
    'Sunset',
    httpDate(retirement.sunsetAtMs),
    'Link',
    `<${baseUrl}${retirement.successorPath}>; rel="successor-version"`,
  ];
}
