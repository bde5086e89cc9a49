import { describe, expect, it } from 'vitest';
import { firstRequest } from '../../../../../renderer/shared/project/first-request.ts';
import { isOtherTarget, targetOf } from '../../../../../renderer/pages/project-settings/project-settings.svelte.ts';
import { API_TARGET, readTarget } from '../../../../../renderer/shared/project/project-target.ts';
import { makeProject } from '../../../../support/page/page-world.ts';

const saved = { kind: 'upstream' as const, url: 'https://127.0.0.1:3000', host: 'keep' as const, limited: true };

describe('the fields of a target', () => {
  it('have the engine’s defaults for omitted values, and keep the others', () => {
    expect(readTarget(targetOf({ target: saved }))).toEqual({ ...saved, withoutKey: 'free', verifyCertificate: true });
    const { limited: _limited, ...url } = { ...saved, host: 'rewrite', verifyCertificate: true };
    expect(readTarget(targetOf({ target: { kind: 'upstream', url: saved.url } }))).toEqual({ ...url, limited: false });
    const values = targetOf({ target: saved });
    expect(readTarget({ ...values, 'target.url': ' localhost:5173' })).toMatchObject({ url: 'http://localhost:5173' });
    const path = { ...saved, withoutKey: 'free' as const, verifyCertificate: true, checkPath: '/healthz' };
    expect(readTarget(targetOf({ target: path }))).toEqual(path);
    expect(readTarget({ ...API_TARGET, 'target.url': 'left over' })).toEqual({ kind: 'api' });
  });

  it('are another target only if the engine would see a difference', () => {
    const values = targetOf({ target: saved });
    expect(isOtherTarget(values, targetOf({ target: saved }))).toBe(false);
    expect(isOtherTarget({ ...values, 'target.limited': false }, values)).toBe(true);
    expect(isOtherTarget({ ...values, 'target.withoutKey': 'plan' }, values)).toBe(true);
    expect(isOtherTarget({ ...API_TARGET, 'target.host': 'keep' }, API_TARGET)).toBe(false);
  });
});

describe('requests to paste for a project with an upstream', () => {
  const project = {
    ...makeProject('App'),
    target: { ...saved, limited: false },
    baseUrl: {
      production: 'http://app.vivarium.localhost:8080',
      staging: 'http://app-staging.vivarium.localhost:8080',
    },
  };
  const at = { project, environment: 'production' as const, secure: false, dataDir: '/data' };

  it('request its root, without a key, which the upstream would not check', () => {
    expect(firstRequest(at)).toBe('curl http://app.vivarium.localhost:8080/');
  });

  it('contain the key if its limits apply', () => {
    const limited = { ...project, target: saved };
    expect(firstRequest({ ...at, project: limited })).toContain('Bearer $VIVARIUM_KEY');
  });
});
