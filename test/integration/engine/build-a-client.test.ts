import { describe, it } from 'vitest';
import { expectWalk, pageCommands, walk } from '../../support/readme-walk.ts';

/** Every line starts a program of its own. */
const WALK_TIMEOUT_MS = 180_000;

const problem = (code: string, status: number): RegExp =>
  new RegExp(String.raw`^0\n\{"code":"${code}","message":".+","status":${status}\} ${status}$`);

/** A command of the page, by its beginning, and what comes of it: the exit code, then what is said. */
const WALK: readonly [command: string, outcome: RegExp][] = [
  ['D=', /^0\n$/],
  ['KEY=', /^0\n$/],
  ['A=', /^0\n$/],
  ['v()', /^0\n$/],
  ['P=', /^0\n$/],
  ['v keys create', /^0\n[^]*^name +My client$[^]*^secret +viv_\w+$/m],
  ['curl -i', /^0\n[^]*^HTTP\/1\.1 200 OK[^]*^X-RateLimit-Remaining: 59[^]*^Link: <.*>; rel="next"/im],
  ['curl -i', /^0\n[^]*^HTTP\/1\.1 201 Created[^]*"categoryId":9007199254740993\b/m],
  ['HEAD=', /^0\n$/],
  ['while', /^0\n200 200 200 200$/],
  ['for', /^0\n(200 )+(429 ?)+$/],
  ['curl -si', /^0\nHTTP\/1\.1 429 Too Many Requests\r?\n[^]*retry-after: \d+/i],
  ['v clock advance', /^0\n[^]*^offset +PT1M$/m],
  ['curl -s', /^0\n200$/],
  ['v limits usage', /^0\n[^]*key:/],
  ['v settings update', /^0\n[^]*^banAfter +3$/m],
  ['v settings update', /^0\n[^]*^banAfter +20$/m],
  ['curl -s', problem('invalid_request', 400)],
  ['curl -s', problem('unauthorized', 401)],
  ['curl -s', problem('not_found', 404)],
  ['curl -s', problem('method_not_allowed', 405)],
  ['curl -s', problem('unsupported_media_type', 415)],
  ['curl -s', /^0\n\{"openapi":"3\.1\./],
  ['v traffic list', /^0\n[^]*\b415\b[^]*\b405\b/],
  ['ID=', /^0\n$/],
  ['v traffic get', /^0\n[^]*^method +POST$[^]*^status +201$/m],
  ['v traffic replay', /^0\n[^]*^method +POST$[^]*^status +201$[^]*^replayOf +trf_[0-9a-z]+_\d+$/m],
  ['v traffic har', /^0\n$/],
  ['v traffic summary', /^0\n[^]*^stepSeconds +5$/m],
  ['v clock freeze', /^0\n[^]*^frozen +true$/m],
  ['v clock advance', /^0\n[^]*^frozen +true$/m],
  ['v clock resume', /^0\n[^]*^frozen +false$/m],
  ['curl -si', /^0\nHTTP\/1\.1 200 OK\r?\n(?=[^]*^deprecation: )(?=[^]*^sunset: )(?=[^]*^link: )/im],
  ['v clock set', /^0\n[^]*^now +2030-12-05T00:00:/m],
  ['curl -s', problem('gone', 410)],
  ['v clock reset', /^0\n[^]*^offset +PT0S$/m],
];

describe('“Build a client”, pasted from top to bottom', { timeout: WALK_TIMEOUT_MS }, () => {
  it('asks, pages, is refused, errs, watches, and moves the clock', async () => {
    expectWalk(await walk(pageCommands('build-a-client')), WALK);
  });
});
