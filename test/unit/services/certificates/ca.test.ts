import { expect, it } from 'vitest';
import type { StoreTrust } from '../../../../main/contract/certificates.ts';
import { VivariumError } from '../../../../main/contract/errors.ts';
import type { ResultOf } from '../../../../main/contract/index.ts';
import { createCaServices, certificateFile } from '../../../../main/services/certificates/certificates.ts';

it('a retraction names the stores that keep the wider certificate, and asks only those that had it', async () => {
  const storeOf = (store: string, isWider = true): StoreTrust => ({
    store,
    title: 'A store',
    state: 'other_root',
    message: '',
    ...(isWider && { wider: ['api.vercel.com'] }),
  });
  const asked: string[] = [];
  const ca = createCaServices({
    root: {
      describe: () => ({}) as ResultOf<'ca.get'>,
      extend: () => Promise.resolve(),
      retract: () => Promise.resolve(),
      renew: () => undefined,
    },
    stores: {
      list: () =>
        Promise.resolve([
          ...['needs-password', 'fails', 'replaced'].map((id) => storeOf(id)),
          storeOf('without', false),
        ]),
      trust(id) {
        asked.push(id);
        if (id === 'fails') throw new VivariumError('unavailable', 'The command failed.');
        return Promise.resolve({ ...storeOf(id, id !== 'replaced'), command: 'sudo cp' });
      },
      untrust: (id) => Promise.resolve(storeOf(id)),
    },
    effects: { emit: () => undefined },
  });
  const { left } = await ca.retract({ suffix: 'api.vercel.com' }, { signal: undefined });
  expect(asked).toEqual(['needs-password', 'fails', 'replaced']);
  expect(left).toMatchObject([
    { store: 'needs-password', command: 'sudo cp' },
    { store: 'fails', message: 'The command failed.' },
  ]);
});

it('a wildcard’s certificate is exported to a name that Windows allows', () => {
  expect(certificateFile('*.acme.test', '', 'pem').fileName).toBe('_.acme.test.pem');
});
