import { sendPieces, type Fuzzer, type FuzzTarget, inParallel, plain, split } from './fuzzer.ts';
import { mutate, pick } from './mutate.ts';

const templates = ({ apiHost, upstreamHost, secret, vivarium }: FuzzTarget): Buffer[] => {
  const authority = `${apiHost}:${vivarium.runtime.http.port}`;
  const json = '{"name":"Rex","categoryId":9007199254740993,"status":"sold"}';
  const post = `Host: ${authority}\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n`;
  const chunked = `Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3;a=b\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n`;
  return [
    `GET /v1/pets?limit=2&status=sold&after=7 HTTP/1.1\r\nHost: ${authority}\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
    `POST /v1/pets HTTP/1.1\r\n${post}Content-Length: ${json.length}\r\n\r\n${json}`,
    `POST /v1/pets HTTP/1.1\r\n${post}Expect: 100-continue\r\n${chunked}`,
    `GET http://${authority}/v1/openapi.json HTTP/1.1\r\nHost: ${authority}\r\nAccept: text/html;q=0.9, */*\r\n\r\n`,
    `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\nGET / HTTP/1.0\r\nHost: ${authority}\r\n\r\n`,
    `OPTIONS * HTTP/1.1\r\nHost: ${authority}\r\nMax-Forwards: 0\r\n\r\nHEAD / HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
    `PUT /up?x=%20 HTTP/1.1\r\nHost: ${upstreamHost}\r\nX-Forwarded-For: 10.0.0.1\r\nForwarded: for="[::1]:1"\r\n${chunked}`,
    `GET /up HTTP/1.1\r\nHost: ${upstreamHost}\r\nVia: 1.1 a, 2 b\r\nConnection: close, X-A\r\nX-A: 1\r\nTE: trailers\r\n\r\n`,
  ].map((text) => Buffer.from(text, 'latin1'));
};

export const HTTP1: Fuzzer = {
  name: 'HTTP/1.1, to the API and to an upstream',
  share: 0.15,
  async run(target, random, count) {
    const seeds = templates(target);
    let faults = 0;
    await inParallel(count, async () => {
      const pieces = split(mutate(pick(seeds, random), random), random);
      const answer = await sendPieces(plain(target.vivarium.runtime.http.port), pieces);
      if (/^HTTP\/1\.1 500 /m.test(answer.toString('latin1'))) faults += 1;
    });
    return faults;
  },
};
