import { describe, expect, it } from 'vitest';
import { expectPasted, GUIDES, README, wordsIn } from '../../support/documents/pasted-documents.ts';
import type { Expected, Pass } from '../../support/documents/pasted-documents.ts';
import { startUpstream } from '../../support/upstream-server.ts';

/** Hundreds of commands, on a busy machine. */
const PASTE_TIMEOUT_MS = 900_000;

const KEY_LINE: Expected = ['export VIVARIUM_KEY=', /^0\n$/];

/** The 61 requests of one window; earlier requests have used up part of the window, too. */
const OVER_THE_LIMIT = /^0\n(200 )+(429 ?)+$/;

const answer = (status: number, body: RegExp | string): RegExp =>
  new RegExp(String.raw`^0\n[^]*^HTTP/1\.1 ${status} [^]*${typeof body === 'string' ? body : body.source}`, 'm');

const problem = (code: string, status: number): RegExp =>
  new RegExp(String.raw`^0\n[^]*\{"code":"${code}","message":".+","status":${status}\}$`);

const START: Expected = ['vivarium start -d', /^0\n/];

const README_OUTCOMES: readonly Expected[] = [['vivarium uninstall --dry-run', /^0\n[^]*(?:share\/vivarium|Vivarium)/]];

const MY_APP: readonly Expected[] = [
  START,
  ['vivarium project create guide ', /^0\n[^]*^slug +guide$[^]*^target\.url +http:\/\/localhost:\d+$/m],
  [
    'vivarium domain attach guide app.acme.test --local',
    /^0\ndeploy +ok [^\n]*\nzone +ok +acme\.test, created\nrecord +ok [^\n]*, added\nverified +ok [^\n]*\ncertificate +ok +valid until /,
  ],
  ['vivarium open', /^0\nurl +https:\/\/app\.acme\.test\/$/m],
  ['vivarium ca export', /^0\nWritten: /],
  ['curl', /^0\n[^]*host localhost:\d+, requested as https:\/\/app\.acme\.test:\d+$/],
  ['vivarium project update', /^0\n[^]*^target\.host +keep$/m],
  ['curl', /^0\n[^]*host app\.acme\.test:\d+, requested as https:\/\/app\.acme\.test:\d+$/],
  ['vivarium project remove', /^0\nRemoved guide /],
  ['vivarium zone remove', /^0\nRemoved acme\.test\.$/],
  ['rm', /^0\n$/],
];

const CUSTOM_DOMAIN: readonly Expected[] = [
  START,
  ['vivarium project create', /^0\n[^]*^slug +guide-domain$[^]*^plan +pro$/m],
  ['vivarium deploy create', /^0\n[^]*^status +succeeded$/m],
  ['vivarium domain attach', /^0\n[^]*^state +pending$[^]*name: shop, value: cname\.vivarium\.localhost/m],
  ['vivarium domain verify', /^1\n[^]*^state +pending$[^]*no_record/m],
  ['vivarium zone create', /^0\n[^]*^name +guide-domain\.test$/m],
  ['vivarium record put', /^0\n[^]*^type +CNAME$/m],
  ['vivarium domain verify', /^0\n[^]*^state +verified$[^]*^certificate\.state +issued$/m],
  ['vivarium open', /^0\nurl +https:\/\/shop\.guide-domain\.test\//],
  ['vivarium ca export', /^0\nWritten: /],
  ['curl', problem('unauthorized', 401)],
  ['vivarium record put', /^0\n[^]*^value +0 issue "other-ca\.example"$/m],
  ['vivarium certificate renew', /^1\nvivarium: No certificate was issued for shop\.guide-domain\.test: /],
  [
    'vivarium caa explain',
    /^1\nverdict +forbidden\nfoundAt +guide-domain\.test\n[^]*^change +To permit it, add this record: guide-domain\.test\. CAA 0 issue "vivarium\.localhost"$/m,
  ],
  ['vivarium record put', /^0\n[^]*^value +0 issue "vivarium\.localhost"$/m],
  ['vivarium certificate renew', /^0\n[^]*^state +issued$/m],
  ['vivarium settings update --propagation 1h', /^0\n[^]*^propagation +PT1H$/m],
  ['vivarium record put', /^0\n[^]*^name +www$/m],
  ['vivarium dns query', /^0\nrcode +NXDOMAIN$/m],
  ['vivarium clock advance 1h', /^0\n[^]*\b1 DNS change is visible now\.$/m],
  ['vivarium dns query', /^0\nrcode +NOERROR$/m],
  ['vivarium settings update --propagation 0s', /^0\n[^]*^propagation +PT0S$/m],
  ['vivarium zone remove', /^0\nRemoved guide-domain\.test\.$/],
  ['vivarium domain verify', /^1\n[^]*\bno_record\n[^]*\bmoved\n[^]*^serving\.https +true$/m],
  ['vivarium domain remove', /^0\nRemoved shop\.guide-domain\.test\.$/],
  ['vivarium project remove', /^0\nRemoved guide-domain /],
  ['vivarium clock reset', /^0\n[^]*^offset +none$/m],
  ['rm', /^0\n$/],
];

const STATUS = 'vivarium run guide-saas --as vercel=guide-saas -- node domains.mjs status';

const CUSTOMERS: readonly Expected[] = [
  START,
  ['vivarium project create guide-saas', /^0\n/],
  ['vivarium run guide-saas', /^0\n[^]*^Added www\.guide-customer\.test\.$/m],
  [STATUS, /^0\n[^]*^Not configured\. Wanted: CNAME cname\.vivarium\.localhost\. Found: none$/m],
  [
    'vivarium zone rehearse',
    /^1\n[^]*^Vercel +verified +Valid Configuration +pending [^]*CAA 0 issue "vivarium\.localhost"$/m,
  ],
  ['vivarium zone create', /^0\n/],
  ['vivarium record put', /^0\n/],
  [STATUS, /^0\n[^]*^Not configured\. /m],
  ['vivarium domain verify', /^1\n[^]*zone_doubled[^]*www\.guide-customer\.test\.guide-customer\.test/],
  ['vivarium record put', /^0\n/],
  ['vivarium record put', /^0\n/],
  [STATUS, /^0\n[^]*^Not configured\. [^\n]* Found: cname\.vivarium\.localhost$/m],
  ['vivarium record put', /^0\n/],
  [STATUS, /^0\n[^]*^Configured\. Verified: true\. Certificate: true$/m],
  ['vivarium provider ask', /^0\n[^]*"verified": true[^]*"misconfigured": false/],
  ['vivarium break', /^0\n/],
  [STATUS, /^0\n[^]*(?:^The API answered 503; again in 1 s\.\n[^]*){2}^Configured\. /m],
  ['vivarium manners', /^[02]\n[^]*Waits for Retry-After +2 of 2 kept/],
  ['vivarium project remove', /^0\nRemoved guide-saas /],
  ['vivarium zone remove', /^0\nRemoved guide-customer\.test\.$/],
];

const CLIENT: readonly Expected[] = [
  START,
  ['vivarium project create', /^0\n[^]*^slug +guide-client$[^]*^plan +free$/m],
  ['vivarium pet seed', /^0\ncreated +30$/m],
  KEY_LINE,
  ['vivarium reach snippets', /^0\nPHP\n\n<\?php\n[^]*'guide-client\.vivarium\.localhost:\d+:127\.0\.0\.1'/],
  ['curl -i', answer(200, /^X-RateLimit-Remaining: 59[^]*^Link: <.*after=2>; rel="next"[^]*^\[\{"id":1,/)],
  ['curl -i', answer(200, /^\[\{"id":3,/)],
  ['echo', answer(201, '"categoryId":9007199254740993[^0-9]')],
  ['curl -s', OVER_THE_LIMIT],
  [
    'curl -i',
    answer(429, /^X-RateLimit-Limit: 60\r?\nX-RateLimit-Remaining: 0[^]*^Retry-After: \d+[^]*rate_limit_exceeded/),
  ],
  ['vivarium limits usage', /^0\n[^]*key:/],
  ['vivarium clock advance 1m', /^0\n[^]*per-minute limits? ha(?:s|ve) reset\./],
  ['curl -i', answer(200, /^X-RateLimit-Remaining: 59/)],
  ['curl', problem('invalid_request', 400)],
  ['curl', problem('unauthorized', 401)],
  ['curl', problem('not_found', 404)],
  ['curl', problem('method_not_allowed', 405)],
  ['curl', problem('unsupported_media_type', 415)],
  ['vivarium traffic list', /^0\n[^]*\b429\b[^]*\bminute window\b/],
  ['vivarium traffic har', /^0\nWritten: /],
  ['vivarium manners what-if', /^0\n[^]*refused/],
  ['vivarium clock freeze', /^0\n[^]*^frozen +true$/m],
  ['vivarium clock advance 24h', /^0\n[^]*^offset +24 h .*ahead$[^]*^frozen +true$/m],
  ['vivarium clock reset', /^0\n[^]*^offset +none$[^]*^frozen +false$/m],
  ['curl -i', answer(200, /^Deprecation: [^]*^Sunset: [^]*^Link: .*successor-version/)],
  ['vivarium clock set', /^0\nnow +2030-12-05T00:00:/],
  ['curl -i', answer(410, '"code":"gone"')],
  ['vivarium clock reset', /^0\n[^]*^offset +none$/m],
  ['vivarium project remove', /^0\nRemoved guide-client /],
  ['rm', /^0\n$/],
];

const WHAT_IS_WRONG: readonly Expected[] = [
  ['vivarium doctor', /^[01]\n[^]*^ok +HTTP +127\.0\.0\.1:\d+ answers\.$/m],
  ['vivarium start -d', /^0\n/],
  ['vivarium project create', /^0\n[^]*^slug +guide-doctor$/m],
  ['vivarium doctor', /^[01]\n[^]*^down +Target of guide-doctor\n +Nothing is listening at localhost:\d+\.$/m],
  ['vivarium project remove', /^0\nRemoved guide-doctor /],
  ['vivarium logs', /^0\n[^]*\bServing\b/],
];

const DEMO: readonly Expected[] = [
  ['vivarium start -d --ephemeral', /^0\n[^]*Demo[^]*3 attached, 1 served/],
  ['vivarium open', /^0\n/],
  ['vivarium stop', /^0\nStopped\.$/],
  ['rmdir', /^0\n$/],
  ['vivarium start -d', /^0\n/],
  ['vivarium clock reset', /^0\n[^]*^offset +none$/m],
  ['vivarium project create', /^0\n[^]*^slug +guide-demo$/m],
  ['vivarium pet seed', /^0\ncreated +30$/m],
  KEY_LINE,
  ['curl', /^0\n[^]*\[\{"id":1,/],
  ['curl -s', OVER_THE_LIMIT],
  ['vivarium clock advance 1m', /^0\n/],
  ['curl', /^0\n[^]*\] 200$/],
  ['vivarium domain attach', /^1\n[^]*Free plan, which has no custom domains\./],
  ['vivarium project update', /^0\n[^]*^plan +pro$/m],
  ['vivarium domain attach', /^0\n[^]*^certificate +ok /m],
  ['vivarium open', /^0\nurl +https:\/\/shop\.guide-demo\.test\//],
  ['vivarium record put', /^0\n/],
  ['vivarium certificate renew', /^1\nvivarium: No certificate was issued /],
  ['vivarium caa explain', /^1\nverdict +forbidden$/m],
  ['vivarium clock set', /^0\nnow +2030-12-05T00:00:/],
  ['curl', problem('gone', 410)],
  ['vivarium snapshot save', /^0\nSaved: guide-demo \(\d+ KiB\)\.$/],
  ['vivarium pet seed', /^0\n/],
  ['vivarium clock advance', /^0\n/],
  ['vivarium snapshot restore', /^0\nRestored: guide-demo\. The clock continues from 2030-12-05T00:00:/],
  ['vivarium snapshot remove', /^0\nRemoved: guide-demo /],
  ['vivarium clock reset', /^0\n[^]*^offset +none$/m],
  ['vivarium project remove', /^0\nRemoved guide-demo /],
  ['vivarium zone remove', /^0\nRemoved guide-demo\.test\.$/],
];

/** The first commands of the other guides, in the state in which their readers are: Vivarium may run or not. */
const REACH: readonly Expected[] = [
  START,
  ['vivarium ca export', /^0\nWritten: /],
  ['curl', /^0\n[^]*\{"openapi":"3\.1\.0"/],
];

const BREAK: readonly Expected[] = [
  START,
  ['vivarium break http.empty-response demo.vivarium.localhost', /^0\n[^]*Broken: http\.empty-response/],
  ['vivarium break', /^0\n[^]*http\.empty-response/],
  ['vivarium break off --all', /^0\n/],
];

const WORLD: readonly Expected[] = [
  START,
  ['vivarium export vivarium.yaml', /^0\nWritten: [^]*vivarium\.yaml/],
  ['vivarium up --check', /^0\n/],
  ['vivarium up --dry-run', /^0\n/],
];

const REHEARSAL: readonly Expected[] = [['vivarium rehearse rehearsal.yaml', /^0\n[^]*\b0 failed/]];

const ACME: readonly Expected[] = [
  START,
  ['vivarium ca export --output root.pem', /^0\nWritten: /],
  ['export VIVARIUM_ACME_DIRECTORY=', /^0\n$/],
  ['export VIVARIUM_ACME_ROOT=', /^0\n$/],
  ['export VIVARIUM_ACME_HTTP_PORT=', /^0\n$/],
  ['export VIVARIUM_ACME_TLS_PORT=', /^0\n$/],
];

const PERSONA: readonly Expected[] = [
  START,
  ['vivarium project create guide-persona', /^0\n[^]*^slug +guide-persona$/m],
  ['vivarium deploy create', /^0\n/],
  ['vivarium domain attach', /^0\n[^]*^verified +ok /m],
  ['vivarium domain get', /^0\n[^]*github-pages/],
  ['vivarium project update guide-persona --persona vercel', /^0\n[^]*^persona +vercel$/m],
  [
    'vivarium zone rehearse acme.zone',
    /^1\n[^]*^Vercel +misconfigured +Invalid Configuration [^]*cname\.vercel-dns\.com\.acme\.example[^]*CAA 0 issue "letsencrypt\.org"$/m,
  ],
  [
    'vivarium rehearse takeover.yaml',
    /^0\n[^]* says You must verify your domain shop\.takeover\.test [^]*\b14 passed, 0 failed$/,
  ],
  ['vivarium project remove guide-persona', /^0\nRemoved guide-persona /],
  ['vivarium zone remove guide-persona.test', /^0\nRemoved guide-persona\.test\.$/],
];

const DEVICES: readonly Expected[] = [START, ['vivarium lan status', /^0\n/]];

const readme = [[README], README_OUTCOMES] as const;
const pasted = [
  [['docs/put-my-app-behind-it.md'], MY_APP],
  [['docs/reach-a-hostname.md', 1], REACH],
  [['docs/test-a-custom-domain.md'], CUSTOM_DOMAIN],
  [['docs/custom-domains.md'], CUSTOMERS],
  [['docs/build-a-client.md'], CLIENT],
  [['docs/break-it.md', 1], BREAK],
  // Its commands are for another project: `test/integration/packaging/embedded.clients.test.ts` pastes them there.
  [['docs/use-it-in-tests.md'], []],
  [['docs/vivarium-yaml.md', 1], WORLD],
  [['docs/rehearse.md', 1], REHEARSAL],
  [['docs/acme.md', 1], ACME],
  [['docs/provider-personas.md'], PERSONA],
  [['docs/other-devices.md', 1], DEVICES],
  // It has none: an assistant starts the command.
  [['docs/work-with-an-assistant.md'], []],
  [['docs/give-a-demo.md'], DEMO],
  [['docs/find-out-what-is-wrong.md'], WHAT_IS_WRONG],
] as const satisfies Pass['pages'];
const pages: Pass['pages'] = [...pasted, readme];
const whole = pages.filter(([[, blocks]]) => blocks === undefined);

/** The clock is frozen after the sunset of an operation, and a newer project and a key of the same name exist. */
const USE: readonly Expected[] = [
  ['vivarium clock set 2031-01-01', /^0\n/],
  ['vivarium clock freeze', /^0\n/],
  ['vivarium project create Newer --plan pro', /^0\n/],
  ['vivarium key create demo --name Guide', /^0\n/],
];

/** The state after the guides: projects and zones of the demo data and of other use, the demo's states, and the files to keep. */
const LEFT: readonly Expected[] = [
  ['vivarium project list', /^0\n(?![^]*guide)[^]*\bnewer\b[^]*\bdemo\b/],
  ['vivarium zone list', /^0\n(?![^]*(?:guide|acme))[^]*happypaws\.test/],
  ['vivarium domain get happypaws.example', /^0\n[^]*^certificate\.state +pending$/m],
  [
    'ls',
    /^0\nacme\.zone\nbin\ncustomer\.zone\ndomains\.mjs\nrehearsal\.yaml\nroot\.pem\ntakeover\.yaml\nvivarium\.yaml$/,
  ],
];

/** Port 1, tcpmux, which no system serves. */
const NOTHING_LISTENS = 1;

describe('the README and the guides, pasted into one Vivarium', { timeout: PASTE_TIMEOUT_MS }, () => {
  it('work in bash on a fresh data folder, and in zsh on a used one', async () => {
    expect(pasted.map(([[page]]) => page)).toEqual(GUIDES);
    const app = await startUpstream(({ headers }, response) =>
      response.end(
        `host ${headers.host}, requested as ${String(headers['x-forwarded-proto'])}://${String(headers['x-forwarded-host'])}`,
      ),
    );
    await expectPasted(
      [
        { shell: 'bash', pages },
        { shell: 'zsh', before: USE, pages: whole, after: LEFT },
      ],
      { 5173: app.port, 5999: NOTHING_LISTENS },
    );
  });

  it('give the same output in fish as in bash', async () => {
    const read = pages.map(([page]) => page);
    const words = await wordsIn('bash', read);
    expect(words).toContain(`Authorization: Bearer viv_${'k'.repeat(32)}`);
    expect(await wordsIn('fish', read)).toEqual(words);
  });
});
