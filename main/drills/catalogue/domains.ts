import { code, DRILL_DOMAIN, DRILL_ZONE, type DrillProblem, type WrittenDrill } from '../drill.ts';

const broken = (entry: string): readonly DrillProblem[] => [{ kind: 'break', entry, at: 'domain' }];

const verify = `vivarium domain verify ${DRILL_DOMAIN}`;

const WWW = `www.${DRILL_ZONE}`;

export const DOMAIN_DRILLS: readonly WrittenDrill[] = [
  {
    id: 'record-is-there',
    title: 'We created the record, and the name does not exist',
    subject: 'names',
    teaches: 'How to see a zone as its server does',
    place: 'domain',
    problems: broken('domain.zone-doubled'),
    story: `“We moved the zone ${DRILL_ZONE} and typed in every record again, exactly as in your instructions: ${DRILL_DOMAIN}, CNAME, the target. I’m looking at it right now. But the shop can’t be found.”`,
    command: `vivarium dns query ${DRILL_DOMAIN} --type CNAME`,
    causes: {
      'not-propagated': [
        'The record has not propagated yet.',
        'The name server itself answers that the name does not exist. Waiting doesn’t change that.',
      ],
      'wrong-target': [
        'The target of the CNAME is wrong.',
        'Then a CNAME would exist. The answer says that the name does not exist.',
      ],
      'zone-twice': ['The name of the record contains the zone twice.'],
      'server-down': ['The name server is down.', 'It does answer: NXDOMAIN comes from a server that has the zone.'],
    },
    hints: [
      `List the records that the zone really contains: ${code(`vivarium record list ${DRILL_ZONE}`)}. In the window: DNS.`,
      'Compare the name of the CNAME with that of the apex. Is it relative to the zone?',
      `A provider appends the zone to a name without a final dot. What does ${DRILL_DOMAIN} become?`,
    ],
    task: 'Move the record to the right name, and verify the domain:',
    taskCommand: verify,
    fix: { kind: 'serves', hostname: DRILL_DOMAIN },
    explanation: `The CNAME was at ${DRILL_DOMAIN}.${DRILL_ZONE}. Providers expect names relative to the zone: shop is right.`,
  },
  {
    id: 'lent-name',
    title: 'One name of the zone has no records',
    subject: 'names',
    teaches: 'Why a stored record can be missing in answers',
    place: 'domain',
    problems: broken('domain.ns-mismatch'),
    story: `“Everything in ${DRILL_ZONE} works except the shop. The record is there, we see it. An agency made a campaign for us last year, and could change the shop’s records itself. They are gone now.”`,
    command: `vivarium dns query ${DRILL_DOMAIN} --type A`,
    causes: {
      'record-missing': [
        'The CNAME was deleted.',
        `It is in the zone: ${code(`vivarium record list ${DRILL_ZONE}`)}. Something takes precedence.`,
      ],
      delegated: ['The name is delegated to servers that don’t have the zone.'],
      signature: ['The DNSSEC signatures have expired.', 'The zone is not signed, so a resolver has nothing to check.'],
      'address-old': ['The shop has the address of the old server.', 'The answer has no address at all.'],
    },
    hints: [
      `Which record types does the shop have? ${code(`vivarium record list ${DRILL_ZONE}`)}`,
      'The authority section of an answer names the responsible servers. Which ones does it name for the shop?',
      'NS records below the apex delegate a name to other servers, so its records in this zone have no effect.',
    ],
    task: 'Take the name back by removing its delegation, and verify the domain:',
    taskCommand: verify,
    fix: { kind: 'serves', hostname: DRILL_DOMAIN },
    explanation:
      'An NS record at the shop delegated it to ns1.lame.invalid, which does not exist: a lame delegation. The zone’s own CNAME was no longer returned.',
  },
  {
    id: 'old-shop',
    title: 'Some visitors see the old shop',
    subject: 'domains',
    teaches: 'Why two people can see two different shops',
    place: 'domain',
    problems: broken('domain.a-conflict'),
    story:
      '“We moved the shop to you on Monday. I see the new one. My colleague sees the old one, in the same office! And your page says that the domain is misconfigured, although the CNAME is right.”',
    command: verify,
    causes: {
      'browser-cache': [
        'The colleague’s browser has the old shop in its cache.',
        'The check doesn’t use a browser, and finds the problem too.',
      ],
      'moved-away': ['The domain was moved to another host.', 'The CNAME to the right target is still there.'],
      'address-beside': ['The address of the old server still exists next to the CNAME.'],
      wildcard: [
        'A wildcard record answers for the shop.',
        'A wildcard answers only for names without records of their own.',
      ],
    },
    hints: [
      'What does the check show under “found”?',
      `List the records of the zone: ${code(`vivarium record list ${DRILL_ZONE}`)}. How many does the shop have?`,
      'A name with a CNAME may have no other records (RFC 1034 §3.6.2). Which one is from before Monday?',
    ],
    task: 'Remove everything but the CNAME from the name, and verify the domain:',
    taskCommand: verify,
    fix: { kind: 'serves', hostname: DRILL_DOMAIN },
    explanation:
      'An A record with 192.0.2.1 was left over from the old server. Resolvers that got this record first led visitors to the old shop.',
  },
  {
    id: 'no-padlock',
    title: 'The shop has a padlock, www has none',
    subject: 'domains',
    teaches: 'How to find out why a hostname has no HTTPS',
    place: 'domain',
    problems: [{ kind: 'unattached', hostname: WWW }],
    story: `“https://${DRILL_DOMAIN} is fine. At https://${WWW} the browser says that the connection is not secure, or doesn’t get one at all. DNS is right, we checked: both names lead to the same target.”`,
    command: `curl -i --connect-to "::127.0.0.1:{https}" --cacert "{ca}" "https://${WWW}/v1/pets?limit=1"`,
    causes: {
      'not-attached': [`${WWW} is not attached to any project, so it has no certificate.`],
      expired: [`The certificate of ${WWW} has expired.`, 'It has no certificate: look under Certificates.'],
      'record-missing': [
        `${WWW} has no record.`,
        `It has the right record: ${code(`vivarium dns query ${WWW} --type CNAME`)}`,
      ],
      'ca-not-permitted': [
        'A CAA record forbids the certificate.',
        `CAA would also affect the shop, and it permits this CA: ${code(`vivarium caa explain ${WWW}`)}`,
      ],
    },
    hints: [
      'Which hostnames does the project have? `vivarium domain list`. In the window: Domains.',
      'A record leads clients to Vivarium. How does Vivarium know which project answers, and which names need certificates?',
      'Over plain HTTP, the page at www says what is missing.',
    ],
    task: `Add what ${WWW} lacks until it is verified and has a certificate:`,
    taskCommand: `vivarium domain attach drill ${WWW} --local`,
    fix: { kind: 'serves', hostname: WWW },
    explanation: `${WWW} had a CNAME to Vivarium but was not attached to a project. Without a project, no certificate is issued and nothing answers.`,
  },
  {
    id: 'issuance-stopped',
    title: 'Issuance stopped although nothing was changed',
    subject: 'ca',
    teaches: 'How to find out why a CA refuses',
    place: 'domain',
    problems: broken('domain.caa-on-target'),
    story: `“The certificate of ${DRILL_DOMAIN} can’t be renewed. For a year it renewed itself, and we changed nothing: not the zone, not the account, nothing. Our zone has no CAA record at all.”`,
    command: `vivarium certificate renew ${DRILL_DOMAIN}`,
    causes: {
      'own-caa': [
        `A CAA record of ${DRILL_ZONE} permits only another CA.`,
        `${DRILL_ZONE} has none: ${code(`vivarium dns query ${DRILL_ZONE} --type CAA`)}`,
      ],
      'target-caa': ['The target of the CNAME has a CAA record for another CA.'],
      'root-over': ['The root of the CA has expired.', 'It is valid: `vivarium ca get`'],
      'caa-fails': [
        'The name server fails to answer CAA queries.',
        'It does answer: its answer is what forbids the issuance.',
      ],
    },
    hints: [
      `Ask why: ${code(`vivarium caa explain ${DRILL_DOMAIN}`)}. In the window: the domain’s page.`,
      'At which name was the decisive record found? Is that name yours?',
      'A CA follows the CNAME and applies the CAA records of its target. An edge network may have added one.',
    ],
    task: 'Permit issuance again, at that name or by bypassing it, and renew:',
    taskCommand: `vivarium certificate renew ${DRILL_DOMAIN}`,
    fix: { kind: 'serves', hostname: DRILL_DOMAIN, renewed: true },
    explanation: `The shop’s CNAME led through edge.${DRILL_DOMAIN}, which got a CAA record for other-ca.example. It applies to the shop, although the shop’s own zone has no CAA record.`,
  },
];
