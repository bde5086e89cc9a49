import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClock } from '../../main/base/clock.ts';
import { createRoot } from '../../main/ca/root.ts';

/** A root from before intermediates, in a separate folder: it signs leaves itself. */
export function writeFormerRoot(directory: string, realNowMs = createClock().state().realNow): void {
  const { certificatePem, privateKey } = createRoot({ realNowMs, owner: 'anna@laptop', leavesOnly: true });
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(join(directory, 'root.pem'), certificatePem);
  writeFileSync(join(directory, 'root-key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
}
