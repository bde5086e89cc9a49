/**
 * What the interface may do wherever it is shown: run its own files, and talk to what `connect` names (CSP sources such
 * as `ws://127.0.0.1:4780`). Style attributes are let through, because charts and popovers place themselves with them,
 * and they run nothing.
 */
function contentSecurityPolicy(connect: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src ${connect}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The headers of every file of the interface, besides the common ones. */
export const pagePolicy = (connect: string) => ({
  'Content-Security-Policy': contentSecurityPolicy(connect),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
});
