/* The parts of the test runners that the fixtures use. The user's project installs these packages. */

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
