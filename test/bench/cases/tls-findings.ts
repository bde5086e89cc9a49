import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { end, type Figure, startVivarium, temporaryFolder } from '../harness.ts';

/** A hostname of the demo project that has a certificate. */
const HOSTNAME = 'www.happypaws.test';

/** Twice what testssl.sh takes on two cores. */
const TIMEOUT_MS = 240_000;

const ABOVE_LOW = new Set(['MEDIUM', 'HIGH', 'CRITICAL', 'FATAL']);

interface Finding {
  id: string;
  severity: string;
  finding: string;
}

/** What testssl.sh finds at a custom domain of the HTTPS listener, as a client that trusts the root. */
export async function tlsFindings(): Promise<Figure[]> {
  const program = ['testssl', 'testssl.sh'].find((name) => spawnSync(name, ['--version']).error === undefined);
  if (program === undefined)
    return [figure('not measured', null, 'testssl.sh is not here: apt-get install testssl.sh')];
  const vivarium = await startVivarium(temporaryFolder());
  const file = join(temporaryFolder(), 'findings.json');
  try {
    const { https, caFile } = vivarium.runtime;
    const options = ['--quiet', '--color', '0', '--add-ca', caFile, '--ip', '127.0.0.1', '--jsonfile', file];
    const url = `https://${HOSTNAME}:${https.port}`;
    const { status, stdout } = spawnSync(program, [...options, url], { encoding: 'utf8', timeout: TIMEOUT_MS });
    const findings = JSON.parse(readFileSync(file, 'utf8')) as Finding[];
    if (!findings.some(({ id }) => id === 'TLS1_3')) throw new Error(`testssl.sh ended with ${status}: ${stdout}`);
    const above = findings.filter(({ severity }) => ABOVE_LOW.has(severity));
    const low = findings.filter(({ severity }) => severity === 'LOW');
    const named = (of: readonly Finding[]) => of.map(({ id, finding }) => `${id} (${finding})`).join(', ');
    return [
      figure(`${above.length}`, above.length === 0, `${named(above) || 'nothing'}; LOW: ${named(low) || 'nothing'}`),
    ];
  } finally {
    await end(vivarium.child);
  }
}

const figure = (measured: string, met: boolean | null, detail: string): Figure => ({
  what: 'findings of testssl.sh above LOW, of all its tests, for the HTTPS listener',
  measured,
  wanted: '0',
  met,
  detail,
});
