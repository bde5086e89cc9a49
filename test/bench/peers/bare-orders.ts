/**
 * The minimum that a Node server does for orders: over TLS, it checks the ES256 signature of each request against one
 * key, and signs a certificate's octets for requests below /sign. It stores nothing and validates nothing.
 */
import { createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const [keyFile = '', certificateFile = '', clientFile = ''] = process.argv.slice(2);
const clientKey = createPublicKey(readFileSync(clientFile));
const issuer = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
const certificate = randomBytes(700);
const NONCE = () => ({ 'Replay-Nonce': randomBytes(16).toString('base64url') });

const options = { key: readFileSync(keyFile), cert: readFileSync(certificateFile) };
const server = createServer(options, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'HEAD') return response.writeHead(200, NONCE()).end();
    const jws = JSON.parse(Buffer.concat(chunks).toString()) as Record<'protected' | 'payload' | 'signature', string>;
    const signed = Buffer.from(`${jws.protected}.${jws.payload}`);
    const key = { key: clientKey, dsaEncoding: 'ieee-p1363' } as const;
    const isRight = verify('sha256', signed, key, Buffer.from(jws.signature, 'base64url'));
    const body = request.url?.startsWith('/sign') === true ? sign('sha256', certificate, issuer).toString('hex') : '{}';
    return response.writeHead(isRight ? 200 : 400, NONCE()).end(body);
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`));
process.on('SIGTERM', () => process.exit(0));
