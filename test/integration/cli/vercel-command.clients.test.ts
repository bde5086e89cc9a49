import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createOperations } from '../../../main/providers/operations.ts';
import { VERCEL } from '../../../main/providers/vercel/provider.ts';
import { startEngine } from '../../support/engine.ts';
import { finished, startCli } from '../../support/rpc/rpc-cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { VERCEL_COMMAND } from '../../support/tools.ts';

const { name, program } = VERCEL_COMMAND;
const WWW = 'www.customer.test';

it('Vercel’s own command, unmodified, adds, verifies, certifies, moves and lists a domain here', async ({ skip }) => {
  skip(!existsSync(program), '`npm run test:clients` installs it.');
  const engine = await startEngine({ empty: true });
  for (const project of ['Shop', 'Blog']) await engine.call('projects.create', { name: project });
  await engine.call('zones.create', { name: 'customer.test' });
  const home = temporaryFolder();
  // It would report its use, and ask for newer versions.
  const env = { HOME: home, VERCEL_TELEMETRY_DISABLED: '1', NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' };
  const vercel = async (...words: string[]) => {
    const command = ['--data-dir', engine.dataDir, '--', process.execPath, program, ...words];
    const { code, stdout, stderr } = await finished(
      startCli(['run', 'shop', '--as', 'vercel=shop,blog', ...command], env, home),
    );
    return `${code} ${stdout}${stderr}`;
  };
  expect(await vercel('domains', 'add', WWW, 'shop')).toMatch(/^0 [^]*Success! .* added to project shop[^]*verify/);
  expect(await vercel('domains', 'verify', WWW)).toMatch(/^1 [^]*Invalid Configuration[^]*CNAME +www +cname\.vivarium/);
  const record = { zone: 'customer.test', name: 'www', type: 'CNAME', value: 'elsewhere.customer.test' };
  const { id } = await engine.call('records.put', record);
  expect(await vercel('domains', 'verify', WWW)).toMatch(/^1 [^]*Invalid Configuration[^]*elsewhere\.customer\.test/);
  await engine.call('records.update', { id, value: 'cname.vivarium.localhost' });
  const caa = { zone: 'customer.test', name: '@', type: 'CAA', value: '0 issue "other-ca.example"' };
  const { id: forbidding } = await engine.call('records.put', caa);
  expect(await vercel('certs', 'issue', WWW)).toMatch(/^1 [^]*authorises other-ca\.example only/);
  await engine.call('records.remove', { id: forbidding });
  expect(await vercel('domains', 'verify', WWW)).toMatch(/^0 [^]*Valid Configuration: .* verified for project shop/);
  expect(await vercel('certs', 'issue', WWW)).toMatch(/^0 [^]*Success! Certificate entry for www\.customer\.test/);
  expect(await vercel('certs', 'ls')).toMatch(/^0 [^]*cert_\w+ +www\.customer\.test +in \d+d +yes/);
  expect(await vercel('domains', 'add', WWW, 'blog', '--force')).toMatch(/^0 [^]*added to project blog/);
  expect(await vercel('domains', 'verify', WWW)).toMatch(/^0 [^]*Valid Configuration: .* verified for project blog/);
  expect(await vercel('domains', 'ls')).toMatch(/^0 [^]*customer\.test +Third Party/);
  const { items } = await engine.call('traffic.list', { limit: 500 });
  const find = createOperations(VERCEL);
  const called = items.flatMap(({ method, target, status }) => {
    const found = find(method, target.split('?')[0] ?? '');
    return found.kind === 'operation' && (status ?? 0) < 500 ? [found.operation] : [];
  });
  const own = VERCEL.operations.filter(({ drivenBy }) => drivenBy === name);
  expect(own.filter((operation) => !called.includes(operation)).map((each) => each.name)).toEqual([]);
});
