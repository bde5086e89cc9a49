import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect } from 'vitest';
import { demoTest as it } from '../../support/engine-test.ts';

describe('according to a third-party validator', () => {
  it('the API’s document is valid OpenAPI 3.1', async ({ api }) => {
    const { text } = await api({ path: '/v1/openapi.json', key: null });
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(text) as Record<string, unknown>)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('the contract’s document is valid OpenAPI 3.1', async ({ engine }) => {
    const response = await fetch(`${engine.app.runtime.control.url}/api/openapi.json`);
    const validator = new Validator();
    expect(await validator.validate((await response.json()) as Record<string, unknown>)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });
});
