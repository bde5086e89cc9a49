/** The version in `package.json`, which a test compares: read at build time, so that nothing is read at run time. */
export const VERSION = '0.1.0';
