/** A server for the first `vivarium run`: `vivarium run app.acme.test -- node resources/demo/hello.mjs`. */
import { createServer } from 'node:http';

const server = createServer(({ headers, url }, response) => {
  const asked = `${headers['x-forwarded-proto'] ?? 'http'}://${headers['x-forwarded-host'] ?? headers.host}${url}`;
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.end(`Hello from port ${server.address().port}. You have opened ${asked}\n`);
});
server.listen(process.env.PORT ?? 3000);
