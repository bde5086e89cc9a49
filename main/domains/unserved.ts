import { isServed, type HostnameStanding } from './hostname-machine.ts';

/**
 * Why nothing is served at a hostname although it is attached, and what to do, for whoever asks there and wonders; null
 * when it is served.
 */
export function whyUnserved(domain: HostnameStanding & { hostname: string }, projectName: string): string | null {
  if (isServed(domain)) return null;
  const attached = `${domain.hostname} is attached to the project "${projectName}"`;
  return domain.state === 'suspended'
    ? `${attached} and suspended: the project’s plan has no custom domains. Change it to Pro, Business or Enterprise.`
    : `${attached}, and its DNS was not yet seen to lead here. Verify the domain: its checks say what is missing.`;
}
