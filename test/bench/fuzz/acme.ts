import { ask } from '../../support/acme/acme-client.ts';
import { serveChallenges } from '../../support/acme/acme-kills.ts';
import { mutatedRequest, requestTemplates } from '../../support/acme/acme-mutations.ts';
import { createRemoteClient } from '../../support/acme/acme-remote.ts';
import { type Fuzzer, inParallel } from './fuzzer.ts';

/** Seeds of single messages. */
const SEEDS = 0x7fff_ffff;

export const ACME: Fuzzer = {
  name: 'ACME',
  share: 0.1,
  async run({ vivarium: { runtime, call } }, random, count) {
    const client = createRemoteClient(runtime);
    const web = await serveChallenges((await client.keyAuthorization('')).slice(1));
    let faults = 0;
    try {
      await call('settings.update', { acmeHttpPort: web.port });
      await call('zones.create', { name: 'acme.test' });
      await call('records.put', { zone: 'acme.test', name: '*', type: 'A', value: '127.0.0.1' });
      await client.register();
      const templates = await requestTemplates(client, client.origin);
      const nonces: string[] = [];
      await inParallel(count, async () => {
        const seed = random(SEEDS);
        const nonce = nonces.pop() ?? (await ask(client, '/acme/new-nonce', 'HEAD')).fields['replay-nonce']?.[0] ?? '';
        const { status, headers } = await client.answer(mutatedRequest(templates, client, { nonce, seed }));
        if (status === 500) faults += 1;
        const at = headers.findIndex((name) => name.toLowerCase() === 'replay-nonce');
        if (at >= 0) nonces.push(headers[at + 1] ?? '');
      });
    } finally {
      client.close();
      web.close();
    }
    return faults;
  },
};
