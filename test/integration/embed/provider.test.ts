import { expect, it } from 'vitest';
import { startVivarium } from '../../../main/embed/index.ts';
import { execute as run } from '../../support/command.ts';

const DOMAINS = 'https://api.vercel.com/v9/projects/shop/domains';

it('code with a provider’s host hard-coded reaches it here, in this process and in others, and never the real one', async () => {
  await using vivarium = await startVivarium();
  await vivarium.projects.create({ name: 'Shop' });
  const provider = await vivarium.provider('vercel', 'shop');
  const headers = { authorization: `Bearer ${provider.token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'www.acme.test' });
  const added = await vivarium.fetch(DOMAINS, { method: 'POST', headers, body });
  expect([added.status, ((await added.json()) as { name: string }).name]).toEqual([200, 'www.acme.test']);
  const script = `fetch('${DOMAINS}', { headers: { authorization: 'Bearer ' + process.env.VERCEL_TOKEN } })
    .then((answer) => answer.json()).then(({ domains }) => console.log(domains.length))`;
  const env = { ...process.env, ...vivarium.env, ...provider.env };
  expect((await run(process.execPath, ['-e', script], { env })).stdout.trim()).toBe('1');
  const domainsAt = async (host: string) =>
    (await vivarium.fetch(DOMAINS.replace('vercel.com', host), { headers })).status;
  expect([await domainsAt('vercel.com.'), await domainsAt('vercel.com..')]).toEqual([200, 400]);
  await expect(vivarium.fetch(DOMAINS.replace('https', 'http'), { headers })).rejects.toThrow(
    expect.objectContaining({ cause: new Error('api.vercel.com is simulated over HTTPS only.') }),
  );
  await provider.close();
  await expect(vivarium.fetch(DOMAINS, { headers })).rejects.toThrow();
  await expect(vivarium.provider('vercel', 'shop', { aslo: [] } as object)).rejects.toThrow('Did you mean "also"?');
  await expect(vivarium.provider('heroku' as 'vercel', 'shop')).rejects.toThrow(/must be one of vercel/);
});
