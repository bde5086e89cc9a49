import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Leaf } from '../../../main/model/leaf.ts';
import type { Signer } from '../../../main/ca/certificate.ts';
import { run } from '../../support/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** `openssl verify` at its strictest, for the name that a client requested. */
export async function opensslVerify(
  root: Pick<Signer, 'certificatePem'>,
  leaf: Pick<Leaf, 'certificatePem'>,
  name: string[] = [],
  chain: readonly Pick<Signer, 'certificatePem'>[] = [],
) {
  const folder = temporaryFolder();
  const rootFile = join(folder, 'root.pem');
  const leafFile = join(folder, 'leaf.pem');
  writeFileSync(rootFile, root.certificatePem);
  writeFileSync(leafFile, leaf.certificatePem);
  const sent = join(folder, 'chain.pem');
  writeFileSync(sent, chain.map(({ certificatePem }) => certificatePem).join(''));
  const untrusted = chain.length === 0 ? [] : ['-untrusted', sent];
  // oxfmt-ignore
  return run('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', ...name, ...untrusted, '-CAfile', rootFile, leafFile]);
}
