import { expect, it } from 'vitest';
import { createFront } from '../../../../main/proxy/front/front.ts';
import { takenPort } from '../../../support/ports.ts';

it('whose port is taken is tried again by the next holder', async () => {
  const port = await takenPort();
  const front = createFront({ address: '127.0.0.1', target: '127.0.0.1', ports: () => [port] });
  for (const holder of ['one', 'one', 'two'])
    await expect(front.open(holder)).rejects.toThrow(`port ${port}: EADDRINUSE`);
});
