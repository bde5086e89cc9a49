import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { track } from '../../support/engine.ts';
import { createTestCertificates } from '../../support/proxy/proxy-certificates.ts';
import { DEMO } from '../../support/proxy/proxy-harness.ts';
import { findGrpcio } from '../../support/tools.ts';
import { proxyTo } from '../../support/upstream-server.ts';

const CALLS = join(import.meta.dirname, '../../support/grpc-clients/calls.py');

test.skipIf(findGrpcio() === null)(
  'gRPC calls of grpcio see the same through the proxy as directly (skipped without it)',
  async () => {
    const program = spawn('/usr/bin/python3', [CALLS], { stdio: ['pipe', 'pipe', 'inherit'] });
    track(() => void program.kill('SIGKILL'));
    const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
    const next = async <Line>(): Promise<Line> => JSON.parse((await lines.next()).value as string) as Line;
    const { port } = await next<{ port: number }>();
    const certificates = createTestCertificates();
    const running = await proxyTo(`http://127.0.0.1:${port}`, { certificates });
    const proxy = { port: running.httpsPort, host: DEMO, root: certificates.trusted };
    program.stdin.write(`${JSON.stringify(proxy)}\n`);
    const { direct, through } = await next<Record<'direct' | 'through', Record<string, unknown>>>();
    expect(through).toEqual({ ...direct, down: 'UNAVAILABLE' });
    expect(direct['unary ends with 9']).toEqual(['FAILED_PRECONDITION', 'no: 9, ä%', null, expect.any(Array)]);
    expect(Object.keys(direct)).toHaveLength(80);
  },
);
