/** Must equal the version in `package.json` (a test compares them); a constant avoids reading the file at run time. */
export const VERSION = '0.1.0';
