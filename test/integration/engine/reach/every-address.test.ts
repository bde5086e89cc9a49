import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { formatBanner } from '../../../../main/headless.ts';
import { startEngine } from '../../../support/engine.ts';

/** An address that is neither bound as loopback nor leaves this machine (RFC 6890: 127.0.0.0/8). */
const OTHER = '127.0.0.2';

/** The status of a request to an address other than loopback's usual one. */
function ask(port: number, host: string, path: string, method = 'GET'): Promise<number | string> {
  return new Promise((resolve) => {
    const asked = request({ host: OTHER, port, path, method, agent: false, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
    asked.end();
  });
}

describe('the listeners', () => {
  it('serve a container’s address with --host 0.0.0.0, and the interface only with the token and by its own names', async () => {
    const { app, call } = await startEngine({ host: '0.0.0.0' });
    const { http, dns, control } = app.runtime;
    expect(await ask(http.port, `demo.vivarium.localhost:${http.port}`, '/v1/openapi.json')).toBe(200);
    const connection = connect(dns.port, OTHER);
    await once(connection, 'connect');
    connection.destroy();
    const port = Number(new URL(control.url).port);
    const published = `127.0.0.1:${port}`;
    expect(await ask(port, published, '/healthz')).toBe(200);
    expect(await ask(port, published, '/api/projects/list', 'POST')).toBe(401);
    expect(await ask(port, published, '/stop', 'POST')).toBe(401);
    expect(await ask(port, `${OTHER}:${port}`, '/healthz')).toBe(403);
    expect(await ask(port, 'vivarium:4780', '/')).toBe(403);

    const { warnings } = await call('status.get');
    expect(warnings).toContainEqual(expect.stringContaining('publish its ports on 127.0.0.1 of the host only'));
    const banner = await formatBanner(app, { stdout: { write: () => true }, env: {} });
    expect(banner).not.toContain('ticket');
    expect(banner).toContain(', on every address\n');
    const { checks } = await call('doctor.run', { areas: ['listeners', 'dns'] });
    expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
  });

  it('serve only this machine without --host', async () => {
    const { app } = await startEngine({ empty: true });
    const { http, https, control } = app.runtime;
    const ports = [http.port, https.port, Number(new URL(control.url).port)];
    const answers = ports.map((port) => ask(port, `127.0.0.1:${port}`, '/'));
    expect(await Promise.all(answers)).toEqual(['ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED']);
  });
});
