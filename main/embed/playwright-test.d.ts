/** Of the package `@playwright/test`, which is the user's, what `playwright.ts` uses. */
declare module '@playwright/test' {
  export const test: { extend(fixtures: object): unknown };
}
