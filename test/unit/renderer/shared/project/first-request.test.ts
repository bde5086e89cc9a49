import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { firstRequest } from '../../../../../renderer/shared/project/first-request.ts';
import { makeProject } from '../../../../support/page/page-world.ts';

const project = makeProject('Demo');

/** The words of `command` as a POSIX shell splits it. */
const words = (command: string): string[] =>
  execFileSync('sh', ['-c', `set -- ${command}\nprintf '%s\\n' "$@"`], { env: { VIVARIUM_KEY: 'viv_secret' } })
    .toString()
    .trimEnd()
    .split('\n');

const at = { project, environment: 'production', secure: true, dataDir: '/data' } as const;
const AUTHORIZED = ['-H', 'Authorization: Bearer viv_secret'];

describe('the first request', () => {
  it('is a curl line with the key from the environment', () => {
    const url = 'http://demo.vivarium.localhost:8080/v1/pets?limit=5';
    expect(words(firstRequest({ ...at, secure: false }))).toEqual(['curl', '-i', ...AUTHORIZED, url]);
  });

  it('over HTTPS trusts the root in the data folder, with any path', () => {
    const command = firstRequest({ ...at, environment: 'staging', dataDir: "/home/ada's data/" });
    expect(words(command)).toEqual([
      ...['curl', '-i', '--cacert', "/home/ada's data/ca/root.pem", ...AUTHORIZED],
      'https://demo-staging.vivarium.localhost:8443/v1/pets?limit=5',
    ]);
  });

  it('supplies the address of a hostname that the system does not resolve', () => {
    const command = firstRequest({ ...at, project: makeProject('Shop', { hostname: 'www.acme.test' }) });
    expect(words(command).slice(0, 4)).toEqual(['curl', '-i', '--resolve', 'www.acme.test:8443:127.0.0.1']);
  });

  it('keeps the separators of a Windows path', () => {
    const command = firstRequest({ ...at, dataDir: 'C:\\Users\\ada' });
    expect(command).toContain("--cacert 'C:\\Users\\ada\\ca\\root.pem'");
  });
});
