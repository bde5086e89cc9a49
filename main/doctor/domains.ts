import { commandLine } from '../base/system/own-command.ts';
import { certificateFails, certificateWord } from '../contract/check-codes.ts';
import type { DoctorCheck } from '../contract/doctor.ts';
import type { Domain } from '../contract/domains.ts';
import { checkOf, isOfRequests, isoText, type MetBreak, underBreaks, UNTRIED } from './finding.ts';
import type { Handshake, HandshakeResult } from './handshake.ts';

/** A domain's intended state, and a client's view of it. */
export interface DomainEvidence {
  domain: Pick<Domain, 'hostname' | 'example' | 'projectId' | 'state' | 'certificate' | 'checks' | 'serving'>;
  /** The domain's leaf, with dates on the app's clock; null if it has none. */
  leaf: { fingerprint: string; notBeforeMs: number; notAfterMs: number } | null;
  /** Null if a break would have counted it. */
  handshake: HandshakeResult | null;
  /** A served wildcard that has a certificate for it. */
  wildcard?: string | undefined;
  /** Commands that correct its records. */
  repairs?: readonly string[];
  /** Those that its clients meet. */
  breaks: readonly MetBreak[];
  /** The app's clock. */
  nowMs: number;
}

/** Whether a custom domain is served as its state requires. */
export const evaluateDomain = (evidence: DomainEvidence): DoctorCheck =>
  underBreaks(evaluateServing(evidence), evidence.breaks);

function evaluateServing(evidence: DomainEvidence): DoctorCheck {
  const { domain, handshake, wildcard, repairs = [] } = evidence;
  const { hostname, projectId } = domain;
  const as = checkOf('domains', hostname, hostname, projectId);
  if (domain.serving.https) return evaluateServed(as, evidence);
  if (handshake?.ok === true && wildcard === undefined) {
    return as.failed(`It is served over HTTPS, although it is ${stateText(domain)}.`, 'Start Vivarium again.');
  }
  const isExpected = handshake === null || handshake.ok || handshake.refusal === 'unrecognized_name';
  const answer =
    handshake === null
      ? UNTRIED
      : handshake.ok
        ? `${wildcard} serves it over HTTPS.`
        : isExpected
          ? 'So HTTPS is refused, with the TLS alert unrecognized_name.'
          : `The handshake failed: ${handshake.reason}.`;
  const problem = domain.checks.find(({ outcome }) => outcome === 'failed' || outcome === 'unknown');
  const waiting = problem ?? domain.checks.find(({ outcome }) => outcome === 'warning');
  const isDown = domain.state === 'misconfigured' || certificateFails(domain.certificate);
  return (isExpected ? (isDown ? as.down : as.warning) : as.failed)(
    [`It is ${stateText(domain)}.`, ...(waiting === undefined ? [] : [waiting.message]), answer],
    `${(waiting?.fix ?? 'Create the record that Domains shows').replace(/\.$/, '')}. Then verify it again.`,
    [...repairs, commandLine`vivarium domain verify ${domain.hostname}`],
  );
}

function stateText({ state, certificate }: DomainEvidence['domain']): string {
  if (state !== 'verified') return state;
  if (certificate.state === 'none') return 'verified, but has no certificate';
  const word = certificateWord(certificate);
  return `verified, but its certificate ${['failed', 'expired'].includes(word) ? 'has' : 'is'} ${word}`;
}

function evaluateServed(
  { ok, warning, failed }: ReturnType<typeof checkOf>,
  { domain, leaf, handshake, nowMs }: DomainEvidence,
): DoctorCheck {
  const renew = {
    fix: 'Renew its certificate; if that does not help, start Vivarium again.',
    commands: [commandLine`vivarium certificate renew ${domain.hostname}`],
  };
  if (handshake === null) return ok(UNTRIED);
  if (!handshake.ok) return failed(`The handshake failed: ${handshake.reason}.`, renew);
  const faults = [...chainFaults(handshake, domain.example ?? domain.hostname), ...leafFaults(handshake, leaf, nowMs)];
  if (faults.length > 0) return failed(faults, renew);
  const evidence = [
    `${handshake.protocol}, signed by our root for this name, and valid for clients until ${isoText(handshake.notAfterMs)}.`,
    ...(leaf === null ? [] : [`On the simulated clock it is valid until ${isoText(leaf.notAfterMs)}.`]),
  ];
  const problem = domain.checks.find(({ outcome }) => outcome === 'warning' || outcome === 'failed');
  if (problem === undefined) return ok(evidence);
  return warning([...evidence, problem.message], problem.fix ?? 'See Domains for details.');
}

function chainFaults(handshake: Handshake, hostname: string): string[] {
  return [
    ...(handshake.distrust === null ? [] : [distrustText(handshake.distrust)]),
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

/** Node's codes for a chain without an end at the trusted root. */
const OF_CHAIN = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_CHAIN_|CERT_UNTRUSTED)/;

function distrustText(code: string): string {
  if (code === 'CERT_HAS_EXPIRED') return 'The certificate that it presents has expired.';
  if (code === 'CERT_NOT_YET_VALID') return 'The certificate that it presents is not valid yet.';
  return OF_CHAIN.test(code)
    ? `Its chain does not end at our root: ${code}.`
    : `Clients refuse its certificate: ${code}.`;
}

function leafFaults(handshake: Handshake, leaf: DomainEvidence['leaf'], nowMs: number): string[] {
  if (leaf === null) return ['Vivarium has no certificate for it.'];
  return [
    ...(leaf.fingerprint === handshake.fingerprint
      ? []
      : ['Vivarium presents a different certificate from the one issued for it.']),
    ...(nowMs >= leaf.notBeforeMs && nowMs < leaf.notAfterMs
      ? []
      : [`On the simulated clock it is valid from ${isoText(leaf.notBeforeMs)} to ${isoText(leaf.notAfterMs)} only.`]),
  ];
}

/** A client's view of the platform's own hostnames. */
export interface PlatformEvidence {
  handshakes: readonly { hostname: string; handshake: HandshakeResult | null; breaks: readonly MetBreak[] }[];
  untried: number;
}

export function evaluatePlatform({ handshakes, untried }: PlatformEvidence): DoctorCheck {
  const { ok, failed } = checkOf('domains', 'platform', 'Platform hostnames');
  const lines = handshakes.map(({ hostname, handshake, breaks }) => {
    if (handshake === null) return { ok: false, text: `${hostname}: ${UNTRIED}`, breaks };
    if (!handshake.ok) return { ok: false, text: `${hostname}: the handshake failed: ${handshake.reason}.`, breaks };
    const faults = chainFaults(handshake, hostname);
    return faults.length > 0
      ? { ok: false, text: `${hostname}: ${faults.join(' ')}`, breaks }
      : { ok: true, text: `${hostname}: ${handshake.protocol}, signed by our root for this name.`, breaks };
  });
  const evidence = [
    ...lines.map(({ text }) => text),
    ...(untried === 0 ? [] : [`${untried} more ${untried === 1 ? 'was' : 'were'} not tried.`]),
  ];
  const isRight = lines.every((line) => line.ok);
  const check = isRight
    ? ok(evidence)
    : failed(evidence, 'Start Vivarium again. If that does not help, see the checks of the root.');
  const isByBreaks = lines.every(({ ok, breaks }) => ok || !breaks.every(isOfRequests));
  return isByBreaks
    ? underBreaks(
        check,
        lines.flatMap(({ breaks }) => breaks),
      )
    : check;
}

export interface UpstreamEvidence {
  project: { id: string; slug: string; name: string };
  url: string;
  /** Why requests do not reach it, and what to do; null if a connection, with TLS for https, succeeds. */
  problem: { status: number; what: string; remedy: string } | null;
}

/** A stopped upstream is not Vivarium's fault, but turns every answer into a 502. */
export function evaluateUpstream({ project, url, problem }: UpstreamEvidence): DoctorCheck {
  const { ok, down } = checkOf('upstreams', project.slug, `Target of ${project.name}`, project.id);
  if (problem === null) return ok(`${url} accepts connections.`);
  const { status, what, remedy } = problem;
  return down([what, `Requests are answered with ${status}.`], {
    fix: remedy,
    about: 'The first command checks the target again; the second changes it, where PORT is that of your server.',
    commands: [commandLine`vivarium deploy create ${project.slug}`],
    otherwise: commandLine`vivarium project update ${project.slug} --target PORT`,
  });
}
