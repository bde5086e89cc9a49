import {
  buildClientHello,
  extension,
  GREASE_EXTENSION,
  record,
  records,
  serverNameExtension,
} from '../../support/proxy/proxy-client-hello.ts';
import { sendPieces, type Fuzzer, inParallel, plain, split } from './fuzzer.ts';
import { mutate, pick } from './mutate.ts';

const ALPN = extension(16, Buffer.from('000c02683208687474702f312e31', 'hex'));
const VERSIONS = extension(43, Buffer.from('0403040303', 'hex'));

export const CLIENT_HELLO: Fuzzer = {
  name: 'ClientHello',
  share: 0.07,
  async run({ vivarium, apiHost }, random, count) {
    const hello = buildClientHello({ extensions: [GREASE_EXTENSION, serverNameExtension(apiHost), ALPN, VERSIONS] });
    const bare = buildClientHello({ extensions: null, sessionId: Buffer.alloc(32, 7) });
    const seeds = [record(hello), records(hello, 20), record(bare)];
    await inParallel(count, async () => {
      const pieces = split(mutate(pick(seeds, random), random), random);
      await sendPieces(plain(vivarium.runtime.https.port), pieces);
    });
    return 0;
  },
};
