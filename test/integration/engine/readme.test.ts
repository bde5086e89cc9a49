import { describe, it } from 'vitest';
import { expectWalk, readmeCommands, walk } from '../../support/readme-walk.ts';
import { startUpstream } from '../../support/upstream-server.ts';

/** Every line starts a program of its own. */
const WALK_TIMEOUT_MS = 120_000;

/** A line of the README, by its beginning, and what comes of it: the exit code, then what is said. */
const DOMAIN_WALK: readonly [command: string, outcome: RegExp][] = [
  ['D=', /^0\n$/],
  ['KEY=', /^0\n$/],
  ['v()', /^0\n$/],
  ['P=', /^0\n$/],
  ['v projects update', /^0\n[^]*^name +Demo$[^]*^plan +pro$/m],
  ['v domains attach', /^0\n[^]*^state +pending$[^]*value: cname\.vivarium\.localhost/m],
  ['v zones create', /^0\n[^]*^name +acme\.test$/m],
  ['v records put', /^0\n[^]*^type +CNAME$/m],
  ['v domains verify', /^0\n[^]*^state +verified$[^]*^certificate\.state +issued$[^]*^serving\.https +true$/m],
  ['dig', /^0\ncname\.vivarium\.localhost\.\n127\.0\.0\.1$/],
  ['curl', /^0\n[^]*\[\{"id":1,"name":"Biscuit the Border Collie",[^\]]*\}\]$/],
  ['v records put', /^0\n[^]*^value +0 issue "other-ca\.example"$/m],
  ['v certificates renew', /^1\nvivarium: No certificate was issued for shop\.acme\.test: .*other-ca\.example/],
  [
    'v caa explain',
    /^1\n[^]*^verdict +forbidden$[^]*^foundAt +acme\.test$[^]*^change +.*0 issue "vivarium\.localhost"/m,
  ],
  ['v records put', /^0\n[^]*^value +0 issue "vivarium\.localhost"$/m],
  ['v caa explain', /^0\n[^]*^verdict +allowed$[^]*^foundAt +acme\.test$/m],
  ['v certificates renew', /^0\n[^]*^state +issued$/m],
  ['v domains remove', /^0\nRemoved shop\.acme\.test\.$/],
];

const FIRST_WALK: readonly [command: string, outcome: RegExp][] = [
  ['A=', /^0\n$/],
  ['curl -i -H', /^0\n[^]*^HTTP\/1\.1 200 OK[^]*^X-RateLimit-Remaining: [^]*^Link: <.*>; rel="next"/im],
  ['curl -i -H', /^0\n[^]*^HTTP\/1\.1 201 Created[^]*"categoryId":9007199254740993\b/m],
  ['curl -i', /^0\n[^]*^HTTP\/1\.1 401 Unauthorized/m],
  ['curl', /^0\n[^]*\{"openapi":"3\.1\./],
  ['for', /^0\n(200 )+(429 ?)+$/],
  ['npm run vivarium -- limits usage --help', /^0\n[^]*vivarium limits usage/],
  ['npm run vivarium -- clock advance', /^0\n[^]*^offset +PT1M$/m],
  ['npm run vivarium -- clock set', /^0\n[^]*^now +2030-12-05T00:00:/m],
  ['npm run vivarium -- clock reset', /^0\n[^]*^offset +PT0S$/m],
];

const UPSTREAM_WALK: readonly [command: string, outcome: RegExp][] = [
  ['D=', /^0\n$/],
  ['v()', /^0\n$/],
  ['v projects create', /^0\n[^]*^target\.url +http:\/\/127\.0\.0\.1:\d+$/m],
  ['P=', /^0\n$/],
  ['v deploys create', /^0\n[^]*^status +succeeded$/m],
  ['v zones create', /^0\n[^]*^name +acme\.test$/m],
  ['v records put', /^0\n[^]*^type +CNAME$/m],
  ['v domains attach', /^0\n[^]*^state +pending$/m],
  ['v domains verify', /^0\n[^]*^certificate\.state +issued$[^]*^serving\.https +true$/m],
  ['curl', /^0\n[^]*host 127\.0\.0\.1:\d+, asked for as https:\/\/app\.acme\.test:\d+$/],
  ['v projects update', /^0\n[^]*^target\.host +keep$/m],
  ['curl', /^0\n[^]*host app\.acme\.test:\d+, asked for as https:\/\/app\.acme\.test:\d+$/],
];

describe('the README, pasted line by line', { timeout: WALK_TIMEOUT_MS }, () => {
  it('asks the API, goes over its limit, and moves the clock', async () => {
    expectWalk(await walk(readmeCommands('A first walk')), FIRST_WALK);
  });

  it('takes a domain from attach to HTTPS, breaks it by CAA, reads why, and mends it', async () => {
    expectWalk(await walk(readmeCommands('A domain of your own')), DOMAIN_WALK);
  });
});

describe('the pages of docs, pasted line by line', { timeout: WALK_TIMEOUT_MS }, () => {
  it('put an app behind it, at its own Host and at the one that was asked for', async () => {
    const app = await startUpstream(({ headers }, response) =>
      response.end(
        `host ${headers.host}, asked for as ${String(headers['x-forwarded-proto'])}://${String(headers['x-forwarded-host'])}`,
      ),
    );
    const commands = readmeCommands('With the command line', 'docs/put-my-app-behind-it.md');
    expectWalk(await walk(commands, { 5173: app.port }), UPSTREAM_WALK);
  });
});
