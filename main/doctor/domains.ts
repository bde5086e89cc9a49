import { commandLine } from '../base/system/own-command.ts';
import { certificateWord } from '../contract/check-codes.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import type { Domain } from '../contract/domains.ts';
import { finding, isoText, type Subject } from './finding.ts';
import type { Handshake, HandshakeResult } from './handshake.ts';

/** A domain's intended state, and a client's view of it. */
export interface DomainEvidence {
  domain: Pick<Domain, 'hostname' | 'example' | 'projectId' | 'state' | 'certificate' | 'checks' | 'serving'>;
  /** The domain's leaf, with dates on the app's clock; null if it has none. */
  leaf: { fingerprint: string; notBeforeMs: number; notAfterMs: number } | null;
  handshake: HandshakeResult;
  /** A served wildcard that has a certificate for it. */
  wildcard?: string | undefined;
  /** Commands that correct its records. */
  repairs?: readonly string[];
  /** The app's clock. */
  nowMs: number;
}

/** Whether a custom domain is served as its state requires. */
export function evaluateDomain(evidence: DomainEvidence): DoctorCheck {
  const { domain, handshake, wildcard, repairs = [] } = evidence;
  const { hostname, projectId } = domain;
  const subject: Subject = { area: 'domains', name: hostname, title: hostname, projectId };
  if (domain.serving.https) return evaluateServed(subject, evidence);
  if (handshake.ok && wildcard === undefined) {
    return finding(subject, 'failed', [`It is served over HTTPS, although it is ${stateText(domain)}.`], {
      fix: 'Start Vivarium again.',
    });
  }
  const isExpected = handshake.ok || handshake.refusal === 'unrecognized_name';
  const answer = handshake.ok
    ? `${wildcard} serves it over HTTPS.`
    : isExpected
      ? 'Its HTTPS handshake is refused with unrecognized_name, as expected.'
      : `The handshake failed: ${handshake.reason}.`;
  const problem = domain.checks.find(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
  const waiting = problem ?? domain.checks.find(({ outcome }) => outcome === 'warning');
  return finding(
    subject,
    isExpected ? 'warning' : 'failed',
    [`It is ${stateText(domain)}.`, ...(waiting === undefined ? [] : [waiting.message]), answer],
    {
      fix: `${(waiting?.fix ?? 'Create the record that Domains shows').replace(/\.$/, '')}. Then verify it again.`,
      commands: [...repairs, commandLine`vivarium domain verify ${domain.hostname}`],
    },
  );
}

const stateText = ({ state, certificate }: DomainEvidence['domain']): string =>
  state === 'verified' ? `verified; its certificate is ${certificateWord(certificate)}` : state;

function evaluateServed(subject: Subject, { domain, leaf, handshake, nowMs }: DomainEvidence): DoctorCheck {
  const renew = {
    fix: 'Renew its certificate; if that does not help, start Vivarium again.',
    commands: [commandLine`vivarium certificate renew ${domain.hostname}`],
  };
  if (!handshake.ok) {
    return finding(subject, 'failed', [`The handshake failed: ${handshake.reason}.`], renew);
  }
  const faults = [...chainFaults(handshake, domain.example ?? domain.hostname), ...leafFaults(handshake, leaf, nowMs)];
  if (faults.length > 0) return finding(subject, 'failed', faults, renew);
  const evidence = [
    `${handshake.protocol}, signed by our root for this name, and valid for clients until ${isoText(handshake.notAfterMs)}.`,
    ...(leaf === null ? [] : [`On the app’s clock it is valid until ${isoText(leaf.notAfterMs)}.`]),
  ];
  const warning = domain.checks.find(({ outcome }) => outcome === 'warning' || outcome === 'failed');
  if (warning === undefined) return finding(subject, 'ok', evidence);
  return finding(subject, 'warning', [...evidence, warning.message], {
    fix: warning.fix ?? 'See Domains for details.',
  });
}

function chainFaults(handshake: Handshake, hostname: string): string[] {
  return [
    ...(handshake.distrust === null ? [] : [`Its chain does not end at our root: ${handshake.distrust}.`]),
    ...(handshake.named ? [] : [`The certificate is not for ${hostname}.`]),
    ...(handshake.status === 200
      ? []
      : [
          handshake.status === null
            ? 'A request on the connection got no answer.'
            : `A request on the connection was answered with ${handshake.status} instead of 200.`,
        ]),
  ];
}

function leafFaults(handshake: Handshake, leaf: DomainEvidence['leaf'], nowMs: number): string[] {
  if (leaf === null) return ['Vivarium has no certificate for it.'];
  return [
    ...(leaf.fingerprint === handshake.fingerprint
      ? []
      : ['Vivarium presents a different certificate from the one issued for it.']),
    ...(nowMs >= leaf.notBeforeMs && nowMs < leaf.notAfterMs
      ? []
      : [`On the app’s clock it is valid from ${isoText(leaf.notBeforeMs)} to ${isoText(leaf.notAfterMs)} only.`]),
  ];
}

/** A client's view of the platform's own hostnames. */
export interface PlatformEvidence {
  handshakes: readonly { hostname: string; handshake: HandshakeResult }[];
  untried: number;
}

export function evaluatePlatform({ handshakes, untried }: PlatformEvidence): DoctorCheck {
  const subject = { area: 'domains', name: 'platform', title: 'Platform hostnames' } as const;
  const lines = handshakes.map(({ hostname, handshake }) => {
    if (!handshake.ok) return { ok: false, text: `${hostname}: the handshake failed: ${handshake.reason}.` };
    const faults = chainFaults(handshake, hostname);
    return faults.length > 0
      ? { ok: false, text: `${hostname}: ${faults.join(' ')}` }
      : { ok: true, text: `${hostname}: ${handshake.protocol}, signed by our root for this name.` };
  });
  const evidence = [
    ...lines.map(({ text }) => text),
    ...(untried === 0 ? [] : [`${untried} more ${untried === 1 ? 'was' : 'were'} not tried.`]),
  ];
  if (lines.every(({ ok }) => ok)) return finding(subject, 'ok', evidence);
  return finding(subject, 'failed', evidence, {
    fix: 'Start Vivarium again. If that does not help, see the checks of the root.',
  });
}

export interface UpstreamEvidence {
  project: { id: string; slug: string; name: string };
  url: string;
  /** Why requests do not reach it, and what to do; null if a connection, with TLS for https, succeeds. */
  problem: { status: number; what: string; remedy: string } | null;
}

/** A stopped upstream is not Vivarium's fault, but turns every answer into a 502. */
export function evaluateUpstream({ project, url, problem }: UpstreamEvidence): DoctorCheck {
  const subject = {
    area: 'upstreams',
    name: project.slug,
    title: `Upstream of ${project.name}`,
    projectId: project.id,
  } as const;
  if (problem === null) return finding(subject, 'ok', [`${url} accepts connections.`]);
  const { status, what, remedy } = problem;
  return finding(subject, 'warning', [what, `Requests are answered with ${status}.`], {
    fix: remedy,
    about: 'The first command checks the target again; the second changes it, where PORT is that of your server.',
    commands: [commandLine`vivarium deploy create ${project.slug}`],
    otherwise: commandLine`vivarium project update ${project.slug} --target PORT`,
  });
}
