import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type Check, must, stop } from './checks.ts';
import { FREE_PORTS, type Program } from './program.ts';

/** The exit code of the command that `vivarium run` starts. */
const COMMAND_CODE = 7;

/** A dev server that asks for its own address, whose name no resolver need know, until it is answered by itself. */
const DEV_SERVER = `import { createServer } from 'node:http';
import { get } from 'node:https';
const { hostname, host, port } = new URL(process.env.VIVARIUM_URL);
const where = { host: '127.0.0.1', port, servername: hostname, headers: { host }, rejectUnauthorized: false };
let looks = 0;
const look = () => {
  if (++looks > 100) process.exit(1);
  const again = () => setTimeout(look, 200);
  get(where, (answer) => {
    answer.resume();
    if (answer.headers['x-dev-server'] === undefined) again();
    else process.exit(${COMMAND_CODE});
  }).once('error', again);
};
createServer((request, response) => response.setHeader('X-Dev-Server', '1').end()).listen(process.env.PORT, '127.0.0.1', look);
`;

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'smoke', version: '1' } },
};

/** Commands that start Vivarium, or serve other programs; no app runs. */
export async function checkBackground(program: Program, check: Check): Promise<void> {
  const place = ['--data-dir', program.dataDir];
  await check('"vivarium start -d" serves once it has ended', () => {
    const output = program.cli('start', '-d', ...place, ...FREE_PORTS);
    must(output.status === 0 && program.runtime() !== null, output);
    stop(program);
  });
  await check('"vivarium start -d" names a port that is taken, and ends with 1', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const port = String((holder.address() as AddressInfo).port);
    const output = program.cli('start', '-d', ...place, ...FREE_PORTS, '--http-port', port);
    holder.close();
    must(output.status === 1 && output.stderr.includes(port) && program.runtime() === null, output);
  });
  await check('"vivarium run" starts Vivarium, serves a command, and ends with its code', () => {
    const file = join(program.dataDir, 'dev-server.mjs');
    writeFileSync(file, DEV_SERVER);
    const output = program.cli('run', 'smoke', ...place, '--', process.execPath, file);
    must(output.status === COMMAND_CODE, output);
    stop(program);
  });
  await check('"vivarium mcp" answers an assistant, or says that it cannot read on Windows', () => {
    const output = program.cliReading(`${JSON.stringify(INITIALIZE)}\n`, 'mcp', ...place);
    if (process.platform === 'win32') return must(output.status === 1 && /standard input/.test(output.stderr), output);
    const { result } = JSON.parse(output.stdout) as { result?: { serverInfo?: { name?: string } } };
    must(output.status === 0 && result?.serverInfo?.name === 'vivarium', output);
  });
}
