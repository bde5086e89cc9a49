import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { startEngine } from '../../support/engine.ts';

describe('according to a third-party validator', () => {
  it('the API’s document is valid OpenAPI 3.1', async () => {
    const engine = await startEngine();
    const { text } = await engine.api({ path: '/v1/openapi.json', key: null });
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(text) as Record<string, unknown>)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('the contract’s document is valid OpenAPI 3.1', async () => {
    const engine = await startEngine();
    const response = await fetch(`${engine.app.runtime.control.url}/api/openapi.json`);
    const validator = new Validator();
    expect(await validator.validate((await response.json()) as Record<string, unknown>)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });
});
