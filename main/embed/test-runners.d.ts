/* Of packages that the user's project has, what the fixtures use. */

declare module '@playwright/test' {
  export const test: { extend(fixtures: object): unknown };
}

declare module 'jest-environment-node' {
  export class TestEnvironment {
    readonly global: Record<string, unknown>;
    setup(): Promise<void>;
    teardown(): Promise<void>;
  }
}
